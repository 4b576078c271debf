import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseKind } from '../../support/servers/test-databases.js';
import { oneByOne, type Bench, type Figure, type Measurement } from './figure.js';
import { median, showTimes } from './show-times.js';
import { StarterProcess } from './starter-process.js';

const ROUNDS = 20;
const LIMIT_MS = 50;

/** kill -9 of a holder: the next process has a worker, another one, within 50 ms. */
export const killedHolder: Figure = {
  name: 'killed-holder',
  measure: (bench) => oneByOne(bench, (kind) => measureOne(kind, bench)),
};

async function measureOne(kind: DatabaseKind, bench: Bench): Promise<Measurement> {
  const database = await bench.database(kind);
  const options = { workIdLength: 6 };
  const times: number[] = [];
  const cpu: number[] = [];
  const ids: bigint[] = [];
  const workers = new Set<number>();
  let holder: StarterProcess | undefined;
  for (let round = 0; round <= ROUNDS; round++) {
    const next = await StarterProcess.load([database]);
    await holder?.kill();
    // Starting a process leaves the machine busy for a moment.
    await sleep(50);
    const report = await next.start(database, options);
    holder = next;
    if (report.workerId === undefined) throw new Error(`round ${round}: ${report.message}`);
    // The first one finds no table.
    if (round > 0) {
      times.push(report.tookMs);
      cpu.push(report.cpuMs);
    }
    workers.add(report.workerId);
    ids.push(BigInt(report.id));
  }
  await holder?.kill();
  return {
    figure: 'kill -9, then acquire() to the first ID with a free row',
    database: kind,
    target: `at most ${LIMIT_MS} ms (median)`,
    measured: `${showTimes(times)}; of processor time ${median(cpu).toFixed(1)} ms; ${workers.size} workers, ${ids.length - new Set(ids).size} duplicates`,
    ok: median(times) <= LIMIT_MS && workers.size === ROUNDS + 1 && new Set(ids).size === ids.length,
  };
}
