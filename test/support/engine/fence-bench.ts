import type { LayoutOptions } from '../../../libs/core/src/layout/layout-options.js';
import { sessionAgesOf } from '../../../libs/core/src/lease/grant-reach.js';
import { type LeaseOptions, resolveLeaseOptions } from '../../../libs/core/src/lease/lease-options.js';
import { MemoryWorkerStore } from '../../../libs/core/src/lease/memory-worker-store.js';
import type { FenceRequest } from '../../../libs/core/src/lease/worker-store.js';
import { fenceRequest } from '../stores/fence-request.js';
import { FaultStore } from './fault-store.js';
import { KeeperBench, WorkerDatabase } from './keeper-bench.js';
import { live } from './live.js';

/** What `fenceWorkers` takes by default: horizonMs + 3 * maxClockSkewMs. */
export const FENCE_AHEAD_MS = 155_000;
export const reachOf = (lease: LeaseOptions): number => sessionAgesOf(resolveLeaseOptions(lease)).reachMs;
export const REACH_MS = reachOf({});

export interface Place {
  readonly database: WorkerDatabase;
  /** Of the process that runs there, from the database's on, ms. */
  readonly aheadMs?: number;
  readonly layout?: Partial<LayoutOptions>;
  readonly lease?: LeaseOptions;
}

export function processAt(
  seed: number,
  { database, aheadMs = 0, layout = { serviceMaxWorkId: 2 }, lease = {} }: Place,
): KeeperBench {
  return new KeeperBench({
    database,
    seed,
    layout,
    wall: database.time.wall + aheadMs,
    lease: { ...lease, waitForWorkerMs: 600_000 },
    makeStore: (_, time) => new FaultStore(database.table, time, database.time, reachOf(lease)),
  });
}

export function starting(seed: number, place: Place): KeeperBench {
  const bench = processAt(seed, place);
  void bench.keeper.start().catch(() => undefined);
  return bench;
}

/** An operator, who may have other options than the services. */
export async function fence(
  { table, time }: WorkerDatabase,
  lease: LeaseOptions = {},
  more: Partial<FenceRequest> = {},
): Promise<number> {
  const store = new MemoryWorkerStore(table, () => time.wall, reachOf(lease));
  const rows = await store.fence(fenceRequest(FENCE_AHEAD_MS, more));
  if (more.servedAlone !== undefined) await store.rememberLayout(more.servedAlone);
  return rows;
}

export const fingerprintOf = (database: WorkerDatabase, layout?: Partial<LayoutOptions>): string =>
  processAt(9, { database, ...(layout && { layout }) }).resolved.layout.fingerprint;

export const onServer = (term: string): WorkerDatabase => {
  const database = new WorkerDatabase();
  database.table.term = term;
  return database;
};

export const EPOCH_MS = Date.parse('2024-01-01');
/** Longer than a fence bars. */
export const EARLIER_MS = 300_000;
/** Ours, and a layout with the same bits whose IDs are larger: they are those of ours 300 s later. */
export const OURS = { serviceMaxWorkId: 1, startTimeStamp: EPOCH_MS };
export const LARGER = { serviceMaxWorkId: 1, startTimeStamp: EPOCH_MS - EARLIER_MS };

/** The state of a table that was dumped without it. */
export const NO_STATE = { knownTerm: undefined, failoverNumber: 0, lostAtMs: 0, reachMs: 0 };

/** A process that issues for so long, and stops. */
export async function served(seed: number, place: Place, forMs: number): Promise<KeeperBench> {
  const bench = starting(seed, place);
  await live(forMs, bench);
  await bench.keeper.close();
  return bench;
}
