import fc from 'fast-check';
import { ClockMovedBackError, SequenceExhaustedError } from '../generator/generator-errors.js';
import type { GeneratorOptions } from '../generator/generator-options.js';
import { SnowflakeGenerator } from '../generator/snowflake-generator.js';
import { StaticTenure } from '../generator/tenure.js';
import { InvalidPartError } from '../layout/layout-errors.js';
import { thrownBy, tinyLayout } from '../../../../test/support/engine/generator-bench.js';
import { VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import { SHORT_ID_CYCLE_MS, shortIdLayout, type ShortIdOptions } from './short-id.js';
import { RepeatGuard, ShortIdGenerator, ShortIdRepeatError } from './short-id-generator.js';

const EPOCH_MS = 1_490_346_283_706;

const START_MS = Date.parse('2026-03-01T12:00:00Z');

/** The first moment of a cycle. */
const ZERO_MS = START_MS - ((START_MS - EPOCH_MS) % SHORT_ID_CYCLE_MS);

interface Given extends ShortIdOptions {
  wall?: number;
  workerId?: number;
  generator?: GeneratorOptions;
}

function bench({ wall = START_MS, workerId = 1, generator = {}, ...options }: Given = {}) {
  const time = new VirtualTime(wall);
  const tenure = new StaticTenure(workerId);
  const source = new SnowflakeGenerator({ layout: shortIdLayout, tenure, options: generator }, time);
  const ids = new ShortIdGenerator(source, options, time);
  /** Milliseconds of the cycle, worker and sequence. */
  const next = (): string => {
    const { time: at, workerId: worker, sequence } = ids.decode(ids.next());
    return `${at.getTime() - START_MS}:${worker}:${sequence}`;
  };
  return { time, source, ids, next };
}

describe('short IDs', () => {
  it('count up inside a millisecond and begin anew with the next', () => {
    const { time, ids, next } = bench({ workerId: 5 });
    expect(ids.next()).toBe(((START_MS - EPOCH_MS) % 2 ** 21) * 1_024 + 5 * 32);
    expect([next(), next()]).toEqual(['0:5:1', '0:5:2']);
    time.freeze(1);
    expect(next()).toBe('1:5:0');
    expect(ids).toMatchObject({ expireSeconds: 2_037, maxExpireSeconds: 2_097 });
  });

  it.each([0, 1, 7])('are never 0, %i cycles after the epoch', async (cycles) => {
    const wall = EPOCH_MS + cycles * SHORT_ID_CYCLE_MS;
    expect(bench({ wall, workerId: 0 }).ids.next()).toBe(1);
    expect(await bench({ wall, workerId: 0 }).ids.nextAsync()).toBe(1);
    expect(bench({ wall, workerId: 1 }).ids.next()).toBe(32);
  });

  it('go on over the end of a cycle', () => {
    const { time, ids } = bench({ wall: ZERO_MS - 1, workerId: 0 });
    expect(ids.next()).toBe((2 ** 21 - 1) * 1_024);
    time.freeze(1);
    expect([ids.next(), ids.next()]).toEqual([1, 2]);
  });

  it('are 32 a millisecond and some borrowed ones; then sync calls throw and async ones wait', async () => {
    const { time, ids } = bench();
    const numbers = Array.from({ length: 6 * 32 }, () => ids.next());
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(thrownBy(() => ids.next())).toBeInstanceOf(SequenceExhaustedError);
    const waiting = ids.nextAsync();
    await time.advance(1);
    expect(numbers).not.toContain(await waiting);
    expect(ids.decode(await waiting).time).toEqual(new Date(START_MS + 6));
  });

  it('follow the policy of their source', () => {
    const { ids } = bench({ generator: { onExhausted: 'throw' } });
    for (let count = 0; count < 32; count++) ids.next();
    expect(thrownBy(() => ids.next())).toBeInstanceOf(SequenceExhaustedError);
  });

  it('are held while the clock is a little behind, and refused until it has caught up', async () => {
    const { time, ids, next } = bench();
    expect(next()).toBe('0:1:0');
    time.step(-10_000);
    expect(next()).toBe('0:1:1');
    await time.advance(2_000);
    expect(next()).toBe('0:1:2');
    await time.advance(2_000);
    expect(thrownBy(() => ids.next())).toBeInstanceOf(ClockMovedBackError);
    await time.advance(6_001);
    expect(next()).toBe('1:1:0');
  });

  it('wait for a clock that is behind when called so', async () => {
    const { time, ids } = bench();
    ids.next();
    time.step(-10_000);
    await time.advance(1);
    const waiting = ids.nextAsync({ timeoutMs: 20_000 });
    await time.advance(10_000);
    expect(ids.decode(await waiting).workerId).toBe(1);
  });

  it('are refused when the clock leaps forward, and go on at once when it is set right', async () => {
    const { time, ids, next } = bench();
    expect(next()).toBe('0:1:0');
    time.freeze(1_000);
    time.step(600_000);
    const error = thrownBy(() => ids.next());
    expect(error).toBeInstanceOf(ShortIdRepeatError);
    expect(error).toMatchObject({ errorCode: 'SHORT_ID_REPEAT', retryable: true, expireSeconds: 2_037 });
    expect(error).toMatchObject({ blockedMs: 2_036_000 });
    await expect(ids.nextAsync()).rejects.toBeInstanceOf(ShortIdRepeatError);
    time.step(-600_000);
    expect(next()).toBe('1000:1:0');
  });

  it('go on after a leap when what was issued before has expired', () => {
    const { time, ids } = bench({ expireSeconds: 1_000 });
    ids.next();
    time.step(1_097_153);
    expect(thrownBy(() => ids.next())).toBeInstanceOf(ShortIdRepeatError);
    time.freeze(999_999);
    expect(thrownBy(() => ids.next())).toBeInstanceOf(ShortIdRepeatError);
    time.freeze(1);
    expect(ids.next()).toBeGreaterThan(0);
  });

  it('may leap as far as the expiry leaves room', () => {
    const { time, ids } = bench({ expireSeconds: 600 });
    ids.next();
    time.step(SHORT_ID_CYCLE_MS - 600_000);
    expect(ids.next()).toBeGreaterThan(0);
    expect(thrownBy(() => (time.step(1), ids.next()))).toBeInstanceOf(ShortIdRepeatError);
  });

  it('are the business of all generators of a source: what one has issued no other repeats', () => {
    const { time, source, ids } = bench({ expireSeconds: 1_000 });
    const other = new ShortIdGenerator(source, { expireSeconds: 600 }, time);
    const issued = new Set(Array.from({ length: 32 }, () => ids.next()));
    time.step(SHORT_ID_CYCLE_MS);
    expect(thrownBy(() => other.next())).toMatchObject({ errorCode: 'SHORT_ID_REPEAT', expireSeconds: 1_000 });
    // The longest expiry counts, whichever generator is asked.
    time.freeze(999_999);
    expect(thrownBy(() => other.next())).toBeInstanceOf(ShortIdRepeatError);
    time.freeze(1);
    expect(issued.has(other.next())).toBe(false);
    time.step(SHORT_ID_CYCLE_MS - 1_000_000);
    expect(ids.next()).toBeGreaterThan(0);
    // The negative control: of another source it knows nothing.
    const [first, second] = [bench(), bench({ wall: START_MS + SHORT_ID_CYCLE_MS })];
    expect(second.ids.next()).toBe(first.ids.next());
  });

  it('have fresh times also where a turn of the event loop shares one value of the clock', () => {
    const time = new VirtualTime(START_MS);
    const clock = { ...time.clock, share: () => 256 };
    const ports = { clock, monotonic: time.monotonic, randomness: time.randomness, timers: time };
    const source = new SnowflakeGenerator({ layout: shortIdLayout, tenure: new StaticTenure(1) }, ports);
    const ids = new ShortIdGenerator(source, {}, time);
    ids.next();
    time.freeze(5_000);
    expect(source.parse(source.nextId()).time).toEqual(new Date(START_MS));
    expect(ids.decode(ids.next()).time).toEqual(new Date(START_MS + 5_000));
  });

  it('say when they were issued, by default as seen from now', () => {
    const { time, ids } = bench({ expireSeconds: 1_800 });
    const shortId = ids.next();
    time.freeze(1_799_000);
    expect(ids.decode(shortId).time).toEqual(new Date(START_MS));
    time.freeze(86_400_000);
    expect(ids.decode(shortId, new Date(START_MS + 60_000)).time).toEqual(new Date(START_MS));
  });

  it.each([tinyLayout(), tinyLayout({ clockBack: false })])('come from their own layout only', (layout) => {
    const source = new SnowflakeGenerator({ layout, tenure: new StaticTenure(1) }, new VirtualTime(START_MS));
    expect(() => new ShortIdGenerator(source)).toThrow(/source\.layout.*shortIdLayout.*0 to 31/);
  });

  it('come from workers up to 31 only', () => {
    expect(bench({ workerId: 31 }).next()).toBe('0:31:0');
    expect(thrownBy(() => bench({ workerId: 32 }).next())).toBeInstanceOf(InvalidPartError);
  });

  it.each([0, 2_098, 1.5, '60'])('do not expire after %p s', (expireSeconds) => {
    expect(() => bench({ expireSeconds: expireSeconds as number })).toThrow('expireSeconds');
  });

  it('know the clocks of the host they run on', () => {
    const ports = { ...new VirtualTime(0), clock: { now: Date.now, refresh: Date.now }, monotonic: performance };
    const time = new VirtualTime(0);
    const source = new SnowflakeGenerator(
      { layout: shortIdLayout, tenure: new StaticTenure(3) },
      { ...ports, randomness: time.randomness, timers: time },
    );
    const ids = new ShortIdGenerator(source);
    const before = Date.now();
    const { time: at, workerId } = ids.decode(ids.next());
    expect(workerId).toBe(3);
    expect(at.getTime()).toBeGreaterThan(before - 1_000);
    expect(at.getTime()).toBeLessThanOrEqual(Date.now());
  });
});

const CYCLE_MS = 200;

const KEEP_MS = 150;

const happening = fc.record({
  /** Time that really passes. */
  ms: fc.integer({ min: 1, max: 12 }),
  /** What the clock is set forward, or how far it runs ahead, by. */
  leapMs: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: -40, max: 260 }) },
  ),
});

