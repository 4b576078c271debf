// What does a code cost? Run: npm run bench
import { nsPerId, printTable } from './parts/measure.mjs';
import { openService, WIDE } from './parts/service.mjs';

const { ids, close } = await openService(WIDE);
const rows = [{ name: 'nextId()', ns: await nsPerId(() => ids.nextId()) }];
for (const count of [1, 100, 10_000]) {
  // Of texts that were made apart, as they come from requests: none is the very object in the map.
  const codes = Array.from({ length: count }, (_, index) => `code ${index}`);
  const map = new Map(Array.from({ length: count }, (_, index) => [`code ${index}`, index]));
  let turn = 0;
  const code = () => codes[(turn = turn + 1 < count ? turn + 1 : 0)];
  rows.push({ name: `Map.get of ${count}`, ns: await nsPerId(() => map.get(code())) });
  rows.push({ name: `nextId(code) of ${count}`, ns: await nsPerId(() => ids.nextId(code())) });
}
await close();
printTable('Codes, ns', rows, 'nextId()');
