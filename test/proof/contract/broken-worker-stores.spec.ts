import {
  type FenceRequest,
  LeaseWatch,
  type SampleRequest,
  sampleRows,
  type WorkerRow,
  type WorkerSample,
  type WorkerStore,
  type WorkerTable,
} from '@raindrop/core';
import { fencedRow, MemoryWorkerStore, MemoryWorkerTable, stateAfterFence } from '@raindrop/core/internal';
import { setImmediate as turn } from 'node:timers/promises';
import { workerStoreContract } from '../../../libs/node/src/testing/index.js';

/** Lets others run, as a call over a network does. */
class RemoteStore extends MemoryWorkerStore {
  constructor(
    protected readonly rows: MemoryWorkerTable,
    protected readonly clock: () => number,
  ) {
    super(rows, clock);
  }

  override async readTable(): Promise<WorkerTable> {
    await turn();
    return super.readTable();
  }

  override async fence(request: FenceRequest): Promise<number> {
    await turn();
    return super.fence(request);
  }
}

/** Reads from a follower that is a turn of the event loop behind. */
class StaleStore extends RemoteStore {
  private follower = copyOf(this.rows);

  private async behind(): Promise<MemoryWorkerStore> {
    const follower = this.follower;
    await turn();
    this.follower = copyOf(this.rows);
    return new MemoryWorkerStore(follower, this.clock);
  }

  override async readRow(id: number): ReturnType<WorkerStore['readRow']> {
    return (await this.behind()).readRow(id);
  }
}

/** The same, of samples alone: all that a start reads. */
class StaleSampleStore extends RemoteStore {
  private last: Promise<MemoryWorkerTable> = Promise.resolve(copyOf(this.rows));

  override async readSample(request: Parameters<WorkerStore['readSample']>[0]): ReturnType<WorkerStore['readSample']> {
    const follower = await this.last;
    this.last = turn(copyOf(this.rows));
    return new MemoryWorkerStore(follower, this.clock).readSample(request);
  }
}

/** A store that samples in another order. */
function sortedBy(order: (a: WorkerRow, b: WorkerRow) => number): StoreClass {
  return class extends RemoteStore {
    override async readSample(request: SampleRequest): Promise<WorkerSample> {
      const sample = await super.readSample({ ...request, atMost: Number.MAX_SAFE_INTEGER });
      return { ...sample, rows: [...sample.rows].sort(order).slice(0, request.atMost) };
    }
  };
}

/** Takes every table for one that is ready. */
class HastyStore extends RemoteStore {
  readPrepared(_: unknown, request: SampleRequest): Promise<WorkerSample> {
    return super.readSample(request);
  }
}

/** Fences one row after the other. */
class PiecemealStore extends RemoteStore {
  override async fence({ aheadMs }: FenceRequest): Promise<number> {
    for (const [id, row] of this.rows.rows) {
      this.rows.rows.set(id, fencedRow(row, {}, { nowMs: this.clock(), untilMs: this.clock() + aheadMs }));
      await turn();
    }
    return this.rows.rows.size;
  }
}

/** Fences the rows that are there, and forgets that there was a fence. */
class ForgetfulStore extends RemoteStore {
  override fence({ aheadMs }: FenceRequest): Promise<number> {
    const nowMs = this.clock();
    for (const [id, row] of this.rows.rows)
      this.rows.rows.set(id, fencedRow(row, {}, { nowMs, untilMs: nowMs + aheadMs }));
    return Promise.resolve(this.rows.rows.size);
  }
}

/** Fences in parts, and a read of the whole table waits until it is over. */
class LockedTableStore extends PiecemealStore {
  private static readonly fences = new Map<MemoryWorkerTable, Promise<number>>();

  override fence(request: FenceRequest): Promise<number> {
    const fence = super.fence(request);
    LockedTableStore.fences.set(this.rows, fence);
    return fence;
  }

  override async readTable(): Promise<WorkerTable> {
    await LockedTableStore.fences.get(this.rows);
    return super.readTable();
  }
}

/** Without a clock: leases end by standing still. */
class ClocklessStore extends RemoteStore {
  private readonly watch = new LeaseWatch(performance);

  override async readTable(): Promise<WorkerTable> {
    const table = await super.readTable();
    return { ...table, rows: table.rows.map((row) => this.watch.look(row, table.nowMs)) };
  }

  override async readSample(request: Parameters<WorkerStore['readSample']>[0]): ReturnType<WorkerStore['readSample']> {
    return sampleRows(await this.readTable(), request);
  }

  override async readRow(id: number): ReturnType<WorkerStore['readRow']> {
    const { nowMs, row } = await super.readRow(id);
    return { nowMs, row: row && this.watch.look(row, nowMs) };
  }
}

/** The same, which takes every time for right when it is fenced. */
class TrustingStore extends ClocklessStore {
  override fence(request: FenceRequest): Promise<number> {
    const nowMs = this.clock();
    const { rows, state } = this.rows;
    const fenced = stateAfterFence(state, request, { nowMs, fromMs: nowMs, forMs: request.aheadMs });
    this.rows.state = { ...fenced, knownTerm: state.knownTerm ?? '' };
    for (const [id, row] of rows) rows.set(id, fencedRow(row, request, { nowMs, untilMs: fenced.fencedUntilMs }));
    return Promise.resolve(rows.size);
  }
}

