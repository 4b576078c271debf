import { KeeperBench, type KeeperBenchOptions, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { live } from '../../../../test/support/engine/live.js';
import type { LayoutOptions } from '../layout/layout-options.js';
import { type FaultStore, passing, type StoreCall } from '../../../../test/support/engine/fault-store.js';
import { NoFreeWorkerError } from './lease-errors.js';
import { MemoryWorkerStore } from './memory-worker-store.js';
import { INCLUDE_HELD, type WorkerRow, type WorkerStore } from './worker-store.js';

const HELD = { token: 'of another', holder: 'another host', code: 'another code', version: 4, ownVersion: 4 };

/** Three rows, changed as given, by the order of their ids. */
async function databaseWith(...changes: Partial<WorkerRow>[]): Promise<WorkerDatabase> {
  const database = await WorkerDatabase.withRows({ min: 1, max: 3 });
  changes.forEach((change, index) => database.change(index + 1, change));
  return database;
}

/** The workers that so many processes get, one after the other. */
async function workersOf(count: number, options: KeeperBenchOptions): Promise<(number | undefined)[]> {
  const workers: (number | undefined)[] = [];
  for (let seed = 1; seed <= count; seed++) workers.push((await KeeperBench.started({ ...options, seed })).workerId);
  return workers;
}

async function failureOf(bench: KeeperBench): Promise<NoFreeWorkerError> {
  return bench.keeper.start().then(
    () => Promise.reject(new Error('it started')),
    (error: NoFreeWorkerError) => error,
  );
}

describe('a start', () => {
  it.each([
    ['refuses a row when the store shows, after the write, that it may have lost others', true],
    ['keeps its row when the store has lost nothing: the control', false],
  ])('%s', async (_, isAnother) => {
    const database = await databaseWith();
    database.table.term = 'one';
    const bench = new KeeperBench({ database });
    const write = bench.store.write.bind(bench.store);
    const writes = jest.spyOn(bench.store, 'write').mockImplementationOnce(async (each) => {
      const isWritten = await write(each);
      if (isAnother) database.table.term = 'two';
      return isWritten;
    });
    void bench.keeper.start();
    await live(5_000, bench);
    // It is given back, and another one taken as of then.
    expect(writes.mock.calls.map(([{ token }]) => token !== '').slice(0, 3)).toEqual(
      isAnother ? [true, false, true] : [true],
    );
  });

  it('fills an empty table, takes a row of it and issues', async () => {
    const bench = await KeeperBench.started();
    const { table, time } = bench.database;
    expect([...table.rows.keys()]).toEqual([1, 2, 3]);
    expect(bench.database.row(bench.workerId!)).toMatchObject({
      version: 1,
      ownVersion: 1,
      token: expect.stringMatching(/^token-/) as unknown,
      holder: 'a host',
      code: 'a code',
      layout: bench.resolved.layout.fingerprint,
      leaseUntilMs: time.wall + 60_000,
      lane: 0,
      odometers: [
        { ms: time.wall + 65_000, sequence: bench.resolved.layout.maxSequence },
        { ms: expect.any(Number) as unknown, sequence: -1 },
      ],
    });
    expect([...table.layouts]).toEqual([bench.resolved.layout.fingerprint]);
    expect(bench.refusal()).toBeUndefined();
    expect(bench.story).toEqual(['lease-acquired']);
    expect(bench.keeper.status()).toMatchObject({ state: 'held', leaseLeftMs: 60_000, failures: 0, clockOffsetMs: 0 });
  });

  it('starts on the lane that timeBackBitValue names', async () => {
    const bench = await KeeperBench.started({ layout: { timeBackBitValue: 1 } });
    expect(bench.next()).toMatch(/:1:0$/);
    expect(bench.database.row(bench.workerId!).lane).toBe(1);
  });

  it('takes rows of its own range only, however many there are', async () => {
    const database = await WorkerDatabase.withRows({ min: 0, max: 100 });
    const workers = await workersOf(2, { database, layout: { serviceMinWorkId: 5, serviceMaxWorkId: 6 } });
    expect(workers.sort()).toEqual([5, 6]);
    const third = new KeeperBench({ database, layout: { serviceMinWorkId: 5, serviceMaxWorkId: 6 } });
    expect((await failureOf(third)).census).toMatchObject({ total: 2, live: 2 });
  });

  it('spreads over the free rows at random', async () => {
    const first = new Set<number | undefined>();
    for (let seed = 1; seed < 30; seed++) first.add((await KeeperBench.started({ seed })).workerId);
    expect([...first].sort()).toEqual([1, 2, 3]);
  });

  it('by sixty-four processes at once gives each a worker of its own', async () => {
    const database = new WorkerDatabase();
    const layout = { workIdLength: 7, serviceMaxWorkId: 64 };
    const benches = Array.from({ length: 64 }, (_, seed) => new KeeperBench({ database, layout, seed }));
    const starts = benches.map((bench) => bench.keeper.start());
    await database.advance(3_000);
    await Promise.all(starts);
    expect(new Set(benches.map((bench) => bench.workerId)).size).toBe(64);
  });

  it('counts its lease from before the request was sent', async () => {
    const bench = new KeeperBench();
    bench.store.next('write', { kind: 'slow', thereMs: 0, backMs: 2_000 });
    const starting = bench.keeper.start();
    await bench.advance(2_000);
    await starting;
    expect(bench.keeper.status().leaseLeftMs).toBe(58_000);
  });

  it('lets a batch that waits ask for more at once', async () => {
    const bench = new KeeperBench({ layout: { timeUnit: 'hour', timeStampLength: 45 } });
    const batch = bench.generator.nextIdsAsync(100);
    await bench.keeper.start();
    await bench.advance(200);
    expect(await batch).toHaveLength(100);
  });

  it('called twice is one start', async () => {
    const bench = new KeeperBench();
    await Promise.all([bench.keeper.start(), bench.keeper.start()]);
    expect(bench.store.writes).toHaveLength(1);
  });

  it('answers a generator that cannot wait with an error worth retrying', async () => {
    const bench = new KeeperBench();
    expect(bench.refusal()).toBe('NOT_READY');
    const waiting = bench.generator.nextIdAsync();
    await bench.keeper.start();
    await expect(waiting).resolves.toEqual(expect.any(BigInt));
  });
});

describe('the choice of a row', () => {
  const past = (ms: number): number => Date.parse('2026-03-01T12:00:00.000Z') - ms;

  it('prefers what is free to what has expired', async () => {
    const database = await databaseWith(
      { ...HELD, leaseUntilMs: past(900_000) },
      {},
      { ...HELD, leaseUntilMs: past(800_000) },
    );
    expect(await workersOf(1, { database })).toEqual([2]);
  });

  it('counts a row that was given back as free', async () => {
    const database = await databaseWith(
      { ...HELD, leaseUntilMs: past(900_000) },
      { ...HELD, leaseUntilMs: past(900_000) },
      { ...HELD, token: '', leaseUntilMs: past(0) },
    );
    expect(await workersOf(1, { database })).toEqual([3]);
  });

  it('takes the longest expired one first', async () => {
    const database = await databaseWith(
      { ...HELD, leaseUntilMs: past(200_000) },
      { ...HELD, leaseUntilMs: past(300_000) },
      { ...HELD, leaseUntilMs: past(250_000) },
    );
    expect(await workersOf(3, { database })).toEqual([2, 3, 1]);
  });

  it.each([
    { leftMs: 1, grace: 60_000, free: false },
    { leftMs: -59_999, grace: 60_000, free: false },
    { leftMs: -60_000, grace: 60_000, free: true },
    { leftMs: 1, grace: 0, free: false },
    { leftMs: 0, grace: 0, free: true },
  ])('with a grace of $grace ms finds a lease with $leftMs ms left free: $free', async ({ leftMs, grace, free }) => {
    const database = await databaseWith(...Array<Partial<WorkerRow>>(3).fill({ ...HELD, leaseUntilMs: past(-leftMs) }));
    const bench = new KeeperBench({ database, lease: { graceMs: grace } });
    if (free) await expect(bench.keeper.start()).resolves.toBeUndefined();
    else expect((await failureOf(bench)).census).toMatchObject({ live: 3, freeAtMs: past(-leftMs) + grace });
  });

  it.each([true, false])('with priorityEqualCodeWorkId %s looks at the code', async (priorityEqualCodeWorkId) => {
    const workers = new Set<number | undefined>();
    for (let seed = 1; seed < 20; seed++) {
      const mine = { ...HELD, code: 'mine', leaseUntilMs: past(900_000) };
      const database = await databaseWith({}, mine, {});
      const bench = await KeeperBench.started({ database, seed, code: 'mine', lease: { priorityEqualCodeWorkId } });
      workers.add(bench.workerId);
    }
    expect([...workers].sort()).toEqual(priorityEqualCodeWorkId ? [2] : [1, 3]);
  });

  it('never takes a row that is held, not even of the same code', async () => {
    const mine = { ...HELD, code: 'mine', leaseUntilMs: past(-30_000) };
    const database = await databaseWith(mine, mine, {});
    const options = { database, code: 'mine', lease: { priorityEqualCodeWorkId: true } };
    expect(await workersOf(1, options)).toEqual([3]);
    expect((await failureOf(new KeeperBench(options))).census).toMatchObject({ live: 3 });
  });

  it('passes over a row of which both odometers are past the present', async () => {
    const ahead = { ms: past(-3_600_000), sequence: 1 };
    const database = await databaseWith({ odometers: [ahead, ahead] }, {}, { odometers: [ahead, ahead] });
    const layout = { serviceMaxWorkId: 3 };
    expect(await workersOf(1, { database, layout })).toEqual([2]);
    const failure = await failureOf(new KeeperBench({ database, layout }));
    expect(failure.census).toEqual({
      total: 3,
      live: 1,
      foreign: 0,
      ahead: 2,
      contended: 0,
      freeAtMs: past(-120_000),
    });
    expect(failure.message).toContain('1 held');
    expect(failure.retryable).toBe(true);
  });

  it('passes over a row whose tick is used up', async () => {
    const { layout } = (await KeeperBench.started()).resolved;
    const full = { ms: past(0), sequence: layout.maxSequence };
    const used = { layout: layout.fingerprint, odometers: [full, full] as const };
    const failure = await failureOf(new KeeperBench({ database: await databaseWith(used, used, used) }));
    expect(failure.census.ahead).toBe(3);
  });

  const low = { ms: past(90_000), sequence: 4 };
  const higher = { ms: past(20_000), sequence: 4 };
  const ahead = { ms: past(-20_000), sequence: 4 };
  it.each([
    { name: 'the higher of two that are behind', odometers: [low, higher], lane: 1 },
    { name: 'the higher of two that are behind', odometers: [higher, low], lane: 0 },
    { name: 'the one that is behind', odometers: [ahead, low], lane: 1 },
    { name: 'the one that is behind', odometers: [low, ahead], lane: 0 },
    { name: 'the first one of two that are equal', odometers: [low, low], lane: 0 },
  ] as const)('goes on with $name: lane $lane', async ({ odometers, lane }) => {
    const database = await databaseWith(...Array<Partial<WorkerRow>>(3).fill({ odometers }));
    const bench = await KeeperBench.started({ database });
    expect(bench.keeper.lane).toBe(lane);
    expect(bench.database.row(bench.workerId!).odometers[lane === 0 ? 1 : 0]).toEqual(odometers[lane === 0 ? 1 : 0]);
  });

  it('starts one after the odometer, in the same tick', async () => {
    const now = { ms: past(0), sequence: 41 };
    const layout = (await KeeperBench.started()).resolved.layout.fingerprint;
    const database = await databaseWith(...Array<Partial<WorkerRow>>(3).fill({ layout, odometers: [now, low] }));
    const bench = await KeeperBench.started({ database });
    expect(bench.next()).toMatch(/:0:42$/);
  });
});

describe('a start without a free row', () => {
  const full = async (): Promise<WorkerDatabase> => {
    const database = new WorkerDatabase();
    await workersOf(3, { database });
    return database;
  };

  it('fails at once, and leaves nothing behind', async () => {
    const bench = new KeeperBench({ database: await full() });
    const failure = await failureOf(bench);
    expect(failure).toBeInstanceOf(NoFreeWorkerError);
    expect(failure.census).toMatchObject({ total: 3, live: 3, freeAtMs: bench.database.time.wall + 120_000 });
    expect(bench.time.pending.size).toBe(0);
    expect(bench.store.isClosed).toBe(true);
    expect(bench.refusal()).toBe('CLOSED');
    expect(bench.keeper.status().state).toBe('closed');
  });

  it('waits as long as waitForWorkerMs says, and then fails', async () => {
    const bench = new KeeperBench({ database: await full(), lease: { waitForWorkerMs: 30_000 } });
    const failing = failureOf(bench);
    await bench.advance(29_000);
    const reads = bench.store.calls.filter((call) => call === 'readTable').length;
    expect(reads).toBeGreaterThan(29_000 / 800);
    expect(reads).toBeLessThan(29_000 / 200);
    await bench.advance(2_000);
    expect((await failing).census.live).toBe(3);
    expect(bench.time.pending.size).toBe(0);
  });

  it('gets the row that another process gives back meanwhile', async () => {
    const database = new WorkerDatabase();
    const holder = await KeeperBench.started({ database, layout: { serviceMaxWorkId: 1 } });
    const waiter = new KeeperBench({ database, layout: { serviceMaxWorkId: 1 }, lease: { waitForWorkerMs: 60_000 } });
    const starting = waiter.keeper.start();
    await database.advance(10_000);
    holder.issue();
    await holder.keeper.close();
    await database.advance(800);
    await starting;
    expect(waiter.issue()).toBeGreaterThan(holder.issued.at(-1)!);
  });

  it('waits on through blips of the database', async () => {
    const database = new WorkerDatabase();
    const holder = await KeeperBench.started({ database, layout: { serviceMaxWorkId: 1 } });
    const waiter = new KeeperBench({ database, layout: { serviceMaxWorkId: 1 }, lease: { waitForWorkerMs: 600_000 } });
    const starting = waiter.keeper.start();
    for (let blip = 0; blip < 10; blip++) {
      waiter.store.next('readTable', { kind: 'refused' });
      await database.advance(5_000);
    }
    await holder.keeper.close();
    await database.advance(1_000);
    await expect(starting).resolves.toBeUndefined();
  });

  it('ends at once when it is closed while it waits', async () => {
    const bench = new KeeperBench({ database: await full(), lease: { waitForWorkerMs: 600_000 } });
    const failing = bench.keeper.start();
    await bench.advance(1_000);
    await bench.keeper.close();
    await expect(failing).rejects.toMatchObject({ errorCode: 'CLOSED' });
    expect(bench.time.pending.size).toBe(0);
  });
});

describe('a start with trouble', () => {
  it.each([
    { hostAheadBy: 30_001, skewMs: 30_001 },
    { hostAheadBy: -30_001, skewMs: -30_001 },
    { hostAheadBy: 30 * 365 * 86_400_000, skewMs: 30 * 365 * 86_400_000 },
  ])(
    'is refused when the clocks are $hostAheadBy ms apart, before anything is written',
    async ({ hostAheadBy, skewMs }) => {
      const database = new WorkerDatabase();
      const bench = new KeeperBench({ database, wall: database.time.wall + hostAheadBy });
      await expect(bench.keeper.start()).rejects.toMatchObject({ errorCode: 'CLOCK_SKEW', skewMs });
      expect(bench.store.writes).toEqual([]);
      expect(bench.store.isClosed).toBe(true);
    },
  );

  it.each([30_000, -30_000])('is not refused when they are %d ms apart', async (apart) => {
    const database = new WorkerDatabase();
    const bench = await KeeperBench.started({ database, wall: database.time.wall + apart });
    expect(bench.refusal()).toBeUndefined();
  });

  it.each(['prepare', 'readSample', 'write', 'readAgain', 'rememberLayout'] as const)(
    'survives a blip of the database at %s',
    async (call) => {
      const bench = new KeeperBench();
      bench.store.next(call, { kind: 'refused' }, { kind: 'answer-lost' });
      const starting = bench.keeper.start();
      await bench.advance(2_000);
      await starting;
      expect(bench.refusal()).toBeUndefined();
    },
  );

  it('gives a database up that does not answer, and leaves nothing behind', async () => {
    const bench = new KeeperBench();
    bench.store.faultFor = () => ({ kind: 'hangs' });
    const failing = expect(bench.keeper.start()).rejects.toMatchObject({ errorCode: 'STORE_UNAVAILABLE' });
    await bench.advance(100_000);
    await failing;
    expect(bench.store.abandoned).toBeGreaterThanOrEqual(3);
    expect(bench.time.pending.size).toBe(0);
  });

  it('forgets a worker whose acquiring got no answer, and takes another', async () => {
    const bench = new KeeperBench();
    bench.store.next('write', { kind: 'answer-lost' });
    const starting = bench.keeper.start();
    await bench.advance(1_000);
    await starting;
    const [unknown, known] = bench.store.writes;
    expect(known!.id).not.toBe(unknown!.id);
    expect(known!.token).not.toBe(unknown!.token);
    expect(bench.workerId).toBe(known!.id);
    expect(bench.database.row(unknown!.id).token).toBe(unknown!.token);
  });

  it('does not take a ghost of its own acquiring for a lease', async () => {
    const bench = new KeeperBench({ layout: { serviceMaxWorkId: 1 } });
    bench.store.next('write', { kind: 'ghost', afterMs: 3_100 });
    const starting = bench.keeper.start();
    const failing = expect(starting).rejects.toMatchObject({ errorCode: 'NO_FREE_WORKER' });
    await bench.advance(10_000);
    await failing;
    expect(bench.database.row(1)).toMatchObject({ token: bench.store.writes[0]!.token, version: 1 });
  });

  it('does nothing at all after it was closed', async () => {
    const bench = new KeeperBench();
    await bench.keeper.close();
    await expect(bench.keeper.start()).rejects.toMatchObject({ errorCode: 'CLOSED' });
    expect(bench.store.calls).toEqual([]);
  });
});

const NOW = Date.parse('2026-03-01T12:00:00.000Z');

const TWENTY: Partial<LayoutOptions> = { workIdLength: 5, serviceMaxWorkId: 20 };

/** Not disjoint from the layout of {@link TWENTY}. */
const OTHER: Partial<LayoutOptions> = { workIdLength: 6, serviceMinWorkId: 21, serviceMaxWorkId: 22 };

const readsOf = ({ store }: KeeperBench): StoreCall[] => store.calls.filter((call) => call.startsWith('read'));

const fingerprintOf = (layout: Partial<LayoutOptions>): string =>
  new KeeperBench({ layout }).resolved.layout.fingerprint;

async function twentyRows(): Promise<WorkerDatabase> {
  return WorkerDatabase.withRows({ min: 1, max: 22 });
}

describe('a start', () => {
  it('reads a sample and its own row, not the whole table', async () => {
    const bench = await KeeperBench.started({ layout: TWENTY });
    expect(readsOf(bench)).toEqual(['readSample', 'readAgain']);
    await bench.keeper.close();
    expect(readsOf(await KeeperBench.started({ layout: TWENTY, database: bench.database }))).toHaveLength(2);
  });

  it('finds a free row wherever in the range it is', async () => {
    for (const free of [1, 10, 20]) {
      const database = await twentyRows();
      const held = { token: 'theirs', code: 'x', leaseUntilMs: NOW + 60_000 };
      for (let id = 1; id <= 20; id++) if (id !== free) database.change(id, held);
      const bench = await KeeperBench.started({ database, layout: TWENTY });
      expect([bench.workerId, readsOf(bench).includes('readTable')]).toEqual([free, false]);
    }
  });

  it('spreads over the whole range', async () => {
    const workers = new Set<number | undefined>();
    for (let seed = 1; seed <= 200; seed++) {
      workers.add((await KeeperBench.started({ seed, layout: TWENTY })).workerId);
    }
    expect(workers.size).toBeGreaterThan(15);
  });

  it.each<{ what: string; options: KeeperBenchOptions; prepare?: (database: WorkerDatabase) => void }>([
    { what: 'a code is preferred', options: { lease: { priorityEqualCodeWorkId: true } } },
    {
      what: 'a past layout could repeat our IDs',
      options: {},
      prepare: ({ table }) => void table.layouts.add(fingerprintOf(OTHER)),
    },
    {
      what: 'a row outside the range has such a layout',
      options: {},
      prepare: (database) => database.change(22, { layout: fingerprintOf(OTHER), code: 'x' }),
    },
    {
      what: 'a deleted row has such a layout',
      options: {},
      prepare: ({ table }) => {
        table.deleted.set(22, { ...table.rows.get(22)!, layout: fingerprintOf(OTHER), code: 'x' });
        table.rows.delete(22);
      },
    },
  ])('reads the whole table when $what', async ({ options, prepare }) => {
    const database = await twentyRows();
    prepare?.(database);
    const bench = await KeeperBench.started({ database, layout: TWENTY, ...options });
    expect(readsOf(bench)).toContain('readTable');
  });

  it('reads the whole table when others were faster on every row of the sample', async () => {
    const database = await twentyRows();
    const bench = new KeeperBench({ database, layout: TWENTY });
    const sampled = overtaken(bench.store, database);
    await bench.keeper.start();
    expect(sampled()).toHaveLength(16);
    expect(sampled()).not.toContain(bench.workerId);
    expect(readsOf(bench)).toEqual(['readSample', 'readTable', 'readAgain']);
  });

  it('is told who stands in the way by the whole table', async () => {
    const database = await twentyRows();
    for (let id = 1; id <= 20; id++) database.change(id, { token: 'x', code: 'x', leaseUntilMs: NOW + id });
    const failing = new KeeperBench({ database, layout: TWENTY }).keeper.start();
    await expect(failing).rejects.toMatchObject({
      census: { total: 20, live: 20, foreign: 0, ahead: 0, contended: 0, freeAtMs: NOW + 1 + 60_000 },
    });
  });

  it('with a layout that ends soon is refused on a new table only', async () => {
    const layout = { ...TWENTY, timeStampLength: 41, minLifetimeDays: 365 };
    const { resolved } = new KeeperBench({ layout });
    const wall = resolved.layout.expiresAt!.getTime() - 86_400_000;
    const database = await WorkerDatabase.withRows({ min: 1, max: 20 }, wall);
    await expect(KeeperBench.started({ database, resolved })).rejects.toMatchObject({ errorCode: 'CONFIGURATION' });
    database.change(9, { code: 'used' });
    await expect(KeeperBench.started({ database, resolved })).resolves.toBeInstanceOf(KeeperBench);
  });
});

describe('a start whose store shows in one look that nothing is missing', () => {
  /** As SQL stores do. @returns how often it looked */
  function looking(
    { store, database }: KeeperBench,
    isPrepared: () => boolean = () => true,
    answered = (): Promise<void> => Promise.resolve(),
  ): () => number {
    let looks = 0;
    const memory = new MemoryWorkerStore(database.table, () => database.time.wall);
    const readPrepared: WorkerStore['readPrepared'] = async (_, request) => {
      looks++;
      const sample = isPrepared() ? await memory.readSample(request) : undefined;
      await answered();
      return sample;
    };
    Object.assign(store, { readPrepared });
    return () => looks;
  }

  it('asks for nothing else before it writes', async () => {
    const bench = new KeeperBench({ database: await twentyRows(), layout: TWENTY });
    const looks = looking(bench);
    await bench.keeper.start();
    expect([looks(), bench.store.calls]).toEqual([1, ['write', 'readAgain', 'rememberLayout']]);
    expect(bench.refusal()).toBeUndefined();
  });

  it('prepares the table, and reads a sample, where the look shows nothing', async () => {
    const bench = new KeeperBench({ layout: TWENTY });
    const looks = looking(bench, () => false);
    await bench.keeper.start();
    expect(looks()).toBe(1);
    expect(bench.store.calls).toEqual(['prepare', 'readSample', 'write', 'readAgain', 'rememberLayout']);
  });

  it('tries no second time with what it has seen before the first', async () => {
    const database = await twentyRows();
    const bench = new KeeperBench({ database, layout: TWENTY });
    const looks = looking(bench);
    bench.store.next('write', { kind: 'refused' });
    const starting = bench.keeper.start();
    const held = { token: 'theirs', version: 7, ownVersion: 7, code: 'x', leaseUntilMs: NOW + 60_000 };
    await bench.advance(1);
    for (let id = 1; id < 20; id++) database.change(id, held);
    await bench.advance(2_000);
    await starting;
    expect([looks(), bench.workerId, readsOf(bench)]).toEqual([1, 20, ['readSample', 'readAgain']]);
  });

  it('compares the clocks with that look', async () => {
    const database = await twentyRows();
    const bench = new KeeperBench({ database, layout: TWENTY, wall: database.time.wall + 3_600_000 });
    looking(bench);
    await expect(bench.keeper.start()).rejects.toMatchObject({ errorCode: 'CLOCK_SKEW' });
    expect(bench.store.calls).toEqual([]);
  });

  it.each([
    { clocks: 'right', aheadMs: 0, outcome: 'started' },
    { clocks: 'apart', aheadMs: -8_000, outcome: 'CLOCK_SKEW' },
  ])('reads a sample where that look was answered late: the clocks are $clocks', async ({ aheadMs, outcome }) => {
    const database = await twentyRows();
    const lease = { opTimeoutMs: 1_000, maxClockSkewMs: 5_000 };
    const bench = new KeeperBench({ database, layout: TWENTY, lease, wall: database.time.wall + aheadMs });
    looking(bench, undefined, () => passing(bench.time, 8_000));
    const starting = bench.keeper.start().then(
      () => 'started',
      ({ errorCode }: { errorCode: string }) => errorCode,
    );
    await bench.advance(10_000);
    expect([await starting, bench.store.calls[0]]).toEqual([outcome, 'readSample']);
  });

  it('is not asked where every row is wanted', async () => {
    const lease = { priorityEqualCodeWorkId: true };
    const bench = new KeeperBench({ database: await twentyRows(), layout: TWENTY, lease });
    const looks = looking(bench);
    await bench.keeper.start();
    expect([looks(), bench.store.calls[0]]).toEqual([0, 'prepare']);
  });
});

describe('two layouts that come at the same time', () => {
  /** Both have sampled before either writes. */
  async function outcomes(change: (store: FaultStore) => void): Promise<number> {
    const database = await twentyRows();
    const pair = [TWENTY, OTHER].map((layout, seed) => new KeeperBench({ database, layout, seed }));
    for (const { store } of pair) {
      store.next('readSample', { kind: 'slow', thereMs: 0, backMs: 10 });
      change(store);
    }
    const starts = Promise.allSettled(pair.map(({ keeper }) => keeper.start()));
    await database.advance(1_000);
    return (await starts).filter(({ status }) => status === 'fulfilled').length;
  }

  it('see each other at the second look', async () => {
    expect(await outcomes(() => undefined)).toBeLessThan(2);
  });

  it('both go on when the second look does not tell of the layouts of rows: the control', async () => {
    const hide = (store: FaultStore): void => {
      const read = store.readSample.bind(store);
      store.readSample = async (request) => {
        const seen = await read(request);
        return request.graceMs === INCLUDE_HELD ? { ...seen, layouts: [], layoutsOfRows: [] } : seen;
      };
    };
    expect(await outcomes(hide)).toBe(2);
  });
});

/** Every row of the first sample is taken by others before it arrives. */
function overtaken(store: FaultStore, database: WorkerDatabase): () => readonly number[] {
  let sampled: readonly WorkerRow[] = [];
  const read = store.readSample.bind(store);
  store.readSample = async (request) => {
    const sample = await read(request);
    if (request.graceMs === INCLUDE_HELD) return sample;
    sampled = sample.rows;
    for (const { id } of sampled) {
      database.change(id, { token: 'theirs', version: 7, ownVersion: 7, code: 'x', leaseUntilMs: NOW + 60_000 });
    }
    return sample;
  };
  return () => sampled.map(({ id }) => id);
}
