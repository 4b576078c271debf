import {
  KeeperBench,
  type KeeperBenchOptions,
  twins,
  WorkerDatabase,
} from '../../../../test/support/engine/keeper-bench.js';
import { SeededRandom } from '../../../../test/support/engine/seeded-random.js';
import type { Lane, PerLane } from '../generator/tenure.js';
import { type BegunLease, findIssuingLease, type RecordedLease, type LeaseHistory } from './lease-history.js';
import type { Odometer } from './worker-store.js';

const ONE_ROW: KeeperBenchOptions = { layout: { serviceMaxWorkId: 1 } };

/** What all processes of a test record, in one list, with the name of each. */
class History {
  leases: (RecordedLease & { readonly name: string })[] = [];

  of(name: string, { begins = true, ends = true } = {}): LeaseHistory {
    return {
      begin: (begun: BegunLease) => void (begins && this.leases.push({ ...begun, name })),
      end: ({ leaseId }: BegunLease, end: PerLane<Odometer>) => {
        if (ends) this.leases = this.leases.map((each) => (each.leaseId === leaseId ? { ...each, end } : each));
      },
      close: () => Promise.resolve(),
    };
  }

  /** The name of the process that issued an ID, or why there is none. */
  who(bench: KeeperBench, id: bigint, lostUntilMs = 0): string {
    const { layout } = bench.resolved;
    const { tick, sequence, workerId, clockBack } = layout.unpack(id);
    const place = { layout, workerId, lane: clockBack as Lane, position: { tick, sequence } };
    const { database } = bench;
    const seen = { row: database.table.rows.get(workerId), nowMs: database.time.wall, lostUntilMs };
    const ofWorker = this.leases.filter((each) => each.workerId === workerId);
    const found = findIssuingLease(place, ofWorker, seen);
    return found.kind === 'issued' ? `${found.lease.name}, ${found.ending}` : found.kind;
  }
}

const started = (
  database: WorkerDatabase,
  history: LeaseHistory,
  more: KeeperBenchOptions = {},
): Promise<KeeperBench> =>
  KeeperBench.started({ ...ONE_ROW, ...more, layout: { ...ONE_ROW.layout, ...more.layout }, database, history });

/** kill -9; afterwards its row is free. */
async function crash(bench: KeeperBench): Promise<void> {
  bench.kill();
  await bench.database.advance(200_000);
}

