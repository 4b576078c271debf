import type { LayoutOptions } from '../layout/layout-options.js';
import { FaultStore } from '../../../../test/support/engine/fault-store.js';
import { KeeperBench, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { live } from '../../../../test/support/engine/live.js';
import { resolveLeaseOptions, type LeaseOptions } from './lease-options.js';
import { MemoryWorkerStore } from './memory-worker-store.js';
import { grantReachMs } from './failover-guard.js';

const BEGIN = Date.parse('2026-03-01T12:00:00.000Z');
const DAY_MS = 86_400_000;

const LEASE: LeaseOptions = {
  ...{ heartbeatIntervalMs: 2_000, leaseMs: 5_000, horizonMs: 10_000, graceMs: 0, opTimeoutMs: 1_000 },
  maxClockSkewMs: 1_000,
};
const REACH_MS = grantReachMs(resolveLeaseOptions(LEASE));

class Primary extends WorkerDatabase {
  constructor() {
    super(BEGIN);
    this.table.term = 'A';
  }

  process(seed: number, layout: Partial<LayoutOptions> = {}, lease: LeaseOptions = {}): KeeperBench {
    const makeStore = (_: WorkerDatabase, time: KeeperBench['time']): FaultStore =>
      new FaultStore(this.table, time, this.time, REACH_MS);
    return new KeeperBench({ database: this, seed, layout, lease: { ...LEASE, ...lease }, makeStore });
  }

  starting(seed: number, layout: Partial<LayoutOptions> = {}): KeeperBench {
    const bench = this.process(seed, layout, { waitForWorkerMs: 600_000 });
    void bench.keeper.start().catch(() => undefined);
    return bench;
  }

  store(): MemoryWorkerStore {
    return new MemoryWorkerStore(this.table, () => this.time.wall, REACH_MS);
  }
}

describe('A note that is lost, and written again by a process that knows of nothing before', () => {
  /** What a running process is told at the server that everybody uses now. */
  async function refusedAt(database: Primary, living: MemoryWorkerStore): Promise<unknown> {
    const fresh = database.store();
    await fresh.prepare({ min: 1, max: 3 });
    await fresh.readTable();
    return living.readTable().then(
      () => 'believed',
      (error: { errorCode: string }) => error.errorCode,
    );
  }

  async function looking(database: Primary): Promise<MemoryWorkerStore> {
    const store = database.store();
    await store.prepare({ min: 1, max: 3 });
    await store.readTable();
    return store;
  }

  it('does not shut running processes out, ten days after a fence that a failover has lost', async () => {
    const database = new Primary();
    const living = await looking(database);
    const before = database.snapshot();
    await living.fence(60_000);
    await living.readTable();
    await database.advance(10 * DAY_MS);
    // The standby had stopped to follow before the fence.
    database.restore(before);
    database.table.term = 'B';
    expect(await refusedAt(database, living)).toBe('believed');
  });

  it('does not shut running processes out, ten days after a fence, where the state row was dropped', async () => {
    const database = new Primary();
    const living = await looking(database);
    await living.fence(60_000);
    await living.readTable();
    await database.advance(10 * DAY_MS);
    database.table.state = { knownTerm: undefined, epoch: 0, lostAtMs: 0, reachMs: 0 };
    expect(await refusedAt(database, living)).toBe('believed');
  });

  it.each([false, true])('does not end a process that goes on (a fence before: %s)', async (isFenced) => {
    const database = new Primary();
    const holder = database.starting(1);
    await live(5_000, holder);
    const before = database.snapshot();
    if (isFenced) await database.store().fence(1_000);
    // A fence counts as two minutes later than it was.
    await live(isFenced ? 150_000 : 30_000, holder);
    expect(holder.refusal()).toBeUndefined();
    database.restore(before);
    database.table.term = 'B';
    const fresh = database.starting(2);
    // Longer than any wait after a failover.
    await live(10 * REACH_MS, fresh, holder);
    expect(fresh.refusal()).toBeUndefined();
    expect(holder.refusal()).toBeUndefined();
  });
});
