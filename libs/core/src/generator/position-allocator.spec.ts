import { ConfigurationError } from '../config/option-reader.js';
import { GeneratorBench, ManualTenure, thrownBy, tinyLayout } from '../../../../test/support/engine/generator-bench.js';
import { settle, VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import { ClockBeforeEpochError } from '../layout/layout-errors.js';
import { ReservationExhaustedError, SequenceExhaustedError, WaitTimeoutError } from './generator-errors.js';
import { type GeneratorOptions, resolveGeneratorOptions } from './generator-options.js';
import { SnowflakeGenerator } from './snowflake-generator.js';
import { AFTER_ALL, BEFORE_ALL, type PerLane, type Position } from './tenure.js';

describe('ticks', () => {
  it('hold as many IDs as the sequence has values, and a new tick starts at 0', () => {
    const bench = new GeneratorBench({ options: { onExhausted: 'throw' } });
    expect(bench.take(4)).toEqual(['1000000:0:0', '1000000:0:1', '1000000:0:2', '1000000:0:3']);
    expect(thrownBy(() => bench.next())).toBeInstanceOf(SequenceExhaustedError);
    bench.time.freeze(1);
    expect(bench.take(2)).toEqual(['1000001:0:0', '1000001:0:1']);
    bench.time.freeze(5);
    expect(bench.next()).toBe('1000006:0:0');
  });

  it('go on where they were left when the clock returns from an idle stretch inside one tick', () => {
    const bench = new GeneratorBench({ unitMs: 1_000 });
    expect(bench.next()).toBe('1000:0:0');
    bench.time.freeze(999);
    expect(bench.next()).toBe('1000:0:1');
    bench.time.step(-500);
    expect(bench.next()).toBe('1000:0:2');
    bench.time.freeze(501);
    expect(bench.next()).toBe('1001:0:0');
  });

  it('give strictly increasing IDs while the clock goes forward', () => {
    const bench = new GeneratorBench({ options: { maxAheadMs: 60_000 } });
    const ids: bigint[] = [];
    for (let call = 0; call < 300; call++) {
      ids.push(bench.generator.nextId());
      if (call % 7 === 0) bench.time.freeze(call % 5);
    }
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => (a < b ? -1 : 1)));
  });
});