interface Tried {
  readonly nowMs: number;
  readonly timeMs: number;
  readonly blockedMs: number;
}

/** Issues at every happening; times in numbers never fall, as those of a lane. */
function run(happenings: readonly { ms: number; leapMs: number }[], isGuarded = true) {
  const guard = new RepeatGuard(CYCLE_MS, KEEP_MS);
  const tried: Tried[] = [];
  let [nowMs, leadMs, timeMs] = [0, 1_000, 0];
  for (const { ms, leapMs } of happenings) {
    nowMs += ms;
    leadMs += leapMs;
    timeMs = Math.max(timeMs + 1, nowMs + leadMs);
    const blockedMs = isGuarded ? guard.blockedMs(timeMs, nowMs) : 0;
    if (blockedMs === 0) guard.note(timeMs, nowMs);
    tried.push({ nowMs, timeMs, blockedMs });
  }
  return tried;
}

function repeatsTooSoon(tried: readonly Tried[]): boolean {
  const lastMs = new Map<number, number>();
  return tried.some(({ nowMs, timeMs, blockedMs }) => {
    if (blockedMs > 0) return false;
    const number = timeMs % CYCLE_MS;
    const before = lastMs.get(number) ?? Number.NEGATIVE_INFINITY;
    lastMs.set(number, nowMs);
    return nowMs - before < KEEP_MS;
  });
}

