import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseKind, TestDatabase } from '../../support/servers/test-databases.js';
import type { Figure, Measurement } from './figure.js';
import { StarterProcess, type StartReport } from './starter-process.js';

const PROCESSES = 64;
const LIMIT_MS = 5_000;

/** With twice as many workers as processes, and with too few. */
const RANGES = [2 * PROCESSES - 1, (3 * PROCESSES) / 4];

/** A barrier lets 64 processes loose on an empty database: all have a worker, or the typed error, within 5 s. */
export const crowd: Figure = {
  name: 'crowd',
  async measure(bench) {
    const databases = await Promise.all(bench.kinds.map((kind) => bench.ownDatabase(kind)));
    const processes: StarterProcess[] = [];
    try {
      // A few at a time: loading is not what is measured.
      while (processes.length < PROCESSES) {
        const some = Array.from({ length: 8 }, () => StarterProcess.load(databases));
        processes.push(...(await Promise.all(some)));
      }
      const measurements: Measurement[] = [];
      for (const { kind } of databases) {
        for (const workers of RANGES) {
          const database = await bench.ownDatabase(kind);
          await sleep(500);
          measurements.push(await release(processes, database, workers));
          await Promise.all(processes.map((each) => each.release()));
        }
      }
      return measurements;
    } finally {
      await Promise.all(processes.map((each) => each.kill()));
    }
  },
};

async function release(
  processes: readonly StarterProcess[],
  database: TestDatabase,
  workers: number,
): Promise<Measurement> {
  const releasedMs = performance.now();
  const outcomes = await Promise.all(
    processes.map(async (each) => {
      const report = await each.start(database, { workIdLength: 7, serviceMaxWorkId: workers });
      return { report, atMs: performance.now() - releasedMs };
    }),
  );
  return judge(database.kind, workers, outcomes);
}

function judge(
  kind: DatabaseKind,
  range: number,
  outcomes: readonly { readonly report: StartReport; readonly atMs: number }[],
): Measurement {
  const slowest = Math.max(...outcomes.map(({ atMs }) => atMs));
  const workers: number[] = [];
  const ids: string[] = [];
  const errors = new Map<string, number>();
  let untyped = 0;
  for (const { report } of outcomes) {
    if (report.workerId !== undefined) {
      workers.push(report.workerId);
      ids.push(report.id);
      continue;
    }
    const code = report.errorCode ?? report.message;
    errors.set(code, (errors.get(code) ?? 0) + 1);
    if (report.errorCode === undefined) untyped++;
  }
  const listed = [...errors].map(([code, count]) => `${count} ${code}`).join(', ') || 'no error';
  const distinct = new Set(workers).size === workers.length && new Set(ids).size === ids.length;
  return {
    figure: `${PROCESSES} processes released on an empty database, for ${range} workers`,
    database: kind,
    target: 'all hold a worker or have the typed error within 5 s',
    measured: `${workers.length} hold a worker, ${listed}; the slowest after ${slowest.toFixed(0)} ms`,
    ok: slowest <= LIMIT_MS && untyped === 0 && distinct && workers.length === Math.min(PROCESSES, range),
  };
}
