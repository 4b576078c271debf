import { nsPerId } from '../parts/measure.mjs';
import { openService, WIDE } from '../parts/service.mjs';

export const question = 'What does a code cost?';

export async function measure() {
  const { ids, close } = await openService(WIDE);
  const order = ids.forCode('order');
  const { plain, handle } = await nsPerId({ plain: () => ids.nextId(), handle: () => order.nextId() });
  const figures = [{ name: "forCode('order').nextId()", value: handle, unit: 'ns' }];
  const ratios = [{ name: "forCode('order').nextId() / nextId()", value: handle / plain, atMost: 1.5 }];
  for (const count of [1, 100, 10_000]) {
    // Of texts that were made apart, as they come from requests: none is the very object in the map.
    const codes = Array.from({ length: count }, (_, index) => `code ${index}`);
    const map = new Map(Array.from({ length: count }, (_, index) => [`code ${index}`, index]));
    let turn = 0;
    const code = () => codes[(turn = turn + 1 < count ? turn + 1 : 0)];
    const ns = await nsPerId({
      'Map.get()': () => map.get(code()),
      'Map.get() and nextId()': () => (map.get(code()) === undefined ? undefined : ids.nextId()),
      'nextId(code)': () => ids.nextId(code()),
    });
    const among = `${count.toLocaleString('en')} codes`;
    figures.push(...Object.entries(ns).map(([name, value]) => ({ name: `${name}, ${among}`, value, unit: 'ns' })));
    const value = ns['nextId(code)'] / ns['Map.get() and nextId()'];
    ratios.push({ name: `nextId(code) / Map.get() and nextId(), ${among}`, value, atMost: 1.3 });
  }
  await close();
  return { figures, ratios };
}