const happenings = fc.array(happening, { minLength: 5, maxLength: 200, size: 'max' });

describe('the guard against repeats', () => {
  it('lets no number come again too soon, whatever the clock does', () => {
    let blocked = 0;
    fc.assert(
      fc.property(happenings, (each) => {
        const tried = run(each);
        blocked += tried.filter(({ blockedMs }) => blockedMs > 0).length;
        expect(repeatsTooSoon(tried)).toBe(false);
      }),
      { seed: 8, numRuns: 2_000 },
    );
    expect(blocked).toBeGreaterThan(1_000);
  });

  it('is needed for that: the test can fail', () => {
    const samples = fc.sample(happenings, { seed: 8, numRuns: 200 });
    expect(samples.filter((each) => repeatsTooSoon(run(each, false))).length).toBeGreaterThan(20);
  });

  it('never blocks while the clock runs as time does', () => {
    const samples = fc.sample(fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 500, maxLength: 500 }), 20);
    for (const each of samples) {
      expect(run(each.map((ms) => ({ ms, leapMs: 0 }))).every(({ blockedMs }) => blockedMs === 0)).toBe(true);
    }
  });

  it('says for how long it blocks, a little more than needed at most', () => {
    const guard = new RepeatGuard(CYCLE_MS, KEEP_MS);
    guard.note(1_000, 0);
    guard.note(1_010, 10);
    expect(guard.blockedMs(1_070, 20)).toBe(0);
    expect(guard.blockedMs(1_071, 20)).toBe(140);
    expect([guard.blockedMs(1_210, 159), guard.blockedMs(1_211, 160)]).toEqual([1, 0]);
  });

  it('keeps a handful of numbers in mind while a clock drifts', () => {
    const guard = new RepeatGuard(2_097_152, 2_037_000);
    for (let nowMs = 0; nowMs < 10_000_000; nowMs += 1_000) {
      const timeMs = nowMs * 1.01;
      expect(guard.blockedMs(timeMs, nowMs)).toBe(0);
      guard.note(timeMs, nowMs);
    }
    expect((guard as unknown as { stretches: unknown[] }).stretches.length).toBeLessThan(10);
  });
});
