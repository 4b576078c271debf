import { comparePositions, type Lane, type Position } from '../generator/tenure.js';
import { KeeperBench, type KeeperBenchOptions, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { ConfigurationError } from '../config/option-reader.js';
import { type OriginalOptions, OriginalProgram } from '../../../../test/support/engine/original-program.js';
import { ForeignRowsError, ForeignTimeZoneError, type NoFreeWorkerError } from './lease-errors.js';
import type { LeaseOptions } from './lease-options.js';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

const ADOPTING = { adoptForeign: true };

const ONE_ROW = { serviceMaxWorkId: 1 };

/** One row, last written by another program so long ago. */
async function foreignRow(agoMs: number): Promise<WorkerDatabase> {
  const database = await WorkerDatabase.withRows({ min: 1, max: 1 });
  database.writeAsForeigner(1);
  database.change(1, { heartbeatMs: NOW - agoMs });
  return database;
}

function refusalOf(bench: KeeperBench): Promise<NoFreeWorkerError> {
  return bench.keeper.start().then(
    () => Promise.reject(new Error('it started')),
    (error: NoFreeWorkerError) => error,
  );
}

/** Up to where the other program may have issued: its last heartbeat and a minute, to the end of the tick. */
function foreignEnd({ resolved: { layout } }: KeeperBench, heartbeatMs: number): Position {
  return { tick: layout.timeline.tickAt(heartbeatMs + MINUTE), sequence: layout.maxSequence };
}

describe('a row that another program wrote last', () => {
  it.each([0, HOUR, 3 * 365 * 24 * HOUR])('bars the table, be it %d ms ago, and is untouched', async (ago) => {
    const database = await foreignRow(ago);
    const before = database.row(1);
    const bench = new KeeperBench({ database, layout: ONE_ROW });
    await expect(bench.keeper.start()).rejects.toMatchObject({ errorCode: 'FOREIGN_ROWS', retryable: false });
    expect(bench.store.writes).toEqual([]);
    expect(database.row(1)).toEqual(before);
  });

  it('is passed over while there are others, where it is expected', async () => {
    for (let seed = 1; seed < 15; seed++) {
      const database = await WorkerDatabase.withRows({ min: 1, max: 3 });
      database.writeAsForeigner(1);
      database.writeAsForeigner(3);
      expect((await KeeperBench.started({ database, seed, lease: ADOPTING })).workerId).toBe(2);
    }
  });

  it('is one even if we had it before, even under our own code, and even while our holder does not know', async () => {
    const database = new WorkerDatabase();
    const lease = { ...ADOPTING, priorityEqualCodeWorkId: true };
    const first = await KeeperBench.started({ database, layout: ONE_ROW, code: 'mine' });
    database.writeAsForeigner(1, 'mine');
    const census = { foreign: 1, live: 0, freeAtMs: undefined };
    const late = new KeeperBench({ database, layout: ONE_ROW, code: 'mine', lease });
    expect((await refusalOf(late)).census).toMatchObject(census);
    await first.keeper.close();
    expect((await refusalOf(new KeeperBench({ database, layout: ONE_ROW, lease }))).census).toMatchObject(census);
  });

  it('is free at once when it was never used: the code is empty, whatever its version', async () => {
    const database = await WorkerDatabase.withRows({ min: 1, max: 1 });
    database.change(1, { version: 5, ownVersion: 0, code: '', heartbeatMs: NOW });
    const bench = await KeeperBench.started({ database, layout: ONE_ROW });
    expect(bench.workerId).toBe(1);
    expect(database.row(1)).toMatchObject({ version: 6, ownVersion: 6, code: 'a code' });
    expect(bench.refusal()).toBeUndefined();
  });
});

describe('with adoptForeign a row of another program', () => {
  const UNITS = [
    { timeUnit: 'millisecond', timeStampLength: 41, unitMs: 1 },
    { timeUnit: 'second', timeStampLength: 31, unitMs: SECOND },
    { timeUnit: 'minute', timeStampLength: 25, unitMs: MINUTE },
    { timeUnit: 'hour', timeStampLength: 19, unitMs: HOUR },
    { timeUnit: 'day', timeStampLength: 15, unitMs: 24 * HOUR },
  ] as const;

  it.each(UNITS)('of $timeUnit ticks is taken 120 s and a tick after its last heartbeat', async (unit) => {
    const { unitMs, ...rest } = unit;
    const options: KeeperBenchOptions = { layout: { ...ONE_ROW, ...rest }, lease: ADOPTING };
    const tooEarly = await foreignRow(120_000 + unitMs);
    expect((await refusalOf(new KeeperBench({ ...options, database: tooEarly }))).census.foreign).toBe(1);
    const database = await foreignRow(120_001 + unitMs);
    const bench = await KeeperBench.started({ ...options, database });
    expect(database.row(1)).toMatchObject({ version: 2, ownVersion: 2, code: 'a code' });
    const end = foreignEnd(bench, NOW - 120_001 - unitMs);
    for (const lane of [0, 1] as const) expect(bench.keeper.base[lane]).toEqual(end);
    const { tick, sequence } = bench.resolved.layout.unpack(bench.issue());
    expect(comparePositions({ tick, sequence }, end)).toBeGreaterThan(0);
  });

  it.each([
    { lane: 0, firstLane: 0 },
    { lane: 1, firstLane: 1 },
  ] as const)('never issues what that one may have issued, the clock going back, from lane $lane on', async (start) => {
    const ago = 120_002;
    const layout = { ...ONE_ROW, timeBackBitValue: start.firstLane };
    const bench = await KeeperBench.started({ database: await foreignRow(ago), layout, lease: ADOPTING });
    const end = foreignEnd(bench, NOW - ago);
    const lanes = new Set<number>();
    const check = (): void => {
      if (bench.refusal() !== undefined) return;
      const { tick, sequence, clockBack } = bench.resolved.layout.unpack(bench.issued.at(-1)!);
      lanes.add(clockBack);
      expect(comparePositions({ tick, sequence }, end)).toBeGreaterThan(0);
    };
    check();
    for (const back of [20_000, 15_000, 15_000, 15_000, 20_000]) {
      bench.time.step(-back);
      check();
      await bench.advance(1_000);
      check();
    }
    expect([...lanes].sort()).toEqual([0, 1]);
    expect(bench.refusal()).toBeDefined();
    expect(new Set(bench.issued).size).toBe(bench.issued.length);
  });

  it.each([0, 1] as const)('does not forget what we granted on it before, on lane %d', async (lane: Lane) => {
    const database = await foreignRow(HOUR);
    const fingerprint = new KeeperBench({ layout: ONE_ROW }).resolved.layout.fingerprint;
    const mine = { ms: NOW, sequence: 77 };
    const low = { ms: NOW - 2 * HOUR, sequence: 3 };
    database.change(1, { layout: fingerprint, odometers: lane === 0 ? [mine, low] : [low, mine] });
    const bench = await KeeperBench.started({ database, layout: ONE_ROW, lease: ADOPTING });
    expect(bench.next()).toMatch(new RegExp(`:1:${lane}:78$`));
    expect(bench.keeper.base[lane === 0 ? 1 : 0]).toEqual(foreignEnd(bench, NOW - HOUR));
  });

  it('keeps its past when it is given back and nothing was issued', async () => {
    const layout = { ...ONE_ROW, timeUnit: 'hour', timeStampLength: 19 } as const;
    const database = await foreignRow(HOUR + 120_001);
    const bench = await KeeperBench.started({ database, layout, lease: ADOPTING });
    const end = foreignEnd(bench, NOW - HOUR - 120_001);
    await bench.keeper.close();
    const { startOf } = bench.resolved.layout.timeline;
    const odometer = { ms: startOf.call(bench.resolved.layout.timeline, end.tick), sequence: end.sequence };
    expect(database.row(1)).toMatchObject({ token: '', version: 3, ownVersion: 3, odometers: [odometer, odometer] });
    const next = await KeeperBench.started({ database, layout });
    expect(next.keeper.base).toEqual([end, end]);
  });

  it('keeps its past when another layout comes in between and it goes back at once', async () => {
    const database = await WorkerDatabase.withRows({ min: 1, max: 7 });
    database.writeAsForeigner(1);
    database.change(1, { heartbeatMs: NOW - 300_000 });
    const adopting = new KeeperBench({ database, layout: ONE_ROW, lease: ADOPTING });
    adopting.store.next('write', { kind: 'slow', thereMs: 100, backMs: 0 });
    const failing = expect(adopting.keeper.start()).rejects.toMatchObject({ errorCode: 'LAYOUT_CONFLICT' });
    await database.advance(50);
    const layout = { workIdLength: 4, serviceMinWorkId: 7, serviceMaxWorkId: 7 };
    const other = await KeeperBench.started({ database, layout, lease: ADOPTING });
    await database.advance(1_000);
    await failing;
    const { ownVersion, version, token, odometers } = database.row(1);
    expect({ ownVersion, version, token }).toEqual({ ownVersion: 3, version: 3, token: '' });
    for (const { ms, sequence } of odometers) {
      expect(ms).toBeGreaterThanOrEqual(NOW - 300_000 + MINUTE);
      expect(sequence).toBe(adopting.resolved.layout.maxSequence);
    }
    await other.keeper.close();
  });

  it('is counted as held while we hold a lease on it', async () => {
    const bench = await KeeperBench.started({ database: await foreignRow(300_000), layout: ONE_ROW, lease: ADOPTING });
    bench.issue();
    const late = new KeeperBench({ database: bench.database, layout: ONE_ROW, lease: ADOPTING });
    expect((await refusalOf(late)).census).toMatchObject({ live: 1, foreign: 0 });
  });

  it('is taken by one of two that come at the same time', async () => {
    const database = await foreignRow(300_000);
    const pair = [5, 6].map((seed) => new KeeperBench({ database, seed, layout: ONE_ROW, lease: ADOPTING }));
    const starts = Promise.allSettled(pair.map((bench) => bench.keeper.start()));
    await database.advance(5_000);
    expect((await starts).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

describe('another program that writes to a row we hold', () => {
  it('gets it: not one more ID from it after the heartbeat that finds out, and another row serves', async () => {
    const bench = await KeeperBench.started({ lease: ADOPTING });
    const id = bench.workerId!;
    bench.issue();
    bench.database.writeAsForeigner(id);
    const written = bench.database.row(id);
    await bench.advance(11_000);
    expect(bench.events).toContainEqual({
      type: 'lease-lost',
      workerId: id,
      reason: 'another program wrote its row',
    });
    expect(bench.story.at(-1)).toBe('lease-regained');
    expect(bench.workerId).not.toBe(id);
    expect(bench.next()).toContain(`:${bench.workerId}:`);
    expect(bench.database.row(id)).toEqual(written);
  });

  it('is lost at once when the write comes just before a renewal of ours', async () => {
    const bench = await KeeperBench.started({ layout: ONE_ROW });
    bench.issue();
    bench.store.next('write', { kind: 'slow', thereMs: 50, backMs: 0 });
    bench.keeper.requestExtension();
    await bench.advance(20);
    bench.database.writeAsForeigner(1);
    await bench.advance(1_000);
    expect(bench.story).toContain('lease-lost');
    expect(bench.refusal()).toBe('LEASE_LOST');
    // The write that was refused is no renewal.
    expect(bench.keeper.status().renewals).toBe(0);
  });

  it('keeps it when we are shut down before we know', async () => {
    const bench = await KeeperBench.started({ layout: ONE_ROW });
    bench.issue();
    bench.database.writeAsForeigner(1);
    const written = bench.database.row(1);
    await bench.keeper.close();
    expect(bench.database.row(1)).toEqual(written);
    expect(bench.story).not.toContain('lease-released');
  });

  it('and comes to an end leaves a row that is adopted behind what both of us issued', async () => {
    const bench = await KeeperBench.started({ layout: ONE_ROW, lease: ADOPTING });
    await bench.advance(5_000);
    bench.issue();
    const granted = bench.keeper.limit[0];
    const heartbeatMs = bench.database.time.wall;
    bench.database.writeAsForeigner(1);
    await bench.advance(119_000);
    expect(bench.refusal()).toBe('LEASE_LOST');
    await bench.advance(10_000);
    expect(bench.refusal()).toBeUndefined();
    expect(comparePositions(bench.keeper.base[0], granted)).toBeGreaterThanOrEqual(0);
    expect(comparePositions(bench.keeper.base[1], foreignEnd(bench, heartbeatMs))).toBeGreaterThanOrEqual(0);
    expect(new Set(bench.issued).size).toBe(bench.issued.length);
  });
});

const HOUR_MS = 3_600_000;

const SHARED: LeaseOptions = { sharedWithOriginal: true };

const UNITS = [
  { timeUnit: 'millisecond', timeStampLength: 41 },
  { timeUnit: 'second', timeStampLength: 31 },
  { timeUnit: 'minute', timeStampLength: 25 },
  { timeUnit: 'hour', timeStampLength: 19 },
  { timeUnit: 'day', timeStampLength: 15 },
] as const;

interface Meeting {
  readonly lease: LeaseOptions;
  readonly layout?: (typeof UNITS)[number];
  /** This host's clock and the original's, ahead of the database's. */
  readonly aheadMs?: number;
  readonly originalAheadMs?: number;
  /** By how much this host's clock is put forward while the keeper has no database to compare it with. */
  readonly jumpMs?: number;
  readonly original?: OriginalOptions;
  readonly code?: string;
  /** Whether our process is cut off from the database when the original looks for a row. */
  readonly isCutOff?: boolean;
}

/** Our process has the one row; the original starts as soon as it thinks that the row is free. How many IDs come twice? */
async function repeatsOf(meeting: Meeting): Promise<number> {
  const { lease, layout = UNITS[1], aheadMs = 0, originalAheadMs = 0, jumpMs = 0 } = meeting;
  const database = await WorkerDatabase.withRows({ min: 1, max: 1 }, NOW);
  const bench = await KeeperBench.started({
    database,
    wall: NOW + aheadMs,
    lease,
    layout: { ...layout, serviceMaxWorkId: 1 },
    ...(meeting.code !== undefined && { code: meeting.code }),
  });
  const clock = database.time.another(NOW + originalAheadMs);
  const original = new OriginalProgram(database, bench.resolved.layout, clock, meeting.original);
  const theirs: bigint[] = [];
  await bench.advance(25_000);
  if (meeting.isCutOff === true) bench.store.goDown();
  bench.time.step(jumpMs);
  for (let second = 0; second < 400; second++) {
    // IDs at the beginning of a tick are those that repeat: a burst for each side.
    for (let call = 0; call < 3; call++) bench.refusal();
    if (original.workerId !== undefined || original.start()) theirs.push(original.nextId(), original.nextId());
    if (original.workerId !== undefined && second % 30 === 0) original.heartbeat();
    await bench.advance(1_000);
    if (second !== 150 || bench.resolved.layout.unitMs < HOUR_MS) continue;
    // Long dead by now, and the original waits for one more unit.
    bench.kill();
    await bench.advance(bench.resolved.layout.unitMs);
  }
  const ours = new Set(bench.issued);
  // Cut off we issue for a lease, and then the original does.
  if (meeting.isCutOff === true) expect(theirs.length).toBeGreaterThan(300);
  expect(ours.size).toBeGreaterThan(10);
  expect(ours.size).toBe(bench.issued.length);
  return theirs.filter((id) => ours.has(id)).length;
}

describe('a table that is shared with the original', () => {
  it.each(
    UNITS.flatMap((layout) =>
      [
        { leaseMs: 60_000, aheadMs: 29_000, originalAheadMs: -30_000 },
        { leaseMs: 90_000, aheadMs: 27_000, originalAheadMs: 30_000 },
        { leaseMs: 90_000, aheadMs: 27_000, originalAheadMs: 0 },
      ].map((clocks) => ({ layout, jumpMs: clocks.aheadMs - 1_000, ...clocks })),
    ),
  )(
    'repeats nothing when the original takes the row of a holder that is cut off: $layout.timeUnit, lease $leaseMs, clocks $aheadMs and $originalAheadMs',
    async ({ leaseMs, ...meeting }) => {
      expect(await repeatsOf({ lease: { ...SHARED, leaseMs }, ...meeting, isCutOff: true })).toBe(0);
    },
  );

  it('is left alone while we live', async () => {
    expect(await repeatsOf({ lease: SHARED, code: 'ours#raindrop', original: { prefersOwnCode: true } })).toBe(0);
  });

  // What the consent rules out, as controls: each of them repeats.
  it.each<{ what: string; meeting: Meeting }>([
    { what: 'a lease beyond two minutes', meeting: { lease: { leaseMs: 300_000 }, isCutOff: true } },
    {
      what: 'a clock that may be far ahead',
      meeting: { lease: { maxClockSkewMs: 200_000 }, aheadMs: 180_000, isCutOff: true },
    },
    {
      what: "the original's own code",
      meeting: { lease: {}, code: 'c', original: { code: 'c', prefersOwnCode: true } },
    },
    { what: 'another time zone', meeting: { lease: {}, original: { zoneErrorMs: 8 * HOUR_MS } } },
  ])('would repeat IDs with $what', async ({ meeting }) => {
    expect(await repeatsOf(meeting)).toBeGreaterThan(0);
  });

  it('would give the original rows whose ids are too large for its bits', async () => {
    const database = await WorkerDatabase.withRows({ min: 9, max: 9 });
    const { layout } = new KeeperBench({ layout: { ...UNITS[1], workIdLength: 3 } }).resolved;
    const original = new OriginalProgram(database, layout, database.time);
    expect(original.start()).toBe(true);
    const { workerId } = layout.unpack(original.nextId());
    expect(workerId).not.toBe(9);
  });

  it('is refused without consent, whatever our range is, and by a process that loses its row to it', async () => {
    const database = await WorkerDatabase.withRows({ min: 1, max: 5 });
    const bench = await KeeperBench.started({ database, layout: { serviceMaxWorkId: 3 } });
    database.writeAsForeigner(5);
    database.writeAsForeigner(4);
    const late = new KeeperBench({ database, layout: { serviceMaxWorkId: 3 } });
    await expect(late.keeper.start()).rejects.toMatchObject({ errorCode: 'FOREIGN_ROWS', workerIds: [4, 5] });
    database.writeAsForeigner(bench.workerId!);
    await bench.advance(11_000);
    expect(bench.refusal()).toBe('LEASE_LOST');
    expect(bench.keeper.status().lastError).toBeInstanceOf(ForeignRowsError);
    expect((bench.keeper.status().lastError as ForeignRowsError).message).toMatch(
      /tableName.*endBitsValue.*adoptForeign: true.*sharedWithOriginal: true/,
    );
  });

  it('must have a row of our range already', async () => {
    const database = await WorkerDatabase.withRows({ min: 5, max: 7 });
    database.table.rows.delete(6);
    const bench = new KeeperBench({ database, layout: { serviceMinWorkId: 6, serviceMaxWorkId: 6 }, lease: SHARED });
    bench.store.prepare = () => Promise.resolve();
    await expect(bench.keeper.start()).rejects.toThrow(ConfigurationError);
    await expect(bench.keeper.start()).rejects.toThrow(
      /sharedWithOriginal = true: the table has no rows for workers 6 to 6/,
    );
  });
});

describe('the time zone of a shared table', () => {
  const ZONE = new ForeignTimeZoneError('+00:00', ['+08:00']);

  it('is compared before a row is taken, with adoptForeign once there are rows of others', async () => {
    const database = await WorkerDatabase.withRows({ min: 1, max: 3 });
    const benchWith = (lease: LeaseOptions): KeeperBench => {
      const bench = new KeeperBench({ database, lease });
      bench.store.checkForeignTimes = () => Promise.reject(ZONE);
      return bench;
    };
    const shared = benchWith(SHARED);
    await expect(shared.keeper.start()).rejects.toBe(ZONE);
    expect(shared.store.writes).toEqual([]);
    const adopting = benchWith({ adoptForeign: true });
    await adopting.keeper.start();
    await adopting.keeper.close();
    database.writeAsForeigner(1);
    await expect(benchWith({ adoptForeign: true }).keeper.start()).rejects.toBe(ZONE);
  });

  it('bars issuing from the heartbeat on at which it is another, until it is right again', async () => {
    const bench = await KeeperBench.started({
      database: await WorkerDatabase.withRows({ min: 1, max: 3 }),
      lease: SHARED,
    });
    bench.issue();
    let isRight = false;
    bench.store.checkForeignTimes = () => (isRight ? Promise.resolve() : Promise.reject(ZONE));
    await bench.advance(11_000);
    expect(bench.refusal()).toBe('FOREIGN_TIME_ZONE');
    isRight = true;
    await bench.advance(2_000);
    expect(bench.refusal()).toBeUndefined();
    expect(new Set(bench.issued).size).toBe(bench.issued.length);
  });

  it('does not bar while it cannot be read: what was granted holds', async () => {
    const bench = await KeeperBench.started({
      database: await WorkerDatabase.withRows({ min: 1, max: 3 }),
      lease: SHARED,
    });
    bench.store.checkForeignTimes = () => Promise.reject(new Error('gone'));
    await bench.advance(45_000);
    expect(bench.refusal()).toBeUndefined();
    await bench.advance(20_000);
    expect(bench.refusal()).toBe('LEASE_LOST');
  });
});