describe('the history of a worker id', () => {
  let history: History;
  let database: WorkerDatabase;
  beforeEach(() => {
    history = new History();
    database = new WorkerDatabase();
  });

  const names = (bench: KeeperBench, from = bench): Set<string> =>
    new Set(from.issued.map((id) => history.who(bench, id)));

  it('names the process of each ID: one that holds the row, gave it back, or crashed', async () => {
    const crashed = await started(database, history.of('A'));
    for (let each = 0; each < 1_000; each++) crashed.issue();
    expect(names(crashed)).toEqual(new Set(['A, held']));
    await crash(crashed);
    expect(names(crashed)).toEqual(new Set(['A, lapsed']));
    const ended = await started(database, history.of('B'));
    for (let each = 0; each < 1_000; each++) ended.issue();
    await ended.keeper.close();
    await database.advance(1_000);
    const holder = await started(database, history.of('C'));
    for (let each = 0; each < 1_000; each++) holder.issue();
    expect(names(crashed)).toEqual(new Set(['A, lapsed']));
    expect(names(ended)).toEqual(new Set(['B, released']));
    expect(names(holder)).toEqual(new Set(['C, held']));
  });

  it('goes on naming a process that has renewed its lease many times', async () => {
    const bench = await started(database, history.of('A'));
    for (let minutes = 0; minutes < 30; minutes++) {
      bench.issue();
      await bench.advance(60_000);
    }
    expect(names(bench)).toEqual(new Set(['A, held']));
  });

  it('names the one process for all of its codes', async () => {
    const first = await started(database, history.of('A'));
    const ids = ['orders', 'users', 'orders', 'orders'].map((code) => first.issue(code));
    await first.keeper.close();
    const second = await started(database, history.of('B'));
    second.issue('users');
    expect(ids.map((id) => history.who(second, id))).toEqual(Array(4).fill('A, released'));
  });

  it('knows the lanes apart: a clock that goes back gives IDs below those of the process before', async () => {
    const before = await started(database, history.of('A'));
    before.issue();
    await before.keeper.close();
    const bench = await started(database, history.of('B'));
    bench.issue();
    bench.time.step(-5_000);
    bench.refusal();
    await bench.advance(100);
    const back = bench.issue();
    expect(bench.resolved.layout.unpack(back).clockBack).toBe(1);
    expect(history.who(bench, back)).toBe('B, held');
    await bench.keeper.close();
    const next = await started(database, history.of('C'));
    next.issue();
    expect(names(bench)).toEqual(new Set(['B, released']));
    expect(names(next, before)).toEqual(new Set(['A, released']));
    expect(names(next)).toEqual(new Set(['C, held']));
  });

  it('has a lease for each lease of the same process', async () => {
    const bench = await started(database, history.of('A'));
    bench.issue();
    const pause = 200_000;
    bench.store.goDown();
    await bench.advance(pause);
    bench.store.comeBack();
    await bench.advance(pause);
    bench.issue();
    expect(history.leases).toHaveLength(2);
    expect(bench.issued.map((id) => history.who(bench, id))).toEqual(['A, released', 'A, held']);
  });

  it('names no process for IDs that are older than its lease', async () => {
    const elsewhere = await KeeperBench.started({ ...ONE_ROW, database: new WorkerDatabase('2026-01-01') });
    const first = await started(database, history.of('A'));
    expect(history.who(first, elsewhere.issue())).toBe('before-history');
    await first.keeper.close();
    await database.advance(60 * 86_400_000);
    // Between the two, from a static worker id for example.
    const between = await KeeperBench.started({ ...ONE_ROW, database: new WorkerDatabase('2026-04-01') });
    const second = await started(database, history.of('B'));
    expect(history.who(second, between.issue())).toBe('not-recorded');
  });

  it('names a process whose clock is behind that of the one before it, which issued nothing on its lane', async () => {
    for (const isUsed of [true, false]) {
      history = new History();
      const all = new WorkerDatabase();
      const first = await started(all, history.of('A'), { wall: '2026-03-01T12:00:05.000Z' });
      if (isUsed) first.issue();
      await first.keeper.close();
      await all.advance(1_000);
      const second = await started(all, history.of('B'));
      expect(history.who(second, second.issue())).toBe('B, held');
      await second.advance(60_000);
      expect(history.who(second, second.issue())).toBe('B, held');
      await second.keeper.close();
      expect(new Set(second.issued.map((id) => history.who(second, id)))).toEqual(new Set(['B, released']));
    }
  });

  it('does not say of an ID that no process issued it, where the last commits of a crashed one may be lost', async () => {
    const bench = await started(database, history.of('A', { begins: false }));
    const former = database.snapshot();
    await bench.advance(250_000);
    const id = bench.issue();
    bench.kill();
    database.restore(former);
    expect(history.who(bench, id)).toBe('before-history');
  });

  it.each([true, false])('names no process where a failover has lost the next lease: end kept %s', async (keepsEnd) => {
    const first = await started(database, history.of('A', { ends: keepsEnd }));
    first.issue();
    await database.advance(5_000);
    const former = database.snapshot();
    await first.keeper.close();
    await database.advance(100);
    const second = await started(database, history.of('B', { begins: false }));
    await database.advance(1_000);
    const id = second.issue();
    second.kill();
    database.restore(former);
    expect(history.who(second, id, database.time.wall + 200_000)).toBe('not-recorded');
  });

  it('names no process for the IDs of its copy', async () => {
    const [original, copy] = await twins({ ...ONE_ROW, history: history.of('original') }, 1_000);
    copy.processId = 2;
    copy.refusal();
    await copy.advance(100);
    await original.advance(20_000);
    expect(history.who(original, copy.issue())).toBe('not-recorded');
  });

  it('does not say of an ID that no process issued it, where the original uses the row', async () => {
    const rows = await WorkerDatabase.withRows({ min: 1, max: 1 });
    rows.writeAsForeigner(1);
    const bench = new KeeperBench({ ...ONE_ROW, database: rows });
    const { layout } = bench.resolved;
    const id = layout.idFloor(rows.time.wall) | layout.pack({ tick: 0, workerId: 1, clockBack: 0, sequence: 0 });
    expect(history.who(bench, id)).toBe('before-history');
  });

  it('gives the IDs of a lease that was not recorded to no other one', async () => {
    for (const isClean of [true, false]) {
      history = new History();
      const all = new WorkerDatabase();
      const first = await started(all, history.of('A'));
      first.issue();
      const lost = async (): Promise<KeeperBench> => {
        const bench = await started(all, history.of('B', { begins: false }));
        bench.issue();
        await (isClean ? bench.keeper.close() : crash(bench));
        return bench;
      };
      await crash(first);
      const unrecorded = await lost();
      const last = await started(all, history.of('C'));
      last.issue();
      expect(names(unrecorded)).toEqual(new Set(['not-recorded']));
      // How far it was granted is known to the process after it alone.
      expect(names(first)).toEqual(new Set(['not-recorded']));
      expect(names(last)).toEqual(new Set(['C, held']));
    }
  });

  it('names a process whose end was recorded, though the next lease was not', async () => {
    const first = await started(database, history.of('A'));
    first.issue();
    await first.keeper.close();
    await database.advance(1_000);
    const unrecorded = await started(database, history.of('B', { begins: false }));
    unrecorded.issue();
    await crash(unrecorded);
    const last = await started(database, history.of('C'));
    expect(names(first)).toEqual(new Set(['A, released']));
    expect(names(last, unrecorded)).toEqual(new Set(['not-recorded']));
  });

  it('needs no end where the next lease is recorded', async () => {
    const first = await started(database, history.of('A', { ends: false }));
    first.issue();
    await first.keeper.close();
    const next = await started(database, history.of('B'));
    next.issue();
    expect(names(first)).toEqual(new Set(['A, released']));
  });

  it('says where it begins, and what no process was granted', async () => {
    const without = await KeeperBench.started({ ...ONE_ROW, database });
    without.issue();
    expect(names(without)).toEqual(new Set(['before-history']));
    await without.keeper.close();
    const bench = await started(database, history.of('A'));
    bench.issue();
    expect(names(without)).toEqual(new Set(['before-history']));
    const { layout } = bench.resolved;
    const far =
      layout.idFloor(database.time.wall + 600_000) | layout.pack({ tick: 0, workerId: 1, clockBack: 0, sequence: 0 });
    expect(history.who(bench, far)).toBe('never-issued');
    const absent = layout.pack({ tick: 5, workerId: 3, clockBack: 0, sequence: 0 });
    expect(history.who(bench, absent)).toBe('never-issued');
  });

  it.each([true, false])(
    'gives IDs that a failover lost to no other lease, whether it lost the record (%p) or not',
    async (losesRecord) => {
      const lease = { commitLossWindowMs: 300_000 };
      const first = new KeeperBench({ ...ONE_ROW, lease, database, history: history.of('A') });
      void first.keeper.start();
      await live(first, 310_000);
      first.issue();
      const past = database.snapshot();
      first.kill();
      await database.advance(2_000_000);
      const second = new KeeperBench({ ...ONE_ROW, lease, database, history: history.of('B') });
      void second.keeper.start();
      await live(second, 310_000);
      for (let each = 0; each < 100; each++) second.issue();
      second.kill();
      database.restore(past);
      if (losesRecord) history.leases = history.leases.filter(({ name }) => name !== 'B');
      await database.advance(2_000_000);
      const third = new KeeperBench({ ...ONE_ROW, lease, database, history: history.of('C') });
      void third.keeper.start();
      await live(third, 310_000);
      third.issue();
      expect(names(third)).toEqual(new Set(['C, held']));
      expect(names(first)).toEqual(new Set(['A, lapsed']));
      expect(second.issued.length).toBeGreaterThan(90);
      expect(names(second)).toEqual(new Set(['not-recorded']));
    },
  );

  it('names no process of another layout', async () => {
    const layout = { endBitsLength: 1, endBitsValue: 0 };
    const first = await started(database, history.of('A'), { layout });
    first.issue();
    await first.keeper.close();
    await database.advance(1_000);
    const other = await started(database, history.of('B'), { layout: { ...layout, endBitsValue: 1 } });
    other.issue();
    expect(names(first)).toEqual(new Set(['A, released']));
    expect(names(other)).toEqual(new Set(['B, held']));
    expect(names(first, other)).not.toContain('B, held');
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('never names another process, schedule %d', async (seed) => {
    const random = new SeededRandom(seed);
    const issuers = new Map<bigint, string>();
    let last!: KeeperBench;
    for (let process = 0; process < 12; process++) {
      const name = `p${process}`;
      const records = { begins: random.fraction() < 0.7, ends: random.fraction() < 0.7 };
      last = await started(database, history.of(name, records), { layout: { serviceMaxWorkId: 2 } });
      for (let each = 0; each < 20; each++) last.issue();
      if (random.fraction() < 0.4) last.time.step(-3_000);
      for (let each = 0; each < 20; each++) {
        await database.advance(Math.floor(random.fraction() * 2_000));
        last.refusal();
      }
      for (const id of last.issued) issuers.set(id, name);
      if (process === 11) break;
      await (random.fraction() < 0.5 ? crash(last) : last.keeper.close());
      await database.advance(5_000);
    }
    const found = [...issuers].map(([id, name]) => [history.who(last, id).split(',')[0]!, name] as const);
    const wrong = found.filter(([finding, name]) => /^p\d/.test(finding) && finding !== name);
    expect(wrong).toEqual([]);
    expect(found.filter(([finding, name]) => finding === name).length).toBeGreaterThan(40);
    expect(found.map(([finding]) => finding)).not.toContain('never-issued');
  });

  it('does not change what a row shows while none is kept', async () => {
    const plain = await KeeperBench.started({ ...ONE_ROW, database });
    expect(database.row(1).holder).toBe('a host');
    await plain.keeper.close();
    const bench = await started(database, history.of('A'));
    expect(database.row(1).holder).toBe(`a host, tenure ${history.leases[0]!.leaseId}`);
    await bench.keeper.close();
  });
});

/** Lets time pass in steps, as it does for a process. */
async function live(bench: KeeperBench, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) await bench.database.advance(1_000);
}
