import type { LayoutOptions } from '../layout/layout-options.js';
import {
  KeeperBench,
  type KeeperBenchOptions,
  twins,
  WorkerDatabase,
} from '../../../../test/support/engine/keeper-bench.js';
import { live, repeats } from '../../../../test/support/engine/live.js';

/** The lines of the failure table that no other suite shows from the fault to the last ID. */

const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;
const ONE_ROW = { serviceMaxWorkId: 1 } as const;
/** 14 sequence bits: a block is 16 of 16,384. */
const HOURS = { ...ONE_ROW, timeUnit: 'hour', timeStampLength: 45 } as const;

/** All clocks of the world move; the time that passes does not. */
function stepAll(ms: number, database: WorkerDatabase, ...benches: KeeperBench[]): void {
  for (const time of [database.time, ...benches.map((bench) => bench.time)]) time.step(ms);
}

/** The error with which a process does not start. */
function failureOf(bench: KeeperBench): Promise<unknown> {
  return bench.keeper.start().then(
    () => Promise.reject(new Error('it started')),
    (error: unknown) => error,
  );
}

describe('a host that was suspended, its monotonic clock with it', () => {
  it('issues nothing after it woke up, and the process that has its worker now repeats nothing', async () => {
    const sleeper = await KeeperBench.started({ layout: HOURS });
    await live(1_000, sleeper);
    const { database } = sleeper;
    const left = sleeper.keeper.status().leaseLeftMs;
    stepAll(600_000, database, sleeper);
    const next = await KeeperBench.started({ database, layout: HOURS });
    await live(500, next);
    // By its own monotonic clock the lease is as good as it was.
    expect(sleeper.keeper.status().leaseLeftMs).toBeGreaterThan(left - 1_000);
    expect(sleeper.refusal()).toBe('LEASE_SUSPECT');
    await live(5_000, sleeper, next);
    expect(sleeper.refusal()).toBe('LEASE_LOST');
    expect(next.issued.length).toBeGreaterThan(20);
    expect(repeats(sleeper, next)).toBe(0);
  });
});

describe('a pause between the check and the return of a call', () => {
  /** The paused one looks at nothing any more: its clock shows the moment of the check. The other has its row by then. */
  async function pausedAndNext(layout: Partial<LayoutOptions>): Promise<[KeeperBench, KeeperBench]> {
    const paused = await KeeperBench.started({ layout });
    paused.issue();
    const seen = paused.time.wall;
    jest.spyOn(paused.time.clock, 'now').mockReturnValue(seen);
    jest.spyOn(paused.time.clock, 'refresh').mockReturnValue(seen);
    paused.pause();
    await paused.advance(121_000);
    return [paused, await KeeperBench.started({ database: paused.database, layout })];
  }

  it('gives out an ID of a grant that no other process gets, however late', async () => {
    const [paused, next] = await pausedAndNext(HOURS);
    for (let count = 0; count < 15; count++) paused.issue();
    for (let count = 0; count < 16; count++) next.issue();
    expect(repeats(paused, next)).toBe(0);
  });

  it('gives out an ID twice where the odometer is not respected: the test can fail', async () => {
    const [paused, next] = await pausedAndNext(HOURS);
    await next.keeper.close();
    next.database.change(1, { odometers: [{ ms: 0, sequence: -1 }, next.database.row(1).odometers[1]] });
    const third = await KeeperBench.started({ database: next.database, layout: HOURS });
    for (const bench of [paused, third]) for (let count = 0; count < 15; count++) bench.issue();
    expect(repeats(paused, third)).toBeGreaterThan(10);
  });
});

describe('all clocks set back by an hour while no process runs', () => {
  it.each([
    { unit: 'ms', layout: ONE_ROW },
    { unit: 'hours', layout: HOURS },
  ])(
    'costs nothing the first time, and the second time over the same hour a typed wait ($unit)',
    async ({ layout }) => {
      const database = new WorkerDatabase('2026-03-01T12:30:00.000Z');
      const benches: KeeperBench[] = [];
      const liveOnce = async (): Promise<void> => {
        const bench = await KeeperBench.started({ database, layout });
        benches.push(bench);
        await live(1_000, bench);
        expect(bench.issued).toHaveLength(10);
        await bench.keeper.close();
      };
      await liveOnce();
      stepAll(-HOUR, database);
      await liveOnce();
      stepAll(-HOUR, database);
      const refused = await failureOf(new KeeperBench({ database, layout }));
      expect(refused).toMatchObject({
        errorCode: 'NO_FREE_WORKER',
        retryable: true,
        census: { total: 1, ahead: 1 },
      });
      stepAll(HOUR, database);
      await liveOnce();
      expect(repeats(...benches)).toBe(0);
    },
  );
});

