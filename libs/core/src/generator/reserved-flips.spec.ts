import { GeneratorBench, thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { ClockMovedBackError, ReservationExhaustedError } from './generator-errors.js';
import { BEFORE_ALL, type Position } from './tenure.js';

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

  it('does not happen where somebody was already', () => {
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
