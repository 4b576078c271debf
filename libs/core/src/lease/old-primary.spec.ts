import { FaultStore } from '../../../../test/support/engine/fault-store.js';
import { KeeperBench, type KeeperBenchOptions, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { live, repeats } from '../../../../test/support/engine/live.js';
import type { LeaseOptions } from './lease-options.js';
import { StoreSession } from './store-session.js';

const LEASE: LeaseOptions = {
  ...{ heartbeatIntervalMs: 2_000, leaseMs: 5_000, horizonMs: 5_000, graceMs: 2_000, opTimeoutMs: 1_000 },
  ...{ maxClockSkewMs: 1_000, waitForWorkerMs: 600_000 },
};
const REACH_MS = 20_000;
const ONE_ROW = { serviceMaxWorkId: 1 };

/** A primary, which serves on the sessions that it has, and the server that was promoted in its place: new ones lead there. */
class Replaced extends WorkerDatabase {
  successor: WorkerDatabase | undefined;

  constructor() {
    super();
    this.table.term = 'server 1';
  }

  process(seed: number, options: KeeperBenchOptions = {}): KeeperBench {
    const makeStore = (_: WorkerDatabase, time: KeeperBench['time']): FaultStore => {
      const store = new FaultStore(this.table, time, this.time, REACH_MS);
      const { abandon } = store;
      store.abandon = () => {
        abandon.call(store);
        if (this.successor !== undefined) store.attach(this.successor.table);
      };
      return store;
    };
    return new KeeperBench({ database: this, seed, layout: ONE_ROW, lease: LEASE, makeStore, ...options });
  }

  promote(): void {
    this.successor = new WorkerDatabase(this.time);
    this.restore(this.table, this.successor.table);
    this.successor.table.term = 'server 2';
  }
}

describe('A primary that was replaced and lives on', () => {
  afterEach(() => jest.restoreAllMocks());

  /** The holder goes to the successor; a start that waits for its row stays where it is until it is told otherwise. */
  async function replaced(): Promise<[holder: KeeperBench, start: KeeperBench]> {
    const database = new Replaced();
    const holder = database.process(1);
    await holder.keeper.start();
    const start = database.process(2);
    void start.keeper.start().catch(() => undefined);
    await live(3_000, holder, start);
    database.promote();
    holder.store.attach(database.successor!.table);
    await live(15_000, holder, start);
    return [holder, start];
  }

  it('gives no row away whose holder renews it at the successor', async () => {
    const [holder, start] = await replaced();
    expect(holder.issued.length).toBeGreaterThan(100);
    expect(repeats(holder, start)).toBe(0);
    expect(start.store.writes.length).toBeGreaterThan(0);
  });

  it('would give it away if it were believed when it confirms that: the control', async () => {
    jest.spyOn(StoreSession.prototype, 'reconnect').mockReturnValue(undefined);
    expect(repeats(...(await replaced()))).toBeGreaterThan(10);
  });
});