describe('a host clock and a database clock that are both ten years ahead', () => {
  it('and then set right cost no ID of a running process, and none of the next', async () => {
    const layout = ONE_ROW;
    const database = new WorkerDatabase('2036-03-01T12:00:00.000Z');
    const bench = await KeeperBench.started({ database, layout });
    await live(5_000, bench);
    stepAll(-10 * YEAR, database, bench);
    await live(15_000, bench);
    expect(bench.refusal()).toBeUndefined();
    expect(bench.resolved.layout.unpack(bench.issued.at(-1)!).clockBack).toBe(1);
    await bench.keeper.close();
    const next = await KeeperBench.started({ database, layout });
    await live(1_000, next);
    expect(next.issued).toHaveLength(10);
    expect(repeats(bench, next)).toBe(0);
  });

  it('for a second time leave the row useless, which is said at the start', async () => {
    const layout = ONE_ROW;
    const database = new WorkerDatabase();
    for (let time = 0; time < 2; time++) {
      stepAll(10 * YEAR + HOUR, database);
      const bench = await KeeperBench.started({ database, layout });
      bench.issue();
      stepAll(-10 * YEAR, database, bench);
      // Its other lane is used as well now.
      if (time === 0) await live(500, bench);
      await bench.keeper.close();
    }
    stepAll(-2 * HOUR, database);
    const refused = await failureOf(new KeeperBench({ database, layout }));
    expect(refused).toMatchObject({ errorCode: 'NO_FREE_WORKER', census: { total: 1, ahead: 1 } });
  });
});

describe('a database clock alone', () => {
  it.each([20_000, -20_000])('that steps by %d ms, inside maxClockSkewMs, costs nothing', async (ms) => {
    const bench = await KeeperBench.started();
    bench.database.time.step(ms);
    for (let passed = 0; passed < 60_000; passed += 500) {
      await bench.advance(500);
      expect(bench.refusal()).toBeUndefined();
    }
    expect(bench.story).toEqual(['lease-acquired']);
    expect(repeats(bench)).toBe(0);
  });

  it('that goes back by an hour bars IDs from the next heartbeat until it is right, and keeps the worker', async () => {
    const bench = await KeeperBench.started({ layout: ONE_ROW });
    await live(5_000, bench);
    bench.database.time.step(-HOUR);
    await live(15_000, bench);
    expect(bench.refusal()).toBe('CLOCK_SKEW');
    expect(bench.keeper.admit(bench.time.wall)).toMatchObject({ retryable: true, skewMs: HOUR });
    const other = new KeeperBench({ database: bench.database, layout: ONE_ROW, wall: bench.time.wall - HOUR });
    expect(await failureOf(other)).toMatchObject({ errorCode: 'NO_FREE_WORKER', census: { live: 1 } });
    bench.database.time.step(HOUR);
    await live(2_000, bench);
    expect(bench.refusal()).toBeUndefined();
    expect(bench.story.filter((type) => type !== 'lease-trouble')).toEqual(['lease-acquired']);
    expect(repeats(bench)).toBe(0);
  });

  it('that goes forward by an hour ends the lease, and IDs are issued again when it is right', async () => {
    const bench = await KeeperBench.started({ layout: ONE_ROW });
    await live(5_000, bench);
    bench.database.time.step(HOUR);
    await live(15_000, bench);
    expect(bench.refusal()).toBe('CLOCK_SKEW');
    expect(bench.keeper.admit(bench.time.wall)).toMatchObject({ retryable: true, skewMs: -HOUR });
    bench.database.time.step(-HOUR);
    await live(2_000, bench);
    expect(bench.refusal()).toBeUndefined();
    expect(repeats(bench)).toBe(0);
  });
});

