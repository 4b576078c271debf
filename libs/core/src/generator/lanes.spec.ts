import { GeneratorBench, thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { settle } from '../../../../test/support/engine/virtual-time.js';
import { ClockBeforeEpochError, TimestampOverflowError } from '../layout/layout-errors.js';
import { ClockMovedBackError, ReservationExhaustedError } from './generator-errors.js';
import type { GeneratorOptions } from './generator-options.js';
import { BEFORE_ALL, type Lane, type Position } from './tenure.js';

/** A generator that has been at 1,000 s on lane 0 and at 990 s on lane 1, with the clock now at 980 s. */
function goneBackTwice(options: GeneratorOptions = {}, more: { clockBack?: boolean } = {}): GeneratorBench {
  const bench = new GeneratorBench({ options, ...more });
  bench.next();
  bench.time.step(-10_000);
  if (more.clockBack !== false) bench.next();
  bench.time.step(-10_000);
  return bench;
}

describe('a clock that went back', () => {
  it.each<{ first: Lane; second: Lane }>([
    { first: 0, second: 1 },
    { first: 1, second: 0 },
  ])('turns the bit $first to $second at once, and back the next time', ({ first, second }) => {
    const bench = new GeneratorBench({ tenure: { lane: first } });
    expect(bench.next()).toBe(`1000000:${first}:0`);
    bench.time.step(-100);
    expect(bench.take(2)).toEqual([`999900:${second}:0`, `999900:${second}:1`]);
    bench.time.freeze(300);
    expect(bench.next()).toBe(`1000200:${second}:0`);
    bench.time.step(-100);
    expect(bench.next()).toBe(`1000100:${first}:0`);
    expect(bench.generator.counters).toMatchObject({ flips: 2, holds: 0, issued: 5 });
  });

  it('changes nothing while its lane has nothing at or above the present', () => {
    const bench = new GeneratorBench();
    bench.next();
    bench.time.freeze(1_000);
    expect(() => bench.generator.nextIds(100_001)).toThrow();
    bench.time.step(-500);
    expect(bench.next()).toBe('1000500:0:0');
    expect(bench.generator.counters.flips).toBe(0);
  });

  it('changes nothing inside one tick', () => {
    const bench = new GeneratorBench({ unitMs: 1_000, wall: 1_000_900 });
    bench.next();
    bench.time.step(-900);
    expect(bench.next()).toBe('1000:0:1');
    expect(bench.generator.counters.flips).toBe(0);
  });

  it('is not seen in a tick that was borrowed ahead of a healthy clock', () => {
    const bench = new GeneratorBench();
    expect(bench.take(20).at(-1)).toBe('1000004:0:3');
    bench.time.freeze(1);
    expect(bench.take(8).at(-1)).toBe('1000006:0:3');
    bench.time.freeze(1);
    expect(bench.take(3)).toEqual(['1000007:0:0', '1000007:0:1', '1000007:0:2']);
    expect(bench.generator.counters).toMatchObject({ flips: 0, holds: 0 });
  });

  it('is seen below the highest wall clock though a borrowed tick is far above both', () => {
    const bench = new GeneratorBench({ options: { maxAheadMs: 1_000 } });
    bench.take(400);
    bench.time.step(-1);
    expect(bench.next()).toBe('999999:1:0');
  });

  it('flips one code after another, each by itself, and the plain sequence apart from them', () => {
    const bench = new GeneratorBench();
    expect([bench.next(), bench.next('a'), bench.next('b')]).toEqual(['1000000:0:0', '1000000:0:0', '1000000:0:0']);
    bench.time.step(-100);
    expect([bench.next('a'), bench.next('new')]).toEqual(['999900:1:0', '999900:0:0']);
    expect(bench.generator.counters.flips).toBe(1);
    bench.time.step(-100);
    expect([bench.next(), bench.next('new')]).toEqual(['999800:1:0', '999800:1:0']);
    expect(bench.next('a')).toBe('999900:1:1');
    bench.time.step(300);
    expect([bench.next('b'), bench.next(), bench.next('a'), bench.next('new')]).toEqual([
      '1000100:0:0',
      '1000100:1:0',
      '1000100:1:0',
      '1000100:1:0',
    ]);
  });

  it('flips in the middle of a sync batch', () => {
    const bench = new GeneratorBench();
    const refresh = jest.spyOn(bench.time.clock, 'refresh');
    refresh.mockReturnValueOnce(1_000_000).mockReturnValue(999_000);
    const places = bench.generator.nextIds(6).map((id) => bench.at(id));
    expect(places).toEqual(['1000000:0:0', '1000000:0:1', '1000000:0:2', '1000000:0:3', '999000:1:0', '999000:1:1']);
  });
});

describe('a clock that went back where both lanes have been', () => {
  it('is held against: the lane counts on in its last tick and as far as time has passed', () => {
    const bench = goneBackTwice({ maxAheadMs: 0, onExhausted: 'borrow' });
    expect(bench.take(7)).toEqual(
      [1, 2, 3].map((n) => `990000:1:${n}`).concat([0, 1, 2, 3].map((n) => `990001:1:${n}`)),
    );
    expect(thrownBy(() => bench.next())).toMatchObject({ errorCode: 'SEQUENCE_EXHAUSTED' });
    bench.time.freeze(2);
    expect(bench.take(8).at(-1)).toBe('990003:1:3');
    expect(bench.generator.counters.flips).toBe(1);
    expect(bench.generator.counters.holds).toBeGreaterThan(0);
  });

  it.each([
    { maxHoldMs: undefined, holds: 3_000 },
    { maxHoldMs: 500, holds: 500 },
    { maxHoldMs: 0, holds: 0 },
  ])('is held against for maxHoldMs ($holds ms), then refused', ({ maxHoldMs, holds }) => {
    const bench = goneBackTwice(maxHoldMs === undefined ? {} : { maxHoldMs });
    expect(bench.next()).toBe('990000:1:1');
    bench.time.freeze(holds);
    expect(bench.next()).toBe('990000:1:2');
    bench.time.freeze(1);
    const error = thrownBy(() => bench.next());
    expect(error).toBeInstanceOf(ClockMovedBackError);
    expect(error).toMatchObject({
      errorCode: 'CLOCK_MOVED_BACK',
      lastTick: 990_000,
      tick: 980_000 + holds + 1,
      behindMs: 10_000 - holds - 1,
      retryable: true,
    });
    bench.time.setWall(990_000);
    expect(bench.next()).toBe('990000:1:3');
  });

  it('starts a new hold after it has caught up', () => {
    const bench = goneBackTwice();
    bench.next();
    bench.time.freeze(2_999);
    bench.time.setWall(990_000);
    expect(bench.next()).toBe('990000:1:2');
    bench.time.setWall(985_000);
    bench.time.freeze(2_000);
    expect(bench.next()).toBe('990000:1:3');
  });

  it('is waited for by the async call', async () => {
    const bench = goneBackTwice({ asyncTimeoutMs: 60_000 });
    bench.next();
    bench.time.freeze(3_001);
    let id: bigint | undefined;
    const waiting = bench.generator.nextIdAsync().then((value) => (id = value));
    await bench.time.advance(6_998);
    expect(id).toBeUndefined();
    await bench.time.advance(1);
    await waiting;
    expect(bench.at(id!)).toBe('990000:1:2');
  });

  it('is seen within a tenth of a second when the clock is set right early', async () => {
    const bench = goneBackTwice({ maxHoldMs: 0 });
    bench.next();
    bench.time.freeze(1);
    const waiting = bench.generator.nextIdAsync();
    await settle();
    bench.time.setWall(2_000_000);
    await bench.time.advance(100);
    expect(bench.at(await waiting)).toBe('2000100:1:0');
  });

  it('rejects the async call at once under throw', async () => {
    const bench = goneBackTwice({ maxHoldMs: 0, onClockBack: 'throw' });
    bench.next();
    bench.time.freeze(1);
    await expect(bench.generator.nextIdAsync()).rejects.toBeInstanceOf(ClockMovedBackError);
  });

  it('ends a hold also for calls whose failed batches are put back', () => {
    const bench = goneBackTwice();
    for (let ms = 0; ms <= 3_000; ms += 1_000) {
      expect(thrownBy(() => bench.generator.nextIds(90_000))).toMatchObject({ errorCode: 'SEQUENCE_EXHAUSTED' });
      bench.time.freeze(1_000);
    }
    expect(() => bench.generator.nextIds(90_000)).toThrow(ClockMovedBackError);
  });
});

describe('a layout without a clock-back bit', () => {
  it('never flips: it holds, then refuses', () => {
    const bench = goneBackTwice({}, { clockBack: false });
    expect(bench.take(2)).toEqual(['1000000:0:1', '1000000:0:2']);
    bench.time.freeze(3_001);
    expect(() => bench.next()).toThrow(ClockMovedBackError);
    expect(bench.generator.counters.flips).toBe(0);
    expect(bench.tenure.requests).toEqual([]);
  });

  it('asks for no flip either when its reservation is used up', () => {
    const limit = { tick: 1_000_000, sequence: 1 };
    const bench = new GeneratorBench({ clockBack: false, tenure: { limit: [limit, limit] } });
    bench.take(2);
    expect(thrownBy(() => bench.next())).toMatchObject({ errorCode: 'RESERVATION_EXHAUSTED' });
    expect(bench.tenure.requests).toEqual(['extension']);
  });
});

const end = (tick: number): Position => ({ tick, sequence: 3 });

/** Lane 0 is reserved up to 1,000,500; lane 1 was last reserved, and left, at 900,000. */
function leased(): GeneratorBench {
  return new GeneratorBench({
    tenure: { base: [BEFORE_ALL, end(900_000)], limit: [end(1_000_500), end(900_000)] },
  });
}

describe('a flip to a lane that is not reserved', () => {
  it('is asked for, and meanwhile the generator holds', () => {
    const bench = leased();
    bench.next();
    bench.time.step(-100);
    expect(bench.next()).toBe('1000000:0:1');
    expect(bench.tenure.requests).toEqual(['flip 1']);
    expect(bench.generator.counters).toMatchObject({ flips: 0, holds: 1 });
  });

  it('counts on into the reserved ticks meanwhile, and not past them', () => {
    const bench = leased();
    bench.next();
    bench.time.step(-100);
    bench.tenure.change({ flipping: true });
    bench.take(23);
    expect(thrownBy(() => bench.next())).toMatchObject({ errorCode: 'SEQUENCE_EXHAUSTED' });
    bench.time.freeze(2);
    expect(bench.take(8).at(-1)).toBe('1000007:0:3');
    bench.tenure.change({ limit: [end(1_000_008), end(900_000)] });
    bench.time.freeze(50);
    expect(bench.take(4).at(-1)).toBe('1000008:0:3');
    expect(() => bench.next()).toThrow(ReservationExhaustedError);
    expect(bench.tenure.requests).toContain('extension');
  });

  it('holds for longer than maxHoldMs while the write is under way, and no longer without it', () => {
    const bench = leased();
    bench.next();
    bench.time.step(-1_000_000);
    bench.tenure.change({ flipping: true });
    bench.next();
    bench.time.freeze(60_000);
    expect(bench.next()).toBe('1000000:0:2');
    bench.tenure.change({ flipping: false });
    expect(() => bench.next()).toThrow(ClockMovedBackError);
  });

  it('happens with the next call after it was reserved', () => {
    const bench = leased();
    bench.next();
    bench.time.step(-100);
    bench.next();
    bench.tenure.change({ lane: 1, limit: [end(1_000_500), end(1_000_400)] });
    expect(bench.take(2)).toEqual(['999900:1:0', '999900:1:1']);
    expect(bench.generator.counters.flips).toBe(1);
  });

  it('starts after what is burnt of the other lane', () => {
    const bench = leased();
    bench.next();
    bench.time.step(-100);
    bench.tenure.change({
      lane: 1,
      base: [BEFORE_ALL, { tick: 999_899, sequence: 3 }],
      limit: [end(1_000_500), end(1_000_400)],
    });
    expect(bench.next()).toBe('999900:1:0');
  });

  it('does not happen on a lane that was used already', () => {
    const bench = leased();
    bench.next();
    bench.time.step(-100);
    bench.tenure.change({
      base: [BEFORE_ALL, { tick: 999_900, sequence: 0 }],
      limit: [end(1_000_500), end(1_000_400)],
    });
    expect(bench.next()).toBe('1000000:0:1');
    expect(bench.tenure.requests).toEqual([]);
    bench.time.freeze(1);
    expect(bench.next()).toBe('999901:1:0');
  });

  it('releases an async call as soon as it is reserved', async () => {
    const bench = leased();
    bench.next();
    bench.time.step(-100_000);
    bench.next();
    bench.time.freeze(3_001);
    const waiting = bench.generator.nextIdAsync();
    await bench.time.advance(5);
    bench.tenure.change({ lane: 1, limit: [end(1_000_500), end(1_000_400)] });
    expect(bench.at(await waiting)).toBe('903006:1:0');
    expect(bench.tenure.requests.at(-1)).toBe('flip 1');
  });

  it('keeps the fields of its errors when the tenure answers the request at once', () => {
    const bench = leased();
    bench.next();
    bench.time.step(-50_000);
    jest.spyOn(bench.tenure, 'requestFlip').mockImplementation(() => bench.tenure.change({}));
    bench.next();
    bench.time.freeze(3_001);
    expect(thrownBy(() => bench.next())).toMatchObject({ tick: 953_001, behindMs: 1_000_000 - 953_001 });
  });
});

describe('a code that was left on the old lane', () => {
  /** `b` is on lane 0; `a` took the worker over to lane 1, which alone is extended from now on. */
  function divided(): GeneratorBench {
    const bench = leased();
    bench.next('a');
    bench.next('b');
    bench.time.step(-100);
    bench.next('a');
    bench.tenure.change({ lane: 1, limit: [end(1_000_500), end(1_000_400)] });
    bench.next('a');
    bench.time.setWall(1_000_300);
    return bench;
  }

  it('stays there as long as its reservation lasts, and new codes start on the current lane', () => {
    const bench = divided();
    expect([bench.next('a'), bench.next('b'), bench.next('c')]).toEqual(['1000300:1:0', '1000300:0:0', '1000300:1:0']);
  });

  it('moves over when its limit has passed', () => {
    const bench = divided();
    bench.next('b');
    bench.tenure.change({ limit: [end(1_000_500), end(2_000_000)] });
    bench.tenure.requests.length = 0;
    bench.time.setWall(1_000_500);
    expect(bench.take(4, 'b').at(-1)).toBe('1000500:0:3');
    expect(bench.next('b')).toBe('1000500:1:0');
    bench.time.setWall(1_000_700);
    expect(bench.next('b')).toBe('1000700:1:0');
    expect(bench.tenure.requests).toEqual([]);
  });

  it('asks for the current lane when that one is not reserved up to now', () => {
    const bench = divided();
    bench.time.setWall(1_000_700);
    bench.tenure.requests.length = 0;
    expect(() => bench.next('b')).toThrow(ReservationExhaustedError);
    expect(bench.tenure.requests).toContain('flip 1');
    bench.tenure.change({ limit: [end(1_000_500), end(2_000_000)] });
    expect(bench.next('b')).toBe('1000700:1:0');
  });

  it('asks for its own lane when the other one is ahead of the clock', () => {
    const bench = divided();
    bench.next('b');
    bench.tenure.change({ base: [BEFORE_ALL, end(1_000_900)], limit: [end(1_000_500), end(2_000_000)] });
    bench.time.setWall(1_000_600);
    bench.tenure.requests.length = 0;
    expect(() => bench.next('b')).toThrow(ReservationExhaustedError);
    expect(bench.tenure.requests).toContain('flip 0');
    bench.tenure.change({ lane: 0, limit: [end(2_000_000), end(2_000_000)] });
    expect(bench.next('b')).toBe('1000600:0:0');
  });
});

describe('a clock past the timestamp bits', () => {
  it.each([1, 1_000, 60_000, 3_600_000, 86_400_000])('is refused for good (%i ms a tick)', async (unitMs) => {
    const bench = new GeneratorBench({ unitMs, timeBits: 8, wall: 255 * unitMs });
    expect(bench.next()).toBe('255:0:0');
    bench.time.freeze(unitMs);
    const error = thrownBy(() => bench.next());
    expect(error).toBeInstanceOf(TimestampOverflowError);
    expect(error).toMatchObject({ errorCode: 'TIMESTAMP_OVERFLOW', tick: 256, maxTick: 255, retryable: false });
    await expect(bench.generator.nextIdAsync()).rejects.toBeInstanceOf(TimestampOverflowError);
    expect(() => bench.generator.nextIds(2)).toThrow(TimestampOverflowError);
    expect(bench.generator.counters.issued).toBe(1);
  });

  it('is refused for a tick that would be borrowed from beyond the end', () => {
    const bench = new GeneratorBench({ timeBits: 8, wall: 255 });
    expect(bench.take(4).at(-1)).toBe('255:0:3');
    expect(() => bench.next()).toThrow(TimestampOverflowError);
    expect(() => bench.next()).toThrow(TimestampOverflowError);
    expect(bench.generator.counters.issued).toBe(4);
  });

  it('fills the ID up to its last bit', () => {
    const bench = new GeneratorBench({ timeBits: 57, wall: 8_640_000_000_000_000, tenure: { workerId: 7 } });
    expect(bench.next()).toBe('8640000000000000:0:0');
  });

  it('gives IDs again when it is set right', () => {
    const bench = new GeneratorBench({ timeBits: 8, wall: 300 });
    expect(() => bench.next()).toThrow(TimestampOverflowError);
    bench.time.setWall(200);
    expect(bench.next()).toBe('200:0:0');
  });
});

describe('a clock before the epoch', () => {
  it.each([1, 1_000, 60_000, 3_600_000, 86_400_000])('is refused until it is set right (%i ms a tick)', (unitMs) => {
    const bench = new GeneratorBench({ unitMs, epochMs: 10 * unitMs, wall: 10 * unitMs - 1 });
    const error = thrownBy(() => bench.next());
    expect(error).toBeInstanceOf(ClockBeforeEpochError);
    expect(error).toMatchObject({
      errorCode: 'CLOCK_BEFORE_EPOCH',
      nowMs: 10 * unitMs - 1,
      epochMs: 10 * unitMs,
      retryable: true,
    });
    bench.time.freeze(1);
    expect(bench.next()).toBe('0:0:0');
  });

  it('counts from the start of the unit that the epoch lies in', () => {
    const bench = new GeneratorBench({ unitMs: 1_000, epochMs: 10_500, wall: 9_999 });
    expect(() => bench.next()).toThrow(ClockBeforeEpochError);
    bench.time.freeze(1);
    expect(bench.next()).toBe('0:0:0');
  });

  it('is waited for by the async call', async () => {
    const bench = new GeneratorBench({ epochMs: 1_000, wall: 950 });
    const waiting = bench.generator.nextIdAsync();
    await bench.time.advance(100);
    expect(bench.at(await waiting)).toBe('50:0:0');
  });

  it('after a rollback repeats nothing', () => {
    const bench = new GeneratorBench({ epochMs: 1_000, wall: 1_500 });
    const before = bench.take(4);
    bench.time.setWall(900);
    expect(() => bench.next()).toThrow(ClockBeforeEpochError);
    expect(() => bench.next()).toThrow(ClockBeforeEpochError);
    bench.time.setWall(1_500);
    const after = bench.take(8);
    bench.time.setWall(1_499);
    after.push(...bench.take(4));
    expect(new Set([...before, ...after]).size).toBe(16);
  });
});