describe('a used-up tick', () => {
  it.each<{ what: string; unitMs: number; options: GeneratorOptions; ticks: number }>([
    { what: '5 ms by default', unitMs: 1, options: {}, ticks: 5 },
    { what: 'maxAheadMs', unitMs: 1, options: { maxAheadMs: 12 }, ticks: 12 },
    { what: 'at least one tick', unitMs: 1, options: { maxAheadMs: 0 }, ticks: 1 },
    { what: 'one second, though that is more than maxAheadMs', unitMs: 1_000, options: {}, ticks: 1 },
    { what: 'whole seconds only', unitMs: 1_000, options: { maxAheadMs: 3_999 }, ticks: 3 },
    { what: 'nothing when told to wait', unitMs: 1, options: { onExhausted: 'wait' }, ticks: 0 },
    { what: 'nothing when told to throw', unitMs: 1, options: { onExhausted: 'throw' }, ticks: 0 },
    { what: 'nothing in a minute, by default', unitMs: 60_000, options: {}, ticks: 0 },
    { what: 'nothing in an hour', unitMs: 3_600_000, options: { onExhausted: 'wait' }, ticks: 0 },
  ])('borrows $what ($unitMs ms a tick)', ({ unitMs, options, ticks }) => {
    const bench = new GeneratorBench({ unitMs, options, wall: 7_200_000 });
    const first = 7_200_000 / unitMs;
    const taken = bench.take(4 * (ticks + 1));
    expect(taken.at(-1)).toBe(`${first + ticks}:0:3`);
    const error = thrownBy(() => bench.next()) as SequenceExhaustedError;
    expect(error).toBeInstanceOf(SequenceExhaustedError);
    expect(error).toMatchObject({ errorCode: 'SEQUENCE_EXHAUSTED', retryable: true, tick: first + ticks });
    expect(error.availableAt).toEqual(new Date(7_200_000 + unitMs));
    bench.time.setWall(error.availableAt.getTime());
    expect(bench.take(4)).toHaveLength(4);
    expect(bench.generator.counters.issued).toBe(4 * (ticks + 2));
  });

  it.each<[GeneratorOptions['onExhausted'], number, RegExp]>([
    ['borrow', 1, /Use an async call to wait for them, or a layout with more/],
    ['wait', 1, /Use an async call to wait for them, onExhausted: 'borrow', or a layout/],
    ['wait', 60_000, /Use an async call to wait for them, or a layout/],
    ['throw', 1_000, /Use onExhausted: 'wait' with async calls, onExhausted: 'borrow', or a layout/],
    ['throw', 3_600_000, /Use onExhausted: 'wait' with async calls, or a layout/],
  ])('with %s in units of %d ms is answered with advice that is not followed yet', (onExhausted, unitMs, advice) => {
    const wall = 1_000_000 * unitMs;
    const bench = new GeneratorBench({ unitMs, wall, options: { onExhausted: onExhausted!, maxAheadMs: 0 } });
    const error = thrownBy(() => bench.take(100));
    expect(error).toBeInstanceOf(SequenceExhaustedError);
    expect((error as Error).message).toMatch(advice);
  });

  it('borrows no further than the reservation', () => {
    const limit = { tick: 1_000_001, sequence: 1 };
    const bench = new GeneratorBench({ tenure: { limit: [limit, limit] } });
    expect(bench.take(6).at(-1)).toBe('1000001:0:1');
    expect(thrownBy(() => bench.next())).toMatchObject({ errorCode: 'RESERVATION_EXHAUSTED' });
  });

  it.each(['borrow', 'wait'] as const)('is waited for by an async call (%s, ms)', async (onExhausted) => {
    const bench = new GeneratorBench({ options: { onExhausted, maxAheadMs: 0 } });
    const free = onExhausted === 'borrow' ? 8 : 4;
    bench.take(free);
    const waiting = bench.generator.nextIdAsync();
    await settle();
    await bench.time.advance(1);
    const expected = onExhausted === 'borrow' ? '1000002:0:0' : '1000001:0:0';
    expect(bench.at(await waiting)).toBe(expected);
  });

  it.each([1_000, 60_000])('is waited for by an async call for as long as it takes (%i ms a tick)', async (unitMs) => {
    const options = { onExhausted: 'wait', asyncTimeoutMs: 120_000 } as const;
    const bench = new GeneratorBench({ unitMs, wall: 60_000_000 + 250, options });
    bench.take(4);
    let id: bigint | undefined;
    const waiting = bench.generator.nextIdAsync().then((value) => (id = value));
    await bench.time.advance(unitMs - 251);
    expect(id).toBeUndefined();
    await bench.time.advance(1);
    await waiting;
    expect(bench.at(id!)).toBe(`${60_000_000 / unitMs + 1}:0:0`);
  });

  it.each([1, 1_000, 60_000, 86_400_000])(
    'rejects an async call at once under throw (%i ms a tick)',
    async (unitMs) => {
      const bench = new GeneratorBench({ unitMs, options: { onExhausted: 'throw' } });
      bench.take(4);
      await expect(bench.generator.nextIdAsync()).rejects.toBeInstanceOf(SequenceExhaustedError);
    },
  );

  it('ends an async wait that takes too long', async () => {
    const bench = new GeneratorBench({ unitMs: 60_000, wall: 60_000_000, options: { onExhausted: 'wait' } });
    bench.take(4);
    const waiting = bench.generator.nextIdAsync(undefined, { timeoutMs: 300 });
    const failed = expect(waiting).rejects.toMatchObject({
      errorCode: 'WAIT_TIMEOUT',
      timeoutMs: 300,
      retryable: true,
      cause: { errorCode: 'SEQUENCE_EXHAUSTED' },
    });
    await bench.time.advance(300);
    await failed;
    await expect(waiting).rejects.toBeInstanceOf(WaitTimeoutError);
  });
});

