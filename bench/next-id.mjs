// How long does one ID take, beside what Node brings itself? Run: npm run bench
import { randomUUID } from 'node:crypto';
import { bench, run, summary } from 'mitata';
import core from '../libs/core/dist/index.js';

const { createLayout, SnowflakeGenerator, StaticTenure } = core;

const layout = createLayout({ startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10 }, Date.now());
const clock = { now: Date.now, refresh: Date.now };
const ports = {
  clock,
  monotonic: { now: () => performance.now() },
  timers: { setTimer: () => ({ cancel: () => {} }) },
  randomness: { fraction: Math.random, token: () => randomUUID() },
};
// Every call has a code of its own: the 19 bits of a second hold 524,288 IDs, which a benchmark uses up at once.
const codes = Array.from({ length: 512 }, (_, index) => `code ${index}`);
const generator = new SnowflakeGenerator(
  { layout, tenure: new StaticTenure(1), options: { onExhausted: 'borrow', maxAheadMs: 60_000 } },
  ports,
);
const handles = codes.map((code) => generator.forCode(code));
const target = new BigInt64Array(1_000);
let turn = 0;
const handle = () => handles[(turn = (turn + 1) & 511)];

summary(() => {
  bench('Date.now()', () => Date.now());
  bench('crypto.randomUUID()', () => randomUUID()).baseline();
  bench('nextId()', () => handle().nextId());
  bench('nextString()', () => handle().nextString());
  bench('fill(1,000)', () => handle().fill(target));
});

await run();
