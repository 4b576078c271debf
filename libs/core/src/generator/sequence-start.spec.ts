import { createLayout } from '../layout/layout-options.js';
import { GeneratorBench, type BenchOptions, thrownBy } from '../../../../test/support/engine/generator-bench.js';

type SequenceStart = 'zero' | 'continue' | 'random';

const NOW = Date.parse('2026-03-01T00:00:00Z');

/** Raindrop's usual layouts, as far as the remainders of their IDs go. */
const LAYOUTS = {
  'seconds, 18 sequence bits': createLayout(
    { timeUnit: 'second', startTimeStamp: '2024-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 },
    NOW,
  ),
  'milliseconds, 10 sequence bits': createLayout(
    { timeUnit: 'millisecond', startTimeStamp: '2024-01-01', timeStampLength: 41, workIdLength: 10, endBitsLength: 1 },
    NOW,
  ),
};

/** What Pearson's statistic passes once in 1,000 times (Wilson and Hilferty's approximation). */
function criticalValue(freedom: number): number {
  const spread = 2 / (9 * freedom);
  return freedom * (1 - spread + 3.0902 * Math.sqrt(spread)) ** 3;
}

/** The divisors up to 64 by which the IDs fall into shards of significantly different sizes. */
function unevenShards(ids: readonly bigint[], endBits: bigint): number[] {
  const uneven: number[] = [];
  for (let shards = 2; shards <= 64; shards++) {
    const counts = new Array<number>(shards).fill(0);
    for (const id of ids) counts[Number((id >> endBits) % BigInt(shards))]!++;
    const expected = ids.length / shards;
    const statistic = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    if (statistic > criticalValue(shards - 1)) uneven.push(shards);
  }
  return uneven;
}

/** One ID in every so many ticks. */
function sparse(sequenceStart: SequenceStart, options: BenchOptions, gap: (time: GeneratorBench['time']) => number) {
  const bench = new GeneratorBench({ wall: NOW, seed: 7, ...options, options: { sequenceStart } });
  return Array.from({ length: 8_192 }, () => {
    bench.time.freeze(gap(bench.time) * bench.layout.unitMs);
    return bench.generator.nextId();
  });
}

describe('the first sequence of a tick', () => {
  it.each<{ sequenceStart: SequenceStart; expected: string[] }>([
    { sequenceStart: 'zero', expected: ['0', '0', '0', '0', '0', '0'] },
    { sequenceStart: 'continue', expected: ['0', '1', '2', '3', '0', '1'] },
  ])('is as told with one ID a tick ($sequenceStart)', ({ sequenceStart, expected }) => {
    const bench = new GeneratorBench({ sequenceBits: 3, options: { sequenceStart } });
    const sequences = expected.map(() => {
      bench.time.freeze(1);
      return bench.next().split(':')[2];
    });
    expect(sequences).toEqual(expected);
  });

  it('is 0 again after more than half of a tick was used (continue)', () => {
    const bench = new GeneratorBench({ sequenceBits: 3, options: { sequenceStart: 'continue' } });
    bench.take(3);
    bench.time.freeze(1);
    expect(bench.take(2)).toEqual(['1000001:0:3', '1000001:0:4']);
    bench.time.freeze(1);
    expect(bench.next()).toBe('1000002:0:0');
  });

  it('leaves at least three quarters of the tick (random)', () => {
    const bench = new GeneratorBench({ sequenceBits: 6, options: { sequenceStart: 'random', onExhausted: 'throw' } });
    const starts = new Set<number>();
    for (let tick = 0; tick < 500; tick++) {
      bench.time.freeze(1);
      const taken = bench.take(48);
      starts.add(Number(taken[0]!.split(':')[2]));
    }
    expect([...starts].sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, start) => start));
  });

  it('of a borrowed tick is chosen the same way', () => {
    const bench = new GeneratorBench({ sequenceBits: 6, options: { sequenceStart: 'random' } });
    const taken = bench.take(300);
    expect(new Set(taken).size).toBe(300);
    expect(taken.some((place) => place.startsWith('1000004:'))).toBe(true);
  });

  it('never goes below what is used or past what is granted (random)', () => {
    const position = { tick: 1_000_000, sequence: 30 };
    const limit = { tick: 1_000_000, sequence: 40 };
    const options = { sequenceStart: 'random' } as const;
    const bench = new GeneratorBench({
      sequenceBits: 6,
      options,
      tenure: { base: [position, position], limit: [limit, limit] },
    });
    expect(bench.take(10).at(-1)).toBe('1000000:0:40');
    expect(thrownBy(() => bench.next())).toMatchObject({ errorCode: 'RESERVATION_EXHAUSTED' });
  });
});

describe('IDs issued one at a time', () => {
  const anyGap = (time: GeneratorBench['time']): number => 1 + Math.floor(time.randomness.fraction() * 1_000);

  it.each(Object.keys(LAYOUTS) as (keyof typeof LAYOUTS)[])(
    'fall evenly into 2 to 64 shards, one ID a tick, with random starts (%s)',
    (name) => {
      expect(
        unevenShards(
          sparse('random', { layout: LAYOUTS[name] }, () => 1),
          1n,
        ),
      ).toEqual([]);
    },
  );

  it.each(Object.keys(LAYOUTS) as (keyof typeof LAYOUTS)[])(
    'fall evenly into 2 to 64 shards, now and then an ID, with continued sequences (%s)',
    (name) => {
      expect(unevenShards(sparse('continue', { layout: LAYOUTS[name] }, anyGap), 1n)).toEqual([]);
    },
  );

  it.each(Object.keys(LAYOUTS) as (keyof typeof LAYOUTS)[])(
    'fall evenly into 2, 4 to 64 shards in a strict rhythm as well, with continued sequences (%s)',
    (name) => {
      const uneven = unevenShards(
        sparse('continue', { layout: LAYOUTS[name] }, () => 1),
        1n,
      );
      expect(uneven.filter((shards) => Number.isInteger(Math.log2(shards)))).toEqual([]);
      // Tick and sequence go on together: what they add to the ID each time may share a factor with other numbers.
      expect(uneven).toEqual(expect.arrayContaining([3]));
    },
  );

  it('fall into one shard when every sequence starts at 0: the test can fail', () => {
    const uneven = unevenShards(sparse('zero', { layout: LAYOUTS['seconds, 18 sequence bits'] }, anyGap), 1n);
    expect(uneven).toEqual(expect.arrayContaining([2, 4, 8, 16, 32, 64]));
  });
});
