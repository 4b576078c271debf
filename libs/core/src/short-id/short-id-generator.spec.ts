import { ClockMovedBackError, SequenceExhaustedError } from '../generator/generator-errors.js';
import type { GeneratorOptions } from '../generator/generator-options.js';
import { SnowflakeGenerator } from '../generator/snowflake-generator.js';
import { StaticTenure } from '../generator/tenure.js';
import { InvalidPartError } from '../layout/layout-errors.js';
import { thrownBy, tinyLayout } from '../../../../test/support/engine/generator-bench.js';
import { VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import { SHORT_ID_CYCLE_MS, shortIdLayout, type ShortIdOptions } from './short-id.js';
import { ShortIdGenerator, ShortIdRepeatError } from './short-id-generator.js';

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
