// What do metrics cost the one who takes IDs? Run: npm run build:libs && node bench/metrics-cost.mjs
// The same service, unobserved and observed in turn; an SDK collects once a second meanwhile.
import { randomUUID } from 'node:crypto';
import { metrics } from '@opentelemetry/api';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { measure } from 'mitata';
import core from '../libs/core/dist/index.js';
import nestjs from '../libs/nestjs/dist/index.js';
import opentelemetry from '../libs/nestjs/dist/opentelemetry/index.js';

const { createLayout, SnowflakeGenerator, StaticTenure } = core;
const ROUNDS = 15;
const CODES = 512;

class OnDemand extends MetricReader {
  async onForceFlush() {}
  async onShutdown() {}
}
const reader = new OnDemand();
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));

const layout = createLayout({ startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10 }, Date.now());
const tenure = new StaticTenure(1);
const ports = {
  clock: { now: Date.now, refresh: Date.now },
  monotonic: { now: () => performance.now() },
  timers: { setTimer: () => ({ cancel: () => {} }) },
  randomness: { fraction: Math.random, token: () => randomUUID() },
};
const worker = {
  tenure,
  status: () => ({ state: 'held', workerId: 1, lane: 0, leaseLeftMs: Infinity, renewals: 0, failures: 0 }),
  onEvent: () => {},
};

// The 19 bits of a second hold 524,288 IDs, which a benchmark uses up at once: the calls take turns among many codes.
const generator = new SnowflakeGenerator(
  { layout, tenure, options: { onExhausted: 'borrow', maxAheadMs: 60_000 } },
  ports,
);
const ids = new nestjs.IdService('default', generator, worker);
const codes = Array.from({ length: CODES }, (_, index) => `code ${index}`);
let turn = 0;
const nextId = () => ids.nextId(codes[(turn = (turn + 1) & (CODES - 1))]);

let collections = 0;
async function nsPerId(isObserved) {
  const end = isObserved ? opentelemetry.observeIdService(ids) : () => {};
  // A collection falls between samples of a second, as it does between the requests of an application.
  const { p50 } = await measure(nextId, { min_cpu_time: 1e9, batch_samples: 4_096 });
  await reader.collect();
  collections++;
  end();
  return p50;
}

const median = (values) => [...values].sort((one, other) => one - other)[values.length >> 1];
for (const isObserved of [false, true]) await nsPerId(isObserved);
const times = { bare: [], observed: [] };
for (let round = 0; round < ROUNDS; round++) {
  for (const isObserved of round % 2 === 0 ? [false, true] : [true, false]) {
    times[isObserved ? 'observed' : 'bare'].push(await nsPerId(isObserved));
  }
}
const ratio = median(times.bare.map((bare, round) => times.observed[round] / bare));
console.log(`Node ${process.version}, ${CODES} codes, ${ROUNDS} rounds, ${collections} collections`);
console.log(`nextId(code), no metrics: ${median(times.bare).toFixed(1)} ns`);
console.log(`nextId(code), observed:   ${median(times.observed).toFixed(1)} ns`);
console.log(`ratio (median of rounds): ${ratio.toFixed(3)}`);

opentelemetry.observeIdService(ids);
const begun = performance.now();
for (let count = 0; count < 100; count++) await reader.collect();
console.log(`one collection:           ${(((performance.now() - begun) / 100) * 1_000).toFixed(0)} us`);
