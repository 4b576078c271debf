import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { runs } from '../../../../test/tier.js';
import { ConfigurationError } from '../config/option-reader.js';
import { collectGarbage } from '../../../../test/support/engine/live.js';
import { GeneratorBench } from '../../../../test/support/engine/generator-bench.js';
import { CodeTable } from './code-table.js';
import type { IssuedByCodeOptions, IssuedCounts } from './issued-counts.js';

/** Counts as a plain object. */
const shown = ({ plain, byCode, others }: IssuedCounts): object => ({
  plain,
  byCode: Object.fromEntries(byCode),
  others,
});

describe('IDs by code', () => {
  it('are counted whichever call issued them, failed batches not among them', async () => {
    const bench = new GeneratorBench({ sequenceBits: 6, options: { onExhausted: 'throw' } });
    const { generator } = bench;
    const counts = generator.issuedByCode();
    const bound = generator.forCode('order');
    generator.nextId();
    generator.nextId('order');
    bound.nextString();
    bound.nextIds(5);
    generator.fill(new BigInt64Array(4), 'order');
    await generator.nextIdsAsync(3, 'order');
    generator.nextNumber('invoice');
    expect(() => generator.nextIds(65, 'invoice')).toThrow();
    expect(shown(counts.read())).toEqual({ plain: 1, byCode: { order: 14, invoice: 1 }, others: 0 });
    expect(generator.counters).toMatchObject({ issued: 16 });
  });

  it('are counted apart for the codes that are named and the first ones that are used, all others together', () => {
    const bench = new GeneratorBench({ sequenceBits: 6 });
    const counts = bench.generator.issuedByCode({ codes: ['late', 'never'], firstCodes: 2 });
    for (const code of ['a', 'b', 'c', 'd']) bench.take(2, code);
    bench.next('late');
    expect(shown(counts.read())).toEqual({ plain: 0, byCode: { late: 1, never: 0, a: 2, b: 2 }, others: 4 });
  });

  it('include what was issued before the counting began', () => {
    const bench = new GeneratorBench({ sequenceBits: 6 });
    for (const code of ['a', 'b', 'c']) bench.take(2, code);
    bench.take(3);
    const counts = bench.generator.issuedByCode({ codes: ['c'], firstCodes: 1 });
    expect(shown(counts.read())).toEqual({ plain: 3, byCode: { c: 2, a: 2 }, others: 2 });
  });

  it('go on where they were when a code was evicted and comes back', () => {
    const bench = new GeneratorBench({ sequenceBits: 6, options: { maxCodes: 1 } });
    bench.take(3, 'dropped before');
    bench.next('b');
    const counts = bench.generator.issuedByCode({ firstCodes: 2 });
    bench.take(4, 'a');
    bench.next('b');
    bench.next('dropped before');
    bench.next('a');
    expect(shown(counts.read())).toEqual({ plain: 0, byCode: { b: 2, a: 5 }, others: 4 });
    expect(bench.generator.counters).toMatchObject({ issued: 11, codes: 1 });
  });

  it('are read without using the codes: they may be evicted as before', () => {
    const table = new CodeTable(2);
    const counts = table.count({ codes: ['a'] });
    const [a, b] = [table.of('a'), table.of('b')];
    counts.read();
    table.of('c');
    expect([a.evicted, b.evicted]).toEqual([true, false]);
  });

  it('are counted as long as the counts are held, and no call has to end it', async () => {
    const table = new CodeTable(2);
    const kept = table.count();
    const forgotten = (): void => void Array.from({ length: 10 }, () => table.count());
    const counters = (): number => {
      let told = 0;
      table.counts.forEach(() => told++);
      return told;
    };
    forgotten();
    expect(counters()).toBe(11);
    // What was looked at in a turn of the event loop stays until its end.
    await setImmediate();
    collectGarbage();
    expect(counters()).toBe(1);
    table.of('a');
    expect(kept.read().byCode.size).toBe(1);
  });

  it.each([
    { given: { firstCodes: 501 }, says: 'firstCodes' },
    { given: { firstCodes: -1 }, says: 'firstCodes' },
    { given: { codes: 'order' }, says: 'codes' },
    { given: { codes: ['order', ''] }, says: 'codes' },
    { given: { codes: [undefined] }, says: 'codes' },
    { given: { codes: new Array(501).fill('a') }, says: 'codes' },
    { given: { maxCodes: 1 }, says: 'maxCodes' },
  ])('need options that make sense: $given', ({ given, says }) => {
    const { generator } = new GeneratorBench();
    expect(() => generator.issuedByCode(given as IssuedByCodeOptions)).toThrow(ConfigurationError);
    expect(() => generator.issuedByCode(given as IssuedByCodeOptions)).toThrow(says);
  });
});