describe('a leap second, which the clock shows twice', () => {
  it.each([
    { unit: 'millisecond', timeStampLength: 41 },
    { unit: 'second', timeStampLength: 33 },
    { unit: 'minute', timeStampLength: 30 },
    { unit: 'hour', timeStampLength: 25 },
    { unit: 'day', timeStampLength: 20 },
  ] as const)('costs no call and repeats nothing in $unit ticks', async ({ unit, timeStampLength }) => {
    const database = new WorkerDatabase('2026-12-31T23:59:55.000Z');
    const bench = await KeeperBench.started({ database, layout: { timeUnit: unit, timeStampLength } });
    for (let passed = 0; passed < 10_000; passed += 10) {
      if (passed === 4_990) stepAll(-1_000, database, bench);
      await bench.advance(10);
      expect(bench.refusal()).toBeUndefined();
    }
    expect(bench.issued).toHaveLength(1_000);
    expect(repeats(bench)).toBe(0);
  });
});

describe('a range that is widened between two deployments', () => {
  it('gets its new rows at the next start, beside the processes of the old one', async () => {
    const old = await KeeperBench.started({ layout: ONE_ROW });
    const { database } = old;
    const narrow = await failureOf(new KeeperBench({ database, layout: ONE_ROW }));
    expect(narrow).toMatchObject({ errorCode: 'NO_FREE_WORKER', census: { total: 1, live: 1 } });
    const row = database.row(1);
    const wide = await KeeperBench.started({ database, layout: { serviceMaxWorkId: 3 } });
    expect([...database.table.rows.keys()]).toEqual([1, 2, 3]);
    expect(database.row(1)).toEqual(row);
    expect(wide.workerId).toBeGreaterThan(1);
    await live(30_000, old, wide);
    expect(old.workerId).toBe(1);
    expect(repeats(old, wide)).toBe(0);
  });
});

describe('the end of the timestamp bits', () => {
  const epoch = Date.parse('2024-01-01');
  it.each([
    { unit: 'millisecond', timeStampLength: 41, unitMs: 1 },
    { unit: 'hour', timeStampLength: 19, unitMs: HOUR },
  ] as const)(
    'is said for good by a leased worker, whatever it reserves, and after a restart ($unit)',
    async (last) => {
      const layout = { ...ONE_ROW, timeUnit: last.unit, timeStampLength: last.timeStampLength };
      const { resolved } = new KeeperBench({ layout });
      const database = new WorkerDatabase(epoch + 2 ** last.timeStampLength * last.unitMs - 5_000);
      const running = await KeeperBench.started({ database, resolved: { ...resolved, minLifetimeDays: 0 } });
      await running.advance(4_999);
      expect(running.refusal()).toBeUndefined();
      await running.advance(1);
      expect(running.refusal()).toBe('TIMESTAMP_OVERFLOW');
      await live(60_000, running);
      expect(running.refusal()).toBe('TIMESTAMP_OVERFLOW');
      await expect(running.generator.nextIdAsync()).rejects.toMatchObject({ retryable: false });
      expect(running.issued).toHaveLength(1);
      expect(running.issued[0]).toBeLessThan(2n ** 63n);
      await running.keeper.close();
      // On a table that was used, a layout that is over is no reason not to start: health says that it has expired.
      const late = await KeeperBench.started({ database, resolved });
      expect(late.refusal()).toBe('TIMESTAMP_OVERFLOW');
    },
  );
});

describe('a clock that goes back before the epoch', () => {
  it('is refused by a leased worker until it is right, and repeats nothing', async () => {
    const bench = await KeeperBench.started({ layout: ONE_ROW });
    await live(5_000, bench);
    bench.time.step(-5 * YEAR);
    await live(20_000, bench);
    expect(bench.refusal()).toBe('CLOCK_BEFORE_EPOCH');
    expect(bench.events.some(({ type }) => type === 'lease-lost')).toBe(false);
    bench.time.step(5 * YEAR);
    await live(5_000, bench);
    expect(bench.refusal()).toBeUndefined();
    expect(repeats(bench)).toBe(0);
  });
});

describe('an odometer that was lowered by hand under a holder of an hour row', () => {
  async function lowered(): Promise<KeeperBench> {
    const bench = await KeeperBench.started({ layout: HOURS });
    for (let count = 0; count < 8; count++) bench.issue();
    bench.database.change(1, { odometers: [{ ms: 0, sequence: -1 }, bench.database.row(1).odometers[1]] });
    return bench;
  }

  it.each(['is killed', 'is shut down'])('is raised at the next heartbeat, so that it may be who %s', async (end) => {
    const bench = await lowered();
    await bench.advance(10_000);
    if (end === 'is killed') bench.kill();
    else await bench.keeper.close();
    await bench.database.advance(121_000);
    const next = await KeeperBench.started({ database: bench.database, layout: HOURS });
    for (let count = 0; count < 8; count++) next.issue();
    expect(repeats(bench, next)).toBe(0);
  });

  it('is lost with a holder who is killed before that: the known limit', async () => {
    const bench = await lowered();
    bench.kill();
    await bench.database.advance(121_000);
    const next = await KeeperBench.started({ database: bench.database, layout: HOURS });
    for (let count = 0; count < 8; count++) next.issue();
    expect(repeats(bench, next)).toBe(8);
  });
});

