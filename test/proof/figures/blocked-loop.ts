import { once } from 'node:events';
import { resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { OPTIONS } from '../../support/module/module-fixture.js';
import type { BlockedReport, BlockedSetup, LateIds } from './blocked-thread.js';
import type { Bench, Figure, Measurement } from './figure.js';

const LEASE = { leaseMs: 150, heartbeatIntervalMs: 50, opTimeoutMs: 90 };
const BLOCKS = 100;
/** A clock value serves so many calls: see TurnClock. */
const CALLS_PER_VALUE = 256;

/** An event loop that is blocked for twice the lease: nothing is issued past the deadline. */
export const blockedLoop: Figure = {
  name: 'blocked-loop',
  measure: (bench) => Promise.all([measureOne('exact', bench), measureOne('turn', bench)]),
};

async function measureOne(clock: 'exact' | 'turn', bench: Bench): Promise<Measurement> {
  const kind = bench.kinds[0]!;
  const { options: dbConfig } = await bench.database(kind);
  // Without the logger, which cannot be sent to a thread.
  const options = { ...OPTIONS, ...LEASE, clock, dbConfig, logger: undefined };
  const workerData: BlockedSetup = { leaseMs: LEASE.leaseMs, options, blocks: BLOCKS };
  const thread = new Worker(resolve(__dirname, 'blocked-thread.ts'), {
    execArgv: ['--require', resolve(__dirname, '../../typescript-hook.cjs')],
    workerData,
  });
  const [report] = (await once(thread, 'message')) as [BlockedReport];
  const { calling, silent, nextTurns, improper } = report;
  const stale = clock === 'turn' ? CALLS_PER_VALUE : 0;
  const show = ({ count, latestMs }: LateIds): string =>
    count === 0 ? '0' : `${count} (the last ${latestMs.toFixed(1)} ms past it)`;
  return {
    figure: `event loop blocked for twice the lease, ${BLOCKS} times, clock '${clock}'`,
    database: kind,
    target: `IDs after the deadline: at most ${stale} in the turn, 0 in the next`,
    measured: `asking all the time ${show(calling)}, asking again at the end ${show(silent)}, next turns ${nextTurns.count}`,
    ok: calling.count <= stale && silent.count <= stale && nextTurns.count === 0 && improper === 0,
  };
}
