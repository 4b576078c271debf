// How long does an ID of a batch take? Run: npm run bench
import { fillFloor, listFloor, textsFloor } from './parts/floors.mjs';
import { nsPerId, printTable } from './parts/measure.mjs';
import { openService, WIDE } from './parts/service.mjs';

const { ids, close } = await openService(WIDE);
const rows = [];
for (const count of [1_000, 100_000]) {
  const target = new BigInt64Array(count);
  const time = async (name, call) => rows.push({ name: `${name} x ${count}`, ns: await nsPerId(call, count) });
  await time('floor: cells', fillFloor(target));
  await time('fill(BigInt64Array)', () => ids.fill(target));
  await time('floor: bigints', listFloor(count));
  await time('nextIds()', () => ids.nextIds(count));
  await time('floor: texts', textsFloor(count));
  await time('nextStrings()', () => ids.nextStrings(count));
}
await close();
printTable('Batches, ns per ID', rows);