describe('an hour row after an unclean takeover, with a window for lost commits', () => {
  it('is held and on probation, then held and without IDs until the next hour, and says both', async () => {
    const options = { layout: HOURS, lease: { commitLossWindowMs: 5_000 } };
    const gone = new KeeperBench(options);
    const { database } = gone;
    const first = gone.keeper.start();
    await gone.advance(5_100);
    await first;
    gone.issue();
    gone.kill();
    await database.advance(60_000 + 155_001);
    const bench = new KeeperBench({ ...options, database });
    const start = bench.keeper.start();
    await bench.advance(1_000);
    expect(bench.refusal()).toBe('NOT_READY');
    expect(bench.keeper.status()).toMatchObject({ state: 'suspect', leaseLeftMs: 0 });
    await bench.advance(5_000);
    await start;
    expect(bench.refusal()).toBe('SEQUENCE_EXHAUSTED');
    expect(bench.keeper.status()).toMatchObject({ state: 'held', lastError: undefined });
    await bench.advance(HOUR);
    expect(bench.refusal()).toBeUndefined();
    expect(repeats(gone, bench)).toBe(0);
  });
});

describe('memory that was cloned without notice', () => {
  it('repeats IDs until the next heartbeat, and none after it: the known limit', async () => {
    const [original, copy] = await twins({}, 25_000);
    await live(1_000, original, copy);
    expect(repeats(original, copy)).toBeGreaterThan(0);
    await live(11_000, original, copy);
    const before = repeats(original, copy);
    await live(60_000, original, copy);
    expect(repeats(original, copy)).toBe(before);
    expect(original.workerId).not.toBe(copy.workerId);
  });
});

describe('a process of the original that was paused on a shared table', () => {
  const options: KeeperBenchOptions = { layout: ONE_ROW };
  const pausedPeer = async (): Promise<WorkerDatabase> => {
    const database = await WorkerDatabase.withRows({ min: 1, max: 1 });
    database.writeAsForeigner(1);
    await database.advance(HOUR);
    return database;
  };

  it('keeps its row by default, however long it is silent', async () => {
    const bench = new KeeperBench({ ...options, database: await pausedPeer() });
    expect(await failureOf(bench)).toMatchObject({ errorCode: 'FOREIGN_ROWS', workerIds: [1] });
  });

  it('loses it with adoptForeign, and would issue the same IDs when it wakes up: the known limit', async () => {
    const bench = await KeeperBench.started({
      ...options,
      database: await pausedPeer(),
      lease: { adoptForeign: true },
    });
    const { layout } = bench.resolved;
    const itsNext = layout.pack({
      tick: layout.timeline.tickAt(bench.time.wall),
      workerId: 1,
      clockBack: 0,
      sequence: 0,
    });
    expect(bench.issue()).toBe(itsNext);
  });
});

describe('processes that wait for a free worker', () => {
  it('do not look in step, although they were started together', async () => {
    const holder = await KeeperBench.started({ layout: ONE_ROW });
    const { database } = holder;
    const lease = { waitForWorkerMs: 60_000 };
    const looks = await Promise.all(
      [11, 12, 13].map(async (seed) => {
        const bench = new KeeperBench({ database, layout: ONE_ROW, lease, seed });
        const times: number[] = [];
        bench.store.faultFor = (call) => {
          if (call === 'readTable') times.push(bench.time.monotonicMs);
          return undefined;
        };
        const failing = failureOf(bench);
        await database.advance(20_000);
        await bench.keeper.close();
        expect(await failing).toMatchObject({ errorCode: 'CLOSED' });
        return times.slice(1).map((time, index) => time - times[index]!);
      }),
    );
    for (const pauses of looks) {
      expect(Math.min(...pauses)).toBeGreaterThanOrEqual(200);
      expect(Math.max(...pauses)).toBeLessThanOrEqual(800);
      expect(new Set(pauses).size).toBeGreaterThan(10);
    }
  });
});
