import { fillFloor, listFloor, textsFloor } from '../parts/floors.mjs';
import { nsPerId } from '../parts/measure.mjs';
import { openService, WIDE } from '../parts/service.mjs';

export const question = 'How long does an ID of a batch take?';

export async function measure() {
  const { ids, close } = await openService(WIDE);
  const figures = [];
  const ratios = [];
  for (const count of [1_000, 100_000]) {
    const target = new BigInt64Array(count);
    const pairs = {
      'fill()': { ours: () => ids.fill(target), floor: fillFloor(target) },
      'nextIds()': { ours: () => ids.nextIds(count), floor: listFloor(count) },
      'nextStrings()': { ours: () => ids.nextStrings(count), floor: textsFloor(count) },
    };
    for (const [call, pair] of Object.entries(pairs)) {
      const name = `${call}, ${count.toLocaleString('en')}`;
      const { ours, floor } = await nsPerId(pair, { idsPerCall: count });
      figures.push({ name, value: ours, unit: 'ns' }, { name: `floor: ${name}`, value: floor, unit: 'ns' });
      ratios.push({ name: `${name} / its floor`, value: ours / floor, atMost: call === 'fill()' ? 0.9 : 1.5 });
    }
  }
  await close();
  return { figures, ratios };
}
