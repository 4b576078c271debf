// Bytes of the heap that one call takes; in a process of its own, whose young generation holds them all:
// node --expose-gc --min-semi-space-size=256 --max-semi-space-size=256 bytes.mjs
import { PerformanceObserver } from 'node:perf_hooks';
import 'reflect-metadata';
import { cellFloor } from './floors.mjs';
import { orMoment } from './moment.mjs';
import { openService, WIDE, YOUNG } from './service.mjs';

const CALLS = orMoment(1_000_000, 10_000);
const ROUNDS = orMoment(5, 1);
/** Past the last optimisation: compiled code lies in the heap, too. */
const WARM_UP = orMoment(3_000_000, 10_000);

/** Where each result goes until the next one: one that goes nowhere is not even made. */
const kept = [undefined];
let collections = 0;
new PerformanceObserver((list) => (collections += list.getEntries().length)).observe({ entryTypes: ['gc'] });
const turn = () => new Promise((resolve) => setTimeout(resolve, 20));

/** The least of some rounds: a timer or a metric in between can only add. A round with a collection does not count. */
async function bytesPerId(call, idsPerCall = 1) {
  for (let left = WARM_UP; left > 0; left -= idsPerCall) kept[0] = call();
  let least = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    globalThis.gc();
    await turn();
    const before = collections;
    const used = process.memoryUsage().heapUsed;
    for (let left = CALLS; left > 0; left -= idsPerCall) kept[0] = call();
    const bytes = process.memoryUsage().heapUsed - used;
    await turn();
    if (collections === before) least = Math.min(least, bytes / CALLS);
  }
  return least;
}

/** A number counted up, past those that need no memory. */
function numberFloor() {
  let id = 2 ** 52;
  return () => (id += 2);
}

const bytes = { bigint: await bytesPerId(cellFloor()), number: await bytesPerId(numberFloor()) };
const { ids, close } = await openService(WIDE);
const order = ids.forCode('order');
const target = new BigInt64Array(1_000);
bytes['nextId()'] = await bytesPerId(() => ids.nextId());
bytes['nextId(code)'] = await bytesPerId(() => ids.nextId('order'));
bytes['forCode(code).nextId()'] = await bytesPerId(() => order.nextId());
bytes['nextString()'] = await bytesPerId(() => ids.nextString());
bytes['fill(BigInt64Array)'] = await bytesPerId(() => ids.fill(target), target.length);
await close();
const young = await openService(YOUNG);
bytes['nextNumber()'] = await bytesPerId(() => young.ids.nextNumber());
await young.close();
process.stdout.write(JSON.stringify(bytes));