function copyOf(table: MemoryWorkerTable): MemoryWorkerTable {
  const copy = new MemoryWorkerTable();
  for (const [id, row] of table.rows) copy.rows.set(id, row satisfies WorkerRow);
  for (const layout of table.layouts) copy.layouts.add(layout);
  return copy;
}

type StoreClass = new (rows: MemoryWorkerTable, clock: () => number) => WorkerStore;

/** The names of the promises that a store breaks. */
async function brokenBy(Store: StoreClass, clock: () => number): Promise<string[]> {
  const make = (): { open(): WorkerStore; dispose(): Promise<void> } => {
    const rows = new MemoryWorkerTable();
    return { open: () => new Store(rows, clock), dispose: () => Promise.resolve() };
  };
  const broken: string[] = [];
  for (const { name, run } of workerStoreContract(make)) await run().catch(() => broken.push(name));
  return broken;
}

const shared = Date.now;
/** Read anew at every call: the clock of whatever process asks. */
const own = (): number => Date.now();

const READS_ARE_FRESH = 'shows every process what was written, from the moment of the answer';
const IN_ORDER = 'never shows an older row after a newer one, whichever process has read that';
const AT_ONCE = 'fences all rows or none, for every reader meanwhile';
const GOES_ROUND =
  'a sample of the free rows begins with the number that is asked for, goes round, and has as many rows as may be';
const THE_OLDEST_FIRST =
  'a sample of the free rows puts what was given back before what has expired, and of that the oldest first';
const AS_EQUAL = 'a sample of the free rows takes what was given back and what was never used for equal';
const freeSince = ({ token }: WorkerRow): number => (token === '' ? 0 : 1);
const LEFT_ALONE = 'leaves a held row to its holder, for a process whose clock is an hour ahead';

describe('The contract of worker stores', () => {
  it('is kept by a store with a clock of its own', async () => {
    expect(await brokenBy(RemoteStore, shared)).toEqual([]);
  });

  it('is kept by a store without one, that has the clocks of its processes and watches leases', async () => {
    expect(await brokenBy(ClocklessStore, own)).toEqual([]);
  });

  it('is broken by a store that has the clocks of its processes', async () => {
    expect(await brokenBy(RemoteStore, own)).toEqual([
      LEFT_ALONE,
      "gives a lease its length and no more, when the holder's clock is an hour ahead",
      "gives a lease its length and no more, when the holder's clock is an hour behind",
      'ends a lease that its holder does not renew, for all processes, whatever their clocks are',
    ]);
  });

  it.each([
    ['a follower', StaleStore],
    ['a follower for samples alone', StaleSampleStore],
  ])('is broken by a store that reads from %s', async (_, Store) => {
    expect(await brokenBy(Store, shared)).toEqual(expect.arrayContaining([READS_ARE_FRESH, IN_ORDER]));
  });

  it.each([
    [
      'the youngest expired first',
      (a: WorkerRow, b: WorkerRow) => freeSince(a) - freeSince(b) || b.leaseUntilMs - a.leaseUntilMs,
      THE_OLDEST_FIRST,
    ],
    [
      'what has expired before what was given back',
      (a: WorkerRow, b: WorkerRow) => freeSince(b) - freeSince(a),
      THE_OLDEST_FIRST,
    ],
    [
      'by the end of the lease, whether it was given back or not',
      (a: WorkerRow, b: WorkerRow) => a.leaseUntilMs - b.leaseUntilMs,
      AS_EQUAL,
    ],
    ['the lowest number first', (a: WorkerRow, b: WorkerRow) => a.id - b.id, GOES_ROUND],
  ])('is broken by a store that samples %s', async (_, order, promise) => {
    expect(await brokenBy(sortedBy(order), shared)).toContain(promise);
  });

  it.each([
    ['in parts', PiecemealStore],
    ['in parts, behind a lock of the table', LockedTableStore],
  ])('is broken by a store that fences %s', async (_, Store) => {
    expect(await brokenBy(Store, shared)).toContain(AT_ONCE);
  });

  it('is broken by a store that takes every table for one that is ready', async () => {
    expect(await brokenBy(HastyStore, shared)).toEqual([
      'shows a sample without prepare only where prepare would change nothing, and then what readSample shows',
    ]);
  });

  it('is broken by a store that fences no row which is added later', async () => {
    expect(await brokenBy(ForgetfulStore, shared)).toEqual([
      'fences rows that are added later: the table may have lacked them, and their holders issued on',
      'makes no fence by a clock that is an hour behind: by a right one, or none',
      'refuses a fence where IDs were granted far beyond it, unless the operator says up to when',
      'takes a fence for a loss of layouts, unless the operator states which one alone has served',
      'leaves the odometers of other layouts where one alone has served',
    ]);
  });

  it('is broken by a store that believes its clock in a fence', async () => {
    expect(await brokenBy(TrustingStore, own)).toEqual([
      'makes no fence by a clock that is an hour behind: by a right one, or none',
      'refuses a fence where IDs were granted far beyond it, unless the operator says up to when',
    ]);
  });
});
