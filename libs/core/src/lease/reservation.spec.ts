import { runs } from '../../../../test/tier.js';
import { AFTER_ALL, BEFORE_ALL, type Position } from '../generator/tenure.js';
import { tinyLayout } from '../../../../test/support/engine/generator-bench.js';
import { ReservationExhaustedError, SequenceExhaustedError } from '../generator/generator-errors.js';
import { KeeperBench, type KeeperBenchOptions, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { type LimitBasis, nextLimit, renewThresholdOf } from './reservation.js';

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

const HORIZON = 65_000;

function basis(change: Partial<LimitBasis>): LimitBasis {
  const current = change.current ?? BEFORE_ALL;
  return { nowMs: 0, horizonMs: HORIZON, current, used: current, rate: 0, batch: 1, ...change };
}

/** Tick 100 of hours, of 2^14 sequences: a block is 16 of them. */
const hours = tinyLayout({ unitMs: HOUR, sequenceBits: 14 });

const BLOCK = 16;

const NOW = 100 * HOUR + 600_000;

const LATE = 101 * HOUR - HORIZON;

const at = (tick: number, sequence: number): Position => ({ tick, sequence });

describe('a grant of milliseconds or seconds', () => {
  it.each([
    { unitMs: 1, nowMs: 1_000_000, tick: 1_065_000 },
    { unitMs: SECOND, nowMs: 1_000_999, tick: 1_065 },
    { unitMs: SECOND, nowMs: 1_000_000, tick: 1_065 },
  ])('of $unitMs ms reaches to the end of the tick of the horizon', ({ unitMs, nowMs, tick }) => {
    const layout = tinyLayout({ unitMs });
    expect(nextLimit(layout, basis({ nowMs }))).toEqual(at(tick, 3));
    expect(nextLimit(layout, basis({ nowMs, current: at(tick, 2) }))).toEqual(at(tick, 3));
  });

  it('is never lowered', () => {
    const current = at(2_000_000, 1);
    expect(nextLimit(tinyLayout(), basis({ nowMs: 1_000_000, current }))).toEqual(current);
  });

  it('ends where the layout ends, and nothing is asked for there', () => {
    const layout = tinyLayout({ timeBits: 41 });
    const basisAtEnd = basis({ nowMs: layout.maxTick - 1_000 });
    const limit = nextLimit(layout, basisAtEnd);
    expect(limit).toEqual(at(layout.maxTick, 3));
    expect(renewThresholdOf(layout, limit, basisAtEnd)).toEqual(AFTER_ALL);
  });

  it.each([
    { unitMs: 1, renewThreshold: 1_065_000 - 32_500 },
    { unitMs: SECOND, renewThreshold: 1_065 - 32 },
  ])('of $unitMs ms is asked for again half a horizon before its end', ({ unitMs, renewThreshold }) => {
    const layout = tinyLayout({ unitMs });
    const now = basis({ nowMs: 1_000_000 });
    expect(renewThresholdOf(layout, nextLimit(layout, now), now)).toEqual(at(renewThreshold, -1));
  });
});

describe('a grant of hours', () => {
  it.each<{ what: string; nowMs?: number; current?: Position; used?: Position; expected: Position }>([
    { what: 'begins with a block of this tick', expected: at(100, 15) },
    { what: 'begins with a block of this tick after an older one', current: at(98, 9_000), expected: at(100, 15) },
    { what: 'goes on a block further', current: at(100, 40), expected: at(100, 56) },
    {
      what: 'stays while more than half a block is left',
      current: at(100, 15),
      used: at(100, 6),
      expected: at(100, 15),
    },
    {
      what: 'goes no further than a block past what was used',
      current: at(100, 23),
      used: at(100, 15),
      expected: at(100, 31),
    },
    { what: 'goes on when half of it is used', current: at(100, 15), used: at(100, 7), expected: at(100, 23) },
    {
      what: 'counts what was used in an older tick for nothing',
      current: at(100, 15),
      used: at(99, 400),
      expected: at(100, 15),
    },
    { what: 'ends with the tick', current: at(100, 16_380), expected: at(100, 16_383) },
    { what: 'stays at the end of the tick', current: at(100, 16_383), expected: at(100, 16_383) },
    { what: 'stays below nothing that is granted', current: at(103, 7), expected: at(103, 7) },
    { what: 'reaches into the next tick that begins within the horizon', nowMs: LATE, expected: at(101, 15) },
    { what: 'reaches there from anywhere', nowMs: LATE, current: at(100, 16_383), expected: at(101, 15) },
    { what: 'does not grow there before its time', nowMs: LATE, current: at(101, 15), expected: at(101, 15) },
    { what: 'does not reach there a moment earlier', nowMs: LATE - 1, current: at(99, 4), expected: at(100, 15) },
  ])('$what', ({ nowMs = NOW, current = BEFORE_ALL, used = current, expected }) => {
    expect(nextLimit(hours, basis({ nowMs, current, used }))).toEqual(expected);
  });

  it('is asked for again when half of its block is used', () => {
    const now = basis({ nowMs: NOW });
    expect(renewThresholdOf(hours, at(100, 15), now)).toEqual(at(100, 15 - BLOCK / 2));
    expect(renewThresholdOf(hours, at(101, 15), now)).toEqual(at(101, 15 - BLOCK / 2));
  });

  it('is not asked for again when the rest of the tick is granted', () => {
    expect(renewThresholdOf(hours, at(100, 16_383), basis({ nowMs: NOW }))).toEqual(AFTER_ALL);
  });

  it('does not reach past the end of the layout', () => {
    const layout = tinyLayout({ unitMs: HOUR, sequenceBits: 14, timeBits: 19 });
    const nowMs = layout.maxTick * HOUR + HOUR - 1;
    expect(nextLimit(layout, basis({ nowMs })).tick).toBe(layout.maxTick);
  });

  it('asks again exactly where asking yields more, at every rate and use', () => {
    const wrong: unknown[] = [];
    for (const rate of [0, 1e-4, 5e-4, 1e-3, 0.01]) {
      const limit = at(100, 600);
      for (let sequence = -1; sequence <= 600; sequence++) {
        const asked = basis({ nowMs: NOW, current: limit, used: at(100, sequence), rate });
        const renewThreshold = renewThresholdOf(hours, limit, asked);
        const yields = nextLimit(hours, asked).sequence > limit.sequence;
        if (yields !== sequence >= renewThreshold.sequence) wrong.push({ rate, sequence, yields });
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('the size of a block', () => {
  const sizeOf = (sequenceBits: number, rate: number, unitMs = HOUR): number => {
    const layout = tinyLayout({ unitMs, sequenceBits });
    return nextLimit(layout, basis({ nowMs: 100 * unitMs, rate })).sequence + 1;
  };

  it.each([
    { bits: 4, rate: 0, size: 1 },
    { bits: 10, rate: 0, size: 1 },
    { bits: 20, rate: 0, size: 1_024 },
    { bits: 20, rate: 0.001, size: 1_024 },
    { bits: 20, rate: 1, size: 130_000 },
    { bits: 20, rate: 1_000, size: 2 ** 20 },
    { bits: 28, rate: 1_000, size: 2 ** 20 },
    { bits: 30, rate: 0, size: 2 ** 20 },
    { bits: 34, rate: 0, size: 2 ** 24 },
    { bits: 34, rate: 1_000, size: 2 ** 24 },
  ])('with $bits sequence bits and $rate IDs per ms is $size', ({ bits, rate, size }) => {
    expect(sizeOf(bits, rate)).toBe(size);
  });

  it.each([HOUR, DAY])('does not depend on the unit (%d ms)', (unitMs) => {
    expect(sizeOf(20, 1, unitMs)).toBe(130_000);
  });

  it.each([
    { batch: 2, size: 4 },
    { batch: 100, size: 200 },
    { batch: 1_000, size: 1_024 },
  ])('holds two of the largest batch, of $batch', ({ batch, size }) => {
    const layout = tinyLayout({ unitMs: HOUR, sequenceBits: 10 });
    expect(nextLimit(layout, basis({ nowMs: NOW, batch })).sequence + 1).toBe(size);
  });

  it('follows the horizon: enough for twice its length', () => {
    const [horizonMs, nowMs] = [10_000, NOW];
    const layout = tinyLayout({ unitMs: HOUR, sequenceBits: 20 });
    expect(nextLimit(layout, basis({ nowMs, horizonMs, rate: 1 })).sequence + 1).toBe(20_000);
  });
});

describe('a grant of minutes', () => {
  const minutes = tinyLayout({ unitMs: MINUTE, sequenceBits: 14 });

  it('reaches at any moment into the minute in which the horizon ends', () => {
    for (let second = 0; second < 60; second++) {
      const nowMs = 100 * MINUTE + second * SECOND;
      expect(nextLimit(minutes, basis({ nowMs }))).toEqual(at(second < 55 ? 101 : 102, 15));
    }
  });

  it.each([
    { what: 'from the present', current: at(100, 15) },
    { what: 'from in between', current: at(103, 15) },
    { what: 'from there', current: at(105, 15) },
  ])('reaches there over as many as it takes, $what', ({ current }) => {
    const nowMs = 100 * MINUTE;
    expect(nextLimit(minutes, basis({ nowMs, horizonMs: 305 * SECOND, current }))).toEqual(at(105, 15));
  });

  it('is not lowered', () => {
    const current = at(107, 3);
    expect(nextLimit(minutes, basis({ nowMs: 100 * MINUTE, horizonMs: 305 * SECOND, current }))).toEqual(current);
  });
});

/** One worker; 14 sequence bits: a block is 16 of 16,384. */
const ONE_ROW = { workIdLength: 3, serviceMaxWorkId: 1 };

const MINUTES = { ...ONE_ROW, timeUnit: 'minute', timeStampLength: 45 } as const;

const HOURS = { ...ONE_ROW, timeUnit: 'hour', timeStampLength: 45 } as const;

const DAYS = { ...ONE_ROW, timeUnit: 'day', timeStampLength: 40 } as const;

/** So short that a killed holder's row comes free soon. */
const SHORT_LEASE = { leaseMs: 4_000, heartbeatIntervalMs: 1_000, opTimeoutMs: 1_000 };

const FREE_AFTER = 8_001;

const writes = (bench: KeeperBench): number => bench.store.writes.length;

const tickOf = (bench: KeeperBench, wall = bench.time.wall): number => bench.resolved.layout.timeline.tickAt(wall);

/** Processes that come one after the other on one database. */
async function generations(
  count: number,
  options: KeeperBenchOptions & { database: WorkerDatabase },
  live: (bench: KeeperBench) => Promise<void>,
): Promise<KeeperBench[]> {
  const benches: KeeperBench[] = [];
  for (let generation = 0; generation < count; generation++) {
    const bench = await KeeperBench.started(options);
    await live(bench);
    benches.push(bench);
  }
  return benches;
}

function expectNoRepeat(benches: readonly KeeperBench[]): bigint[] {
  const all = benches.flatMap((bench) => bench.issued);
  expect(new Set(all).size).toBe(all.length);
  return all;
}

describe('a worker of an hour layout', () => {
  it('holds a block of this hour, and asks for the next when half of it is used', async () => {
    const bench = await KeeperBench.started({ layout: HOURS });
    const tick = tickOf(bench);
    expect(bench.keeper.limit[0]).toEqual({ tick, sequence: 15 });
    for (let count = 0; count < 8; count++) bench.issue();
    await bench.advance(1_000);
    expect(writes(bench)).toBe(1);
    bench.issue();
    await bench.advance(20);
    expect(writes(bench)).toBe(2);
    expect(bench.keeper.limit[0]).toEqual({ tick, sequence: 24 });
  });

  it('grants nothing more to a heartbeat while more than half of the block is left', async () => {
    const bench = await KeeperBench.started({ layout: HOURS });
    for (let count = 0; count < 5; count++) bench.issue();
    await bench.advance(60_000);
    expect(writes(bench)).toBeGreaterThan(5);
    expect(bench.keeper.limit[0].sequence).toBe(15);
  });

  it('stops a burst at the end of its block, which then goes on within 20 ms', async () => {
    const bench = await KeeperBench.started({ layout: HOURS });
    for (let count = 0; count < 16; count++) bench.issue();
    expect(bench.refusal()).toBe('RESERVATION_EXHAUSTED');
    await bench.advance(20);
    expect(bench.refusal()).toBeUndefined();
    expect(new Set(bench.issued).size).toBe(17);
  });

  it.each([2, 10, 100, 1_000])(
    'gets a sync batch of %d through at the second try, and those that follow at once',
    async (count) => {
      // 10 sequence bits: a block is one ID.
      const bench = await KeeperBench.started({ layout: { ...HOURS, workIdLength: 7 } });
      const { generator } = bench;
      if (count === 1_000) {
        expect(() => generator.nextIds(count)).toThrow(ReservationExhaustedError);
        await bench.advance(20);
        expect(generator.nextIds(count)).toHaveLength(count);
        return;
      }
      const outcomes: string[] = [];
      for (let batch = 0; batch < 5; batch++) {
        try {
          bench.issued.push(...generator.nextIds(count));
          outcomes.push('issued');
        } catch (error) {
          outcomes.push((error as { errorCode: string }).errorCode);
        }
        await bench.advance(20);
      }
      expect(outcomes).toEqual(['RESERVATION_EXHAUSTED', 'issued', 'issued', 'issued', 'issued']);
      expectNoRepeat([bench]);
    },
  );

  it('refuses a sync batch that the hour has no room for', async () => {
    const bench = await KeeperBench.started({ layout: { ...HOURS, workIdLength: 7 } });
    expect(() => bench.generator.nextIds(1_025)).toThrow(ReservationExhaustedError);
    await bench.advance(20);
    expect(() => bench.generator.nextIds(1_025)).toThrow(SequenceExhaustedError);
  });

  it('gets larger blocks the faster it issues, so that an async batch goes through in a few writes', async () => {
    const bench = await KeeperBench.started({ layout: HOURS });
    const batch = bench.generator.nextIdsAsync(10_000);
    await bench.advance(200);
    expect(new Set(await batch).size).toBe(10_000);
    expect(writes(bench)).toBeLessThanOrEqual(5);
  });

  it('is sized by its fastest code', async () => {
    const bench = await KeeperBench.started({ layout: HOURS });
    bench.next();
    const slow = bench.keeper.limit[0].sequence;
    const batch = bench.generator.nextIdsAsync(100, 'fast');
    await bench.advance(200);
    expect(await batch).toHaveLength(100);
    expect(bench.keeper.limit[0].sequence).toBeGreaterThan(slow + 1_000);
    expect(bench.next()).toMatch(/:0:1$/);
  });

  it('says that the hour is used up when it is, and asks the database for nothing', async () => {
    const bench = await KeeperBench.started({ layout: HOURS });
    const batch = bench.generator.nextIdsAsync(16_384);
    await bench.advance(500);
    bench.issued.push(...(await batch));
    const before = writes(bench);
    for (let count = 0; count < 50; count++) {
      expect(bench.refusal()).toBe('SEQUENCE_EXHAUSTED');
      await bench.advance(20);
    }
    expect(writes(bench)).toBe(before);
    await bench.advance(3_600_000);
    expect(bench.next()).toMatch(/:0:0$/);
    expectNoRepeat([bench]);
  });

  it('has a block of the next hour before that begins, and goes over without a pause', async () => {
    const database = new WorkerDatabase('2026-03-01T12:58:00.000Z');
    const bench = await KeeperBench.started({ database, layout: HOURS });
    const tick = tickOf(bench);
    await bench.advance(50_000);
    expect(bench.keeper.limit[0]).toEqual({ tick, sequence: 15 });
    await bench.advance(20_000);
    expect(bench.keeper.limit[0]).toEqual({ tick: tick + 1, sequence: 15 });
    bench.store.goDown();
    bench.time.freeze(49_999);
    expect(bench.next()).toBe(`${tick}:1:0:0`);
    bench.time.freeze(1);
    expect(bench.next()).toBe(`${tick + 1}:1:0:0`);
  });

  it('issues over many hours without a failed call or a repeat', async () => {
    const bench = await KeeperBench.started({ layout: HOURS });
    for (let minute = 0; minute < 200; minute++) {
      expect(bench.refusal()).toBeUndefined();
      await bench.advance(60_000);
    }
    expectNoRepeat([bench]);
    expect(bench.issued.every((id, index) => index === 0 || id > bench.issued[index - 1]!)).toBe(true);
  });
});

describe('a worker of a minute layout', () => {
  it('has always two minutes reserved', async () => {
    const bench = await KeeperBench.started({ layout: MINUTES });
    for (let look = 0; look < 100; look++) {
      expect(bench.keeper.limit[0].tick).toBeGreaterThanOrEqual(tickOf(bench, bench.time.wall + 40_000));
      expect(bench.refusal()).toBeUndefined();
      await bench.advance(5_300);
    }
    expectNoRepeat([bench]);
  });

  it('that crashes twice has no lane left until the second minute has begun', async () => {
    const database = new WorkerDatabase();
    const options = { database, layout: MINUTES, lease: { ...SHORT_LEASE, horizonMs: 65_000 } };
    await generations(2, options, async (bench) => {
      bench.issue();
      bench.kill();
      await database.advance(FREE_AFTER);
    });
    const third = new KeeperBench(options);
    await expect(third.keeper.start()).rejects.toMatchObject({ census: { ahead: 1 } });
    await database.advance(60_000);
    const fourth = await KeeperBench.started(options);
    expect(fourth.refusal()).toBeUndefined();
  });
});

describe('a lease that is longer than the tick', () => {
  const cases = [
    { unit: 'minute', layout: MINUTES, leaseMs: 300_000 },
    { unit: 'minute', layout: MINUTES, leaseMs: 3_600_000 },
    { unit: 'hour', layout: HOURS, leaseMs: 3 * 3_600_000 },
    { unit: 'day', layout: DAYS, leaseMs: 86_400_000 },
  ];
  it.each(cases)('of $leaseMs ms carries a worker of a $unit layout to its end', async ({ layout, leaseMs }) => {
    const database = new WorkerDatabase('2026-03-01T12:59:50.000Z');
    const bench = await KeeperBench.started({ database, layout, lease: { leaseMs } });
    // Of the last tick a block is granted: 16 IDs.
    const step = leaseMs / 40;
    for (let passed = 0; passed < leaseMs - step; passed += step) {
      expect({ passed, refusal: bench.refusal() }).toEqual({ passed, refusal: undefined });
      // No renewal is made meanwhile.
      bench.time.freeze(step);
    }
    bench.time.freeze(2 * step);
    expect(bench.refusal()).toBe('LEASE_LOST');
    expectNoRepeat([bench]);
  });

  it('leaves a killed holder’s row free, and behind what he may have issued', async () => {
    const database = new WorkerDatabase();
    const options = { database, layout: MINUTES, lease: { leaseMs: 300_000 } };
    const benches = await generations(3, options, async (bench) => {
      bench.store.goDown();
      for (let minute = 0; minute < 6; minute++) {
        bench.refusal();
        await bench.advance(60_000);
      }
      bench.kill();
      await database.advance(300_000);
    });
    expect(expectNoRepeat(benches)).toHaveLength(15);
  });
});

describe('a crash and a restart, 200 times in one tick on one row', () => {
  it.each([
    { what: 'an hour', layout: HOURS, start: '2026-03-01T12:00:00.000Z', lease: SHORT_LEASE, freeAfter: FREE_AFTER },
    { what: 'a day', layout: DAYS, start: '2026-03-01T00:00:00.000Z', lease: {}, freeAfter: 120_001 },
  ])('of $what burns at most a block each, and repeats nothing', async ({ layout, start, lease, freeAfter }) => {
    const database = new WorkerDatabase(start);
    let block = 0;
    const benches = await generations(200, { database, layout, lease }, async (bench) => {
      block = Math.floor(bench.resolved.layout.idsPerTick / 1_024);
      for (let count = 0; count < 3; count++) bench.issue();
      bench.kill();
      await database.advance(freeAfter);
    });
    const last = benches.at(-1)!;
    const all = expectNoRepeat(benches);
    expect(all).toHaveLength(600);
    expect(new Set(all.map((id) => last.resolved.layout.unpack(id).tick)).size).toBe(1);
    expect(last.resolved.layout.unpack(last.issued.at(-1)!).sequence).toBeLessThan(200 * block);
    expect(all.every((id, index) => index === 0 || id > all[index - 1]!)).toBe(true);
  });
});

describe('a clean restart', () => {
  it.each([
    { unit: 'minute', layout: MINUTES },
    { unit: 'hour', layout: HOURS },
    { unit: 'day', layout: DAYS },
  ])('in one $unit goes on with the next sequence, however often', async ({ layout }) => {
    const database = new WorkerDatabase();
    const benches = await generations(runs(1_000), { database, layout }, async (bench) => {
      bench.issue();
      bench.issue();
      await bench.keeper.close();
    });
    const places = benches.flatMap((bench) => bench.issued.map((id) => bench.at(id)));
    const tick = tickOf(benches[0]!);
    expect(places).toEqual(places.map((_, sequence) => `${tick}:1:0:${sequence}`));
  });

  it('of a process that issued nothing burns nothing', async () => {
    const database = new WorkerDatabase();
    await generations(50, { database, layout: HOURS }, (bench) => bench.keeper.close());
    expect((await KeeperBench.started({ database, layout: HOURS })).next()).toMatch(/:0:0$/);
  });

  it('at the end of an hour does not use the next one up', async () => {
    const database = new WorkerDatabase('2026-03-01T12:59:30.000Z');
    const benches = await generations(5, { database, layout: HOURS }, async (bench) => {
      bench.issue();
      await bench.keeper.close();
    });
    expect(benches.map((bench) => bench.at(bench.issued[0]!).slice(-4))).toEqual([0, 1, 2, 3, 4].map((n) => `:0:${n}`));
    expect(database.row(1).odometers[0]).toEqual({ ms: Date.parse('2026-03-01T12:00:00.000Z'), sequence: 4 });
  });
});

describe.each([
  { what: 'an hour', layout: HOURS, end: '2026-03-01T13:00:00.000Z', block: 16 },
  { what: 'a day', layout: DAYS, end: '2026-03-02T00:00:00.000Z', block: 512 },
])('crashes at the end of $what', ({ layout, end, block }) => {
  const lease = { ...SHORT_LEASE, horizonMs: 65_000 };
  const crash = async (database: WorkerDatabase, times: number): Promise<KeeperBench[]> =>
    generations(times, { database, layout, lease }, async (bench) => {
      bench.issue();
      bench.kill();
      await database.advance(FREE_AFTER);
    });

  it('take one lane each: the second is served by the other one', async () => {
    const database = new WorkerDatabase(Date.parse(end) - 60_000);
    const benches = await crash(database, 2);
    expect(benches.map((bench) => bench.resolved.layout.unpack(bench.issued[0]!).clockBack)).toEqual([0, 1]);
    expectNoRepeat(benches);
  });

  it('make the row useless until the next one begins, when there are two', async () => {
    const database = new WorkerDatabase(Date.parse(end) - 60_000);
    const benches = await crash(database, 2);
    const refused = new KeeperBench({ database, layout, lease });
    await expect(refused.keeper.start()).rejects.toMatchObject({
      errorCode: 'NO_FREE_WORKER',
      census: { total: 1, live: 0, ahead: 1 },
    });
    const waiter = new KeeperBench({ database, layout, lease: { ...lease, waitForWorkerMs: 60_000 } });
    const starting = waiter.keeper.start();
    await database.advance(Date.parse(end) - database.time.wall - 1);
    expect(waiter.refusal()).toBe('NOT_READY');
    await database.advance(802);
    await starting;
    expect(waiter.next()).toBe(`${tickOf(waiter)}:1:0:${block}`);
    expectNoRepeat([...benches, waiter]);
  });
});
