import fc from 'fast-check';
import { createLayout } from '../layout/layout-options.js';
import {
  type BenchOptions,
  GeneratorBench,
  thrownBy,
  tinyLayout,
} from '../../../../test/support/engine/generator-bench.js';
import { VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import { UnsafeIntegerError } from './generator-errors.js';
import { SnowflakeGenerator } from './snowflake-generator.js';
import { StaticTenure } from './tenure.js';

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

type Form = 'nextId' | 'nextString' | 'nextNumber' | 'nextIds' | 'nextStrings' | 'fill';

const COUNT = 7;

function take({ generator }: GeneratorBench, form: Form): bigint[] {
  switch (form) {
    case 'nextIds':
      return generator.nextIds(COUNT);
    case 'nextStrings':
      return generator.nextStrings(COUNT).map(BigInt);
    case 'fill':
      return [...generator.fill(new BigInt64Array(COUNT))];
    case 'nextString': {
      const text = generator.nextString();
      expect(text).toBe(BigInt(text).toString());
      return [BigInt(text)];
    }
    case 'nextId':
    case 'nextNumber':
      return [BigInt(generator[form]())];
  }
}

describe('The fast path', () => {
  it('takes one position after the other, in whatever forms they are asked for', () => {
    const form = fc.constantFrom<Form[]>('nextId', 'nextString', 'nextNumber', 'nextIds', 'nextStrings', 'fill');
    const wall = fc.integer({ min: 0, max: 20_000 });
    fc.assert(
      fc.property(
        fc.array(form, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 0, max: 5 }),
        wall,
        (forms, endBits, ms) => {
          const bench = new GeneratorBench({ sequenceBits: 20, endBits, epochMs: 0, wall: ms });
          const taken = forms.flatMap((each) => take(bench, each));
          expect(taken.map((id) => bench.at(id))).toEqual(taken.map((_, sequence) => `${ms}:0:${sequence}`));
          expect(bench.generator.counters.issued).toBe(taken.length);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('writes every text across the edges of its table of ends', () => {
    const bench = new GeneratorBench({ sequenceBits: 20, endBits: 3, epochMs: 1_000_000 });
    const [ids, texts] = [new GeneratorBench({ sequenceBits: 20, endBits: 3, epochMs: 1_000_000 }), bench].map(
      ({ generator }) => generator,
    );
    for (let left = 6_000; left > 0; left--) expect(texts!.nextString()).toBe(ids!.nextId().toString());
    for (const count of [1, 2, 1_249, 1_250, 1_251, 5_000]) {
      expect(texts!.nextStrings(count)).toEqual(ids!.nextIds(count).map(String));
      expect(texts!.nextId()).toBe(ids!.nextId());
    }
  });

  it('refuses a number past 2^53 - 1 before anything is consumed, also after other forms of that tick', () => {
    const bench = new GeneratorBench({ sequenceBits: 20, epochMs: 0, wall: 2 ** 38 });
    const first = bench.generator.nextId();
    expect(thrownBy(() => bench.generator.nextNumber())).toBeInstanceOf(UnsafeIntegerError);
    expect(thrownBy(() => bench.generator.nextNumber())).toBeInstanceOf(UnsafeIntegerError);
    expect(bench.generator.nextId() - first).toBe(BigInt(bench.layout.sequenceStep));
  });

  it('reads a shared clock once for so many calls, and at once when its value is stale', () => {
    const { monotonic, randomness, timers } = new VirtualTime(1_000_000);
    let reads = 0;
    let stale = (): void => undefined;
    const clock = {
      now: () => 1_000_000,
      refresh: () => (reads++, 1_000_000),
      share: (listener: () => void) => {
        stale = listener;
        return 10;
      },
    };
    const setup = { layout: tinyLayout({ sequenceBits: 20 }), tenure: new StaticTenure(1) };
    const generator = new SnowflakeGenerator(setup, { clock, monotonic, randomness, timers });
    for (let call = 0; call < 22; call++) generator.nextId();
    expect(reads).toBe(2);
    stale();
    generator.nextId();
    expect(reads).toBe(3);
  });
});
