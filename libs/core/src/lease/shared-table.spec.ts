import { ConfigurationError } from '../config/option-reader.js';
import { KeeperBench, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { OriginalProgram, type OriginalOptions } from '../../../../test/support/engine/original-program.js';
import { ForeignRowsError, ForeignTimeZoneError } from './lease-errors.js';
import type { LeaseOptions } from './lease-options.js';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const HOUR = 3_600_000;
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
  /** By how much our clock is put forward once nobody can check it. */
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
    ...{ database, wall: NOW + aheadMs, lease, layout: { ...layout, serviceMaxWorkId: 1 } },
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
    if (second !== 150 || bench.resolved.layout.unitMs < HOUR) continue;
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
    { what: 'another time zone', meeting: { lease: {}, original: { zoneErrorMs: 8 * HOUR } } },
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
      /sharedWithOriginal = true: the table has no row of workers 6 to 6/,
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