describe('IDs by code, with more codes than a read looks at', () => {
  const SIZE = 25_000;

  it('are all there after as many reads as it says, and never fewer than before', () => {
    const bench = new GeneratorBench({ options: { maxCodes: SIZE } });
    const { generator } = bench;
    const counts = generator.issuedByCode({ firstCodes: 1 });
    for (let code = 0; code < SIZE; code++) generator.nextId(`code ${code}`);
    expect(counts.reads).toBe(3);
    const others = Array.from({ length: counts.reads }, () => counts.read().others);
    expect(others).toEqual([9_998, 19_998, SIZE - 1]);
    bench.next('code 1');
    const again = Array.from({ length: counts.reads }, () => counts.read().others);
    expect(again).toEqual([SIZE - 1, SIZE - 1, SIZE]);
    expect(generator.counters.issued).toBe(SIZE + 1);
  });

  it.each([{ code: `code ${SIZE - 1}` }, { code: undefined }])(
    'are exact at once for what is counted apart ($code)',
    ({ code }) => {
      const { generator } = new GeneratorBench({ options: { maxCodes: SIZE } });
      const counts = generator.issuedByCode({ codes: [`code ${SIZE - 1}`], firstCodes: 0 });
      for (let each = 0; each < SIZE; each++) generator.nextId(`code ${each}`);
      const before = counts.read();
      generator.nextIds(3, code);
      const after = counts.read();
      if (code === undefined) expect([before.plain, after.plain]).toEqual([0, 3]);
      else expect([before.byCode.get(code), after.byCode.get(code)]).toEqual([1, 4]);
      // The second read sees the next 10,000 of the others, no more and no fewer.
      expect(after.others - before.others).toBe(10_000);
    },
  );

  it('count nothing twice and forget nothing when codes are evicted between reads', () => {
    const bench = new GeneratorBench({ options: { maxCodes: SIZE } });
    const { generator } = bench;
    const counts = generator.issuedByCode({ firstCodes: 0 });
    let before = 0;
    for (let code = 0; code < 3 * SIZE; code++) {
      generator.nextId(`code ${code}`);
      if (code % 10_000 === 0) {
        const { others } = counts.read();
        expect(others).toBeGreaterThanOrEqual(before);
        expect(others).toBeLessThanOrEqual(code + 1);
        before = others;
      }
    }
    for (let read = 1; read < counts.reads; read++) counts.read();
    expect(counts.read().others).toBe(3 * SIZE);
  });
});

describe('IDs by code, whichever codes come and go', () => {
  const code = fc.nat(7);
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('id' as const), code }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('plain' as const) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('bound' as const), code }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('batch' as const), code, count: fc.nat(9) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('clock' as const), ms: fc.integer({ min: -6, max: 8 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('tenure' as const) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('read' as const) }) },
  );
  type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

  /** What is wrong with the counts, or undefined; three codes are kept of eight, three are counted apart. */
  function findFault(before: readonly Step[], steps: readonly Step[]): string | undefined {
    const bench = new GeneratorBench({ options: { maxCodes: 3, maxHoldMs: 60_000 } });
    const { generator } = bench;
    const bound = Array.from({ length: 8 }, (_, index) => generator.forCode(`code ${index}`));
    const issued = new Map<string | undefined, number>();
    let tenure = 1;
    const take = (each: Step): void => {
      if (each.kind === 'read') return;
      if (each.kind === 'clock') return each.ms > 0 ? bench.time.freeze(each.ms) : bench.time.step(each.ms);
      if (each.kind === 'tenure') return bench.tenure.change({ number: ++tenure });
      const name = each.kind === 'plain' ? undefined : `code ${each.code}`;
      try {
        let count = 1;
        if (each.kind === 'batch') count = generator.nextIds(each.count, name).length;
        else if (each.kind === 'bound') bound[each.code]!.nextId();
        else generator.nextId(name);
        issued.set(name, (issued.get(name) ?? 0) + count);
      } catch {
        // Refused: nothing was issued.
      }
    };
    before.forEach(take);
    const counts = generator.issuedByCode({ codes: ['code 7'], firstCodes: 2 });
    let last = counts.read();
    for (const each of [...steps, { kind: 'read' as const }]) {
      take(each);
      if (each.kind !== 'read') continue;
      const now = counts.read();
      let sum = now.plain + now.others;
      for (const [name, count] of now.byCode) {
        sum += count;
        if (count < (last.byCode.get(name) ?? 0)) return `${name} went down`;
        if (before.length === 0 && count !== (issued.get(name) ?? 0)) return `${name} is ${count}`;
      }
      if (now.others < last.others) return 'the others went down';
      if (now.byCode.size > 3) return `${now.byCode.size} codes are counted apart`;
      if (now.plain !== (issued.get(undefined) ?? 0)) return `plain is ${now.plain}`;
      const total = [...issued.values()].reduce((all, count) => all + count, 0);
      if (sum !== total || generator.counters.issued !== total) return `the sum is ${sum}, not ${total}`;
      last = now;
    }
    return undefined;
  }

  const steps = fc.array(step, { maxLength: 80 });

  it('add up to all that was issued, and none ever goes down', () => {
    fc.assert(
      fc.property(fc.oneof(fc.constant([]), steps), steps, (before, after) => {
        expect(findFault(before, after)).toBeUndefined();
      }),
      { seed: 4, numRuns: runs(500) },
    );
  });
});
