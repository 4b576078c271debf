import fc from 'fast-check';
import { GeneratorBench, thrownBy, tinyLayout } from '../../../../test/support/engine/generator-bench.js';
import { VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import { UnsafeIntegerError } from './generator-errors.js';
import { SnowflakeGenerator } from './snowflake-generator.js';
import { StaticTenure } from './tenure.js';

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