describe('a sync call that finds its tick used up', () => {
  /** A clock on which every so many real reads a millisecond passes. */
  function ticking(readsPerMs: number, options: GeneratorOptions, unitMs = 1) {
    const time = new VirtualTime(1_000_000);
    let reads = 0;
    const clock = {
      now: () => time.wall,
      refresh: () => {
        if (++reads % readsPerMs === 0) time.freeze(1);
        return time.wall;
      },
    };
    const setup = { layout: tinyLayout({ unitMs }), tenure: new ManualTenure(), options };
    const ports = { clock, monotonic: time.monotonic, randomness: time.randomness, timers: time };
    return { time, generator: new SnowflakeGenerator(setup, ports), reads: () => reads };
  }

  it.each(['wait', 'borrow'] as const)('spins into the next millisecond (%s)', (onExhausted) => {
    const { generator, time } = ticking(50, { onExhausted, maxAheadMs: 1 });
    const ids = Array.from({ length: 40 }, () => generator.nextId());
    expect(new Set(ids).size).toBe(40);
    expect(time.wall).toBeGreaterThan(1_000_005);
    expect(time.wall).toBeLessThan(1_000_011);
  });

  it('does not spin under throw', () => {
    const { generator, reads } = ticking(50, { onExhausted: 'throw' });
    for (let call = 0; call < 4; call++) generator.nextId();
    expect(() => generator.nextId()).toThrow(SequenceExhaustedError);
    expect(reads()).toBe(1);
  });

  it('does not spin through a second', () => {
    const { generator, reads } = ticking(50, { onExhausted: 'wait' }, 1_000);
    for (let call = 0; call < 4; call++) generator.nextId();
    expect(() => generator.nextId()).toThrow(SequenceExhaustedError);
    expect(reads()).toBe(1);
  });

  it('gives up when the clock stands still and time passes', () => {
    const bench = new GeneratorBench({ options: { onExhausted: 'wait' } });
    bench.take(4);
    let reads = 0;
    jest.spyOn(bench.time.monotonic, 'now').mockImplementation(() => reads++ / 10);
    expect(() => bench.next()).toThrow(SequenceExhaustedError);
    expect(reads).toBeLessThan(20);
  });

  it('gives up when both clocks stand still', () => {
    const bench = new GeneratorBench({ options: { onExhausted: 'wait' } });
    bench.take(4);
    expect(() => bench.next()).toThrow(SequenceExhaustedError);
    expect(bench.generator.counters.issued).toBe(4);
  });

  it('reads the real clock before it throws, whose stale value is what was used up', () => {
    const time = new VirtualTime(1_000_000);
    let cached = time.wall;
    const clock = { now: () => cached, refresh: () => (cached = time.wall) };
    const setup = { layout: tinyLayout(), tenure: new ManualTenure(), options: { onExhausted: 'throw' } as const };
    const ports = { clock, monotonic: time.monotonic, randomness: time.randomness, timers: time };
    const generator = new SnowflakeGenerator(setup, ports);
    for (let call = 0; call < 4; call++) generator.nextId();
    time.freeze(3);
    expect(setup.layout.unpack(generator.nextId())).toMatchObject({ tick: 1_000_003, sequence: 0 });
  });

  it('does not lose its patience to a tenure that reports a change while it is asked', () => {
    const { generator, time } = ticking(50, { onExhausted: 'wait' });
    const tenure = new ManualTenure();
    jest.spyOn(tenure, 'admit').mockImplementation(() => {
      tenure.change({});
      return undefined;
    });
    const ports = { clock: time.clock, monotonic: time.monotonic, randomness: time.randomness, timers: time };
    const other = new SnowflakeGenerator({ layout: generator.layout, tenure, options: { onExhausted: 'wait' } }, ports);
    for (let call = 0; call < 4; call++) other.nextId();
    let reads = 0;
    jest.spyOn(time.clock, 'refresh').mockImplementation(() => {
      if (++reads % 50 === 0) time.freeze(1);
      return time.wall;
    });
    expect(other.layout.unpack(other.nextId())).toMatchObject({ tick: 1_000_001, sequence: 0 });
  });
});

