// How many IDs a second for ten seconds, and how long does the event loop stand still? Run: npm run bench
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { environment } from './parts/measure.mjs';
import { openService } from './parts/service.mjs';

const SECONDS = 10;
/** A turn ends after so many: about half a millisecond. */
const SLICE = 32_768;

/** Milliseconds, 17 sequence bits: 131 million a second. */
const { ids, close } = await openService({
  timeUnit: 'millisecond',
  startTimeStamp: '2026-01-01',
  timeStampLength: 41,
  workIdLength: 4,
  endBitsLength: 0,
});
const delay = monitorEventLoopDelay({ resolution: 1 });
const target = new BigInt64Array(SLICE);
const layout = ids.layout;
let issued = 0;
let furthestMs = Number.NEGATIVE_INFINITY;
delay.enable();
const begun = performance.now();
while (performance.now() - begun < SECONDS * 1_000) {
  await ids.fillAsync(target);
  issued += SLICE;
  furthestMs = Math.max(furthestMs, layout.timeline.startOf(layout.unpack(target[SLICE - 1]).tick) - Date.now());
  await new Promise(setImmediate);
}
const seconds = (performance.now() - begun) / 1_000;
delay.disable();
await close();
console.log(`\nSustained for ${seconds.toFixed(1)} s (${environment()})`);
console.log(
  `  ${Math.round(issued / seconds).toLocaleString('en')} IDs/s; capacity ${layout.idsPerSecond.toLocaleString('en')}`,
);
console.log(`  ahead of the clock at most ${furthestMs} ms`);
console.log(
  `  longest stall of the event loop ${(delay.max / 1e6).toFixed(2)} ms, p99 ${(delay.percentile(99) / 1e6).toFixed(2)} ms`,
);
