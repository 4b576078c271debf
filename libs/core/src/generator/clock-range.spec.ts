import { ClockBeforeEpochError, TimestampOverflowError } from '../layout/layout-errors.js';
import { GeneratorBench, thrownBy } from '../../../../test/support/engine/generator-bench.js';

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