describe('generator options', () => {
  it.each([60_000, 3_600_000, 86_400_000])('refuse to borrow a tick of %i ms', (unitMs) => {
    const error = thrownBy(() => resolveGeneratorOptions({ onExhausted: 'borrow' }, tinyLayout({ unitMs })));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).problems).toMatchObject([{ option: 'onExhausted' }]);
  });

  it.each([
    [60_000, 'continue'],
    [3_600_000, 'random'],
    [86_400_000, 'continue'],
  ] as const)('refuse ticks of %i ms that start at %s', (unitMs, sequenceStart) => {
    const error = thrownBy(() => new GeneratorBench({ unitMs, options: { sequenceStart } }));
    expect((error as ConfigurationError).problems.map(({ option }) => option)).toEqual(['sequenceStart']);
  });

  it.each([
    { given: { maxHoldMs: -1 }, option: 'maxHoldMs' },
    { given: { maxHoldMs: 60_001 }, option: 'maxHoldMs' },
    { given: { maxAheadMs: 1.5 }, option: 'maxAheadMs' },
    { given: { maxCodes: 0 }, option: 'maxCodes' },
    { given: { maxBatch: 0 }, option: 'maxBatch' },
    { given: { asyncTimeoutMs: 0 }, option: 'asyncTimeoutMs' },
    { given: { onClockBack: 'ignore' as 'wait' }, option: 'onClockBack' },
    { given: { onExausted: 'wait' } as GeneratorOptions, option: 'onExausted' },
  ])('name what is wrong: $given', ({ given, option }) => {
    const error = thrownBy(() => resolveGeneratorOptions(given, tinyLayout())) as ConfigurationError;
    expect(error.problems.map((problem) => problem.option)).toEqual([option]);
  });

  it('default to borrowing ticks of ms and s, and to throwing for longer ones', () => {
    const defaults = [1, 1_000, 60_000, 3_600_000, 86_400_000].map(
      (unitMs) => resolveGeneratorOptions({}, tinyLayout({ unitMs })).onExhausted,
    );
    expect(defaults).toEqual(['borrow', 'borrow', 'throw', 'throw', 'throw']);
  });
});

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

describe('asking why an ID would be refused', () => {
  it('issues nothing, counts nothing, and says nothing while there is one', () => {
    const bench = new GeneratorBench();
    const first = bench.next();
    const { counters } = bench.generator;
    for (let each = 0; each < 20; each++) expect(bench.generator.refusal()).toBeUndefined();
    expect(bench.generator.counters).toEqual(counters);
    expect(bench.next()).toBe(first.replace(/0$/, '1'));
  });

  it('names the error that the next call would throw, of the code that is asked for', () => {
    const bench = new GeneratorBench({ unitMs: 3_600_000, wall: 3_600_000_000, options: { onExhausted: 'throw' } });
    bench.take(4);
    expect(bench.generator.refusal()).toMatchObject({ errorCode: 'SEQUENCE_EXHAUSTED' });
    expect(() => bench.next()).toThrow(expect.objectContaining({ errorCode: 'SEQUENCE_EXHAUSTED' }) as Error);
    expect(bench.generator.refusal('another')).toBeUndefined();
  });

  it('sees a clock that stays behind both lanes', () => {
    const bench = new GeneratorBench({ clockBack: false, options: { maxHoldMs: 500 } });
    bench.next();
    bench.time.step(-60_000);
    expect(bench.generator.refusal()).toBeUndefined();
    bench.next();
    bench.time.freeze(501);
    expect(bench.generator.refusal()).toMatchObject({ errorCode: 'CLOCK_MOVED_BACK' });
    expect(() => bench.next()).toThrow(expect.objectContaining({ errorCode: 'CLOCK_MOVED_BACK' }) as Error);
  });
});
