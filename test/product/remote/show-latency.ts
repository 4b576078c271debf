import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { openIdService, type IdService } from '@raindrop/node';
import { remoteIds } from '../../../libs/node/src/remote/remote-ids.js';
import { leaseStatus } from '../../support/module/lease-status.js';
import { freePort } from '../../support/servers/free-port.js';
import { testDatabase } from '../../support/servers/test-databases.js';
import { startService } from './service-process.js';
import { SlowWay } from './slow-way.js';

const PAUSE_MS = 5;
const WARM_UP = 200;
const ROUNDS = 600;

/** Prints what a warm client waits for an ID, the table in `docs/service.md`: five at a time, every five milliseconds. */
async function main(): Promise<void> {
  const database = await testDatabase('sqlite');
  const port = await freePort();
  const service = await startService(database.options, port);
  for (const delayMs of [2, 50]) {
    const slow = await SlowWay.to(port, delayMs / 2);
    const ids = await openIdService({ idSource: remoteIds({ url: `http://127.0.0.1:${slow.port}` }) });
    console.log(`${delayMs} ms away: ${await measure(ids)}`);
    await ids.close();
    await slow.stop();
  }
  await service.stop('SIGKILL');
  await database.drop();
}

async function measure(ids: IdService): Promise<string> {
  const cold = await timed(() => ids.nextIdsAsync(2_000));
  const took: number[] = [];
  let before = 0;
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    if (round === WARM_UP) before = leaseStatus(ids).counters.exhausted;
    for (let index = 0; index < 5; index++) took.push(await timed(() => ids.nextIdAsync()));
    await sleep(PAUSE_MS);
  }
  const warm = took.slice(5 * WARM_UP).sort((a, b) => a - b);
  const [median, p99] = [0.5, 0.99].map((share) => (warm[Math.ceil(warm.length * share) - 1]! * 1_000).toFixed(1));
  const waits = leaseStatus(ids).counters.exhausted - before;
  return `cold ${cold.toFixed(1)} ms; warm ${median} µs, 99th percentile ${p99} µs; ${waits} waits`;
}

async function timed(call: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await call();
  return performance.now() - begun;
}

void main();
