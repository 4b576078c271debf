import { ClockBeforeEpochError } from '../layout/layout-errors.js';
import { GeneratorBench, thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { settle } from '../../../../test/support/engine/virtual-time.js';
import { ReservationExhaustedError, SequenceExhaustedError } from './generator-errors.js';
import { AFTER_ALL, BEFORE_ALL, type PerLane, type Position } from './tenure.js';

const both = (tick: number, sequence: number): PerLane<Position> => [
  { tick, sequence },
  { tick, sequence },
];

describe('a reservation', () => {
  it.each([
    { what: 'inside a tick', limit: both(1_000_000, 1), last: '1000000:0:1', count: 2 },
    { what: 'at the end of a tick', limit: both(1_000_001, 3), last: '1000001:0:3', count: 8 },
    { what: 'at the start of a tick', limit: both(1_000_001, 0), last: '1000001:0:0', count: 5 },
  ])('ends with its limit, included, $what', ({ limit, last, count }) => {
    const bench = new GeneratorBench({ tenure: { limit } });
    expect(bench.take(count).at(-1)).toBe(last);
    const error = thrownBy(() => bench.next());
    expect(error).toBeInstanceOf(ReservationExhaustedError);
    expect(error).toMatchObject({ errorCode: 'RESERVATION_EXHAUSTED', workerId: 1, retryable: true });
    expect(bench.tenure.requests.at(-1)).toBe('extension');
    expect(bench.generator.counters.issued).toBe(count);
  });

  it('that ends before the present has nothing to give', () => {
    const bench = new GeneratorBench({ tenure: { limit: both(999_999, 3) } });
    expect(() => bench.next()).toThrow(ReservationExhaustedError);
  });

  it.each([
    { what: 'inside the present tick', base: both(1_000_000, 1), first: '1000000:0:2' },
    { what: 'at the end of the present tick', base: both(1_000_000, 3), first: '1000001:0:0' },
    { what: 'before the present', base: both(999_000, 2), first: '1000000:0:0' },
    { what: 'in a tick that may be borrowed', base: both(1_000_003, 1), first: '1000003:0:2' },
  ])('starts after its base $what', ({ base, first }) => {
    const bench = new GeneratorBench({ tenure: { base } });
    expect(bench.next()).toBe(first);
    expect(bench.next('a code')).toBe(first);
    expect(bench.generator.counters.issued).toBe(2);
  });

  it('whose base lies far ahead leaves the lane aside', () => {
    const bench = new GeneratorBench({ tenure: { base: [{ tick: 1_065_000, sequence: 3 }, BEFORE_ALL] } });
    expect(bench.next()).toBe('1000000:1:0');
  });

  it('in blocks of one coarse tick is used to its last sequence and goes on after an extension', () => {
    const bench = new GeneratorBench({
      unitMs: 3_600_000,
      sequenceBits: 8,
      wall: 36_000_000,
      tenure: { base: both(10, 99), limit: both(10, 131), renewThreshold: both(10, 115) },
    });
    const sequences = bench.take(16).map((place) => Number(place.split(':')[2]));
    expect(sequences).toEqual(Array.from({ length: 16 }, (_, index) => 100 + index));
    bench.next();
    expect(bench.tenure.requests).toEqual(['extension']);
    expect(bench.take(15).at(-1)).toBe('10:0:131');
    expect(() => bench.next()).toThrow(ReservationExhaustedError);
    bench.tenure.change({ limit: both(10, 163), renewThreshold: both(10, 147) });
    expect(bench.next()).toBe('10:0:132');
  });

  it('with a full coarse tick is a used-up sequence, not a used-up reservation', () => {
    const bench = new GeneratorBench({ unitMs: 60_000, wall: 600_000, tenure: { limit: both(11, 3) } });
    bench.take(4);
    expect(() => bench.next()).toThrow(SequenceExhaustedError);
  });

  it('is extended for an async call that waits', async () => {
    const bench = new GeneratorBench({ tenure: { limit: both(1_000_000, 1) } });
    bench.take(2);
    const waiting = bench.generator.nextIdAsync();
    await settle();
    expect(bench.tenure.requests).toContain('extension');
    bench.tenure.change({ limit: both(1_000_000, 3) });
    await settle();
    expect(bench.at(await waiting)).toBe('1000000:0:2');
  });

  it('is extended for a sync call after the failed one', () => {
    const bench = new GeneratorBench({ tenure: { limit: both(1_000_000, 0) } });
    bench.next();
    expect(() => bench.next()).toThrow(ReservationExhaustedError);
    bench.tenure.change({ limit: both(1_000_000, 1) });
    expect(bench.next()).toBe('1000000:0:1');
  });

  it('is asked to be extended past its renewal threshold, not before', () => {
    const bench = new GeneratorBench({ sequenceBits: 4, tenure: { renewThreshold: both(1_000_000, 5) } });
    bench.take(5);
    expect(bench.tenure.requests).toEqual([]);
    bench.take(2);
    expect(bench.tenure.requests.length).toBeGreaterThan(0);
    const asked = bench.tenure.requests.length;
    bench.tenure.change({ renewThreshold: [AFTER_ALL, AFTER_ALL] });
    bench.take(5);
    expect(bench.tenure.requests).toHaveLength(asked);
  });

  it('is not asked to be extended on a lane that is not the current one', () => {
    const bench = new GeneratorBench();
    bench.next();
    bench.tenure.change({ lane: 1, renewThreshold: both(1_000_000, 0) });
    bench.next();
    expect(bench.tenure.requests).toEqual([]);
  });

  it('gives batches up to its limit and not past it', () => {
    const bench = new GeneratorBench({ sequenceBits: 6, tenure: { limit: both(1_000_000, 40) } });
    expect(bench.at(bench.generator.nextIds(41).at(-1)!)).toBe('1000000:0:40');
    expect(() => bench.generator.nextIds(2)).toThrow(ReservationExhaustedError);
  });
});

describe('a base that is raised', () => {
  it('is respected by every code at once, also inside a window', () => {
    const bench = new GeneratorBench({ sequenceBits: 6 });
    const bound = bench.generator.forCode('bound');
    const everybody = (): string[] => [bench.next(), bench.next('a'), bench.at(bound.nextId())];
    everybody();
    expect(everybody()).toEqual(Array(3).fill('1000000:0:1'));
    bench.tenure.change({ base: both(1_000_000, 40) });
    expect(everybody()).toEqual(Array(3).fill('1000000:0:41'));
    expect(everybody()).toEqual(Array(3).fill('1000000:0:42'));
    expect(bench.generator.counters.issued).toBe(12);
  });

  it('leaves a code alone that is past it', () => {
    const bench = new GeneratorBench({ sequenceBits: 6 });
    bench.take(10);
    bench.tenure.change({ base: both(1_000_000, 4) });
    expect(bench.next()).toBe('1000000:0:10');
  });

  it('is respected on the other lane by the next flip', () => {
    const bench = new GeneratorBench();
    bench.next();
    bench.tenure.change({ base: [BEFORE_ALL, { tick: 999_900, sequence: 3 }] });
    bench.time.step(-100);
    expect(bench.next()).toBe('1000000:0:1');
    bench.time.freeze(1);
    expect(bench.next()).toBe('999901:1:0');
  });

  it('is respected after a request that raised it before it returned', () => {
    const bench = new GeneratorBench({ sequenceBits: 6, tenure: { renewThreshold: both(1_000_000, 0) } });
    jest.spyOn(bench.tenure, 'requestExtension').mockImplementation(() => {
      bench.tenure.change({ base: both(1_000_000, 40), renewThreshold: [AFTER_ALL, AFTER_ALL] });
    });
    bench.next();
    expect(bench.next()).toBe('1000000:0:41');
  });
});

describe('a new tenure', () => {
  it('starts every code at its base, with its worker id, on its lane', () => {
    const bench = new GeneratorBench({ sequenceBits: 6 });
    bench.take(10);
    bench.take(10, 'a');
    bench.tenure.change({ number: 2, workerId: 5, lane: 1, base: both(1_000_000, 20) });
    for (const code of [undefined, 'a', 'new']) {
      const id = bench.generator.nextId(code);
      expect(bench.layout.unpack(id)).toMatchObject({ workerId: 5, clockBack: 1, tick: 1_000_000, sequence: 21 });
    }
  });

  it('may start lower than the last one ended', () => {
    const bench = new GeneratorBench({ options: { maxAheadMs: 1_000 } });
    bench.take(400);
    bench.tenure.change({ number: 2, workerId: 2 });
    expect(bench.layout.unpack(bench.generator.nextId())).toMatchObject({ workerId: 2, tick: 1_000_000, sequence: 0 });
  });

  it('does not see the clock as gone back that the last one saw higher', () => {
    const bench = new GeneratorBench();
    bench.next();
    bench.time.step(-5_000);
    bench.tenure.change({ number: 2, workerId: 2, base: [{ tick: 995_002, sequence: 0 }, BEFORE_ALL] });
    expect(bench.next()).toBe('995002:0:1');
    expect(bench.generator.counters.flips).toBe(0);
  });

  it('with a worker id that does not fit the layout never issues, however often it is asked', () => {
    const bench = new GeneratorBench({ tenure: { workerId: 8 } });
    for (let call = 0; call < 3; call++) {
      expect(thrownBy(() => bench.next())).toMatchObject({ errorCode: 'INVALID_PART', part: 'workerId' });
    }
    bench.time.freeze(1);
    expect(thrownBy(() => bench.generator.nextIds(2))).toMatchObject({ errorCode: 'INVALID_PART' });
    expect(bench.generator.counters.issued).toBe(0);
    bench.tenure.change({ number: 2, workerId: 7 });
    expect(bench.layout.unpack(bench.generator.nextId()).workerId).toBe(7);
    bench.tenure.change({ number: 3, workerId: 8 });
    expect(thrownBy(() => bench.next())).toMatchObject({ errorCode: 'INVALID_PART' });
    expect(thrownBy(() => bench.next())).toMatchObject({ errorCode: 'INVALID_PART' });
  });
});

describe('a refusal of the tenure', () => {
  const refusal = new ClockBeforeEpochError(1, 2);

  it('is thrown, rejected with and burns nothing', async () => {
    const bench = new GeneratorBench();
    bench.next();
    bench.tenure.change({ refusal });
    expect(thrownBy(() => bench.next())).toBe(refusal);
    expect(thrownBy(() => bench.next())).toBe(refusal);
    expect(thrownBy(() => bench.generator.nextIds(2))).toBe(refusal);
    const failed = expect(bench.generator.nextIdAsync('a', { timeoutMs: 50 })).rejects.toMatchObject({
      cause: refusal,
    });
    await bench.time.advance(50);
    await failed;
    bench.tenure.change({ refusal: undefined });
    bench.time.setWall(1_000_000);
    expect(bench.next()).toBe('1000000:0:1');
  });

  it('ends for an async call with the change of the tenure', async () => {
    const bench = new GeneratorBench({ tenure: { refusal } });
    const waiting = bench.generator.nextIdAsync();
    await bench.time.advance(7);
    bench.tenure.change({ refusal: undefined });
    expect(bench.at(await waiting)).toBe('1000007:0:0');
  });

  it('that is final rejects an async call at once', async () => {
    const final = Object.assign(new ClockBeforeEpochError(1, 2), { retryable: false });
    const bench = new GeneratorBench({ tenure: { refusal: final } });
    await expect(bench.generator.nextIdAsync()).rejects.toBe(final);
  });

  it('is asked for whenever the value of the clock changes, also within a tick, and only then', () => {
    const bench = new GeneratorBench({ unitMs: 1_000, sequenceBits: 10 });
    bench.take(3);
    bench.time.freeze(1);
    bench.take(3);
    bench.time.step(-400);
    bench.take(3, 'a');
    expect(bench.tenure.seen).toEqual([1_000_000, 1_000_001, 999_601]);
    bench.tenure.change({});
    bench.next();
    expect(bench.tenure.seen).toHaveLength(4);
  });

  it('in the middle of a tick stops every code, and does not come back by itself', () => {
    const bench = new GeneratorBench({ unitMs: 1_000, sequenceBits: 10 });
    bench.take(3);
    bench.take(3, 'a');
    bench.tenure.refusal = refusal;
    bench.time.freeze(1);
    expect(thrownBy(() => bench.next())).toBe(refusal);
    expect(thrownBy(() => bench.next('a'))).toBe(refusal);
    expect(thrownBy(() => bench.next('a'))).toBe(refusal);
    bench.tenure.refusal = undefined;
    bench.time.freeze(1);
    expect([bench.next(), bench.next('a')]).toEqual(['1000:0:3', '1000:0:3']);
  });
});
