import fc from 'fast-check';
import { GeneratorBench, thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { settle } from '../../../../test/support/engine/virtual-time.js';
import { InvalidCodeError } from './generator-errors.js';
import type { BoundIdCalls } from './id-calls.js';
import { CodeTable } from './code-table.js';
import { BEFORE_ALL } from './tenure.js';
import type { Sequencer } from './tick-cursor.js';

describe('codes', () => {
  it('have each a sequence of their own, and the plain one is another', () => {
    const bench = new GeneratorBench();
    expect([bench.next('a'), bench.next('a'), bench.next('b'), bench.next(), bench.next('a')]).toEqual([
      '1000000:0:0',
      '1000000:0:1',
      '1000000:0:0',
      '1000000:0:0',
      '1000000:0:2',
    ]);
    expect(bench.generator.nextId('x')).toBe(bench.generator.nextId('y'));
    expect(bench.generator.counters).toMatchObject({ codes: 4, issued: 7 });
  });

  it('are used up apart from each other', () => {
    const bench = new GeneratorBench({ options: { onExhausted: 'throw' } });
    bench.take(4, 'a');
    expect(() => bench.next('a')).toThrow();
    expect(bench.next('b')).toBe('1000000:0:0');
    expect(bench.next()).toBe('1000000:0:0');
  });

  it.each(['__proto__', 'constructor', 'toString', ' ', '0', 'x'.repeat(128), 'Größe', '\u{1F4A7}'.repeat(64), '\0'])(
    'may be any text of 1 to 128 characters: %j',
    (code) => {
      const bench = new GeneratorBench();
      expect([bench.next(code), bench.next(code), bench.next('other')]).toEqual([
        '1000000:0:0',
        '1000000:0:1',
        '1000000:0:0',
      ]);
      expect(bench.at(bench.generator.forCode(code).nextId())).toBe('1000000:0:2');
    },
  );

  it.each([
    { code: '', says: 'has 0' },
    { code: 'x'.repeat(129), says: 'has 129' },
    { code: null, says: 'null' },
    { code: 1, says: 'type number' },
    { code: Symbol('s'), says: 'type symbol' },
    { code: new String('a'), says: 'type object' },
    { code: ['a'], says: 'type object' },
  ])('are refused otherwise, by every call ($says)', async ({ code, says }) => {
    const { generator } = new GeneratorBench();
    const bad = code as string;
    const sync = [
      () => generator.nextId(bad),
      () => generator.nextString(bad),
      () => generator.nextNumber(bad),
      () => generator.nextIds(2, bad),
      () => generator.nextStrings(2, bad),
      () => generator.fill(new BigInt64Array(2), bad),
      () => generator.forCode(bad),
    ];
    for (const call of sync) {
      const error = thrownBy(call) as InvalidCodeError;
      expect(error).toBeInstanceOf(InvalidCodeError);
      expect(error).toMatchObject({ errorCode: 'INVALID_CODE', given: code, retryable: false });
      expect(error.message).toContain(says);
    }
    for (const promise of [
      generator.nextIdAsync(bad),
      generator.nextStringAsync(bad),
      generator.nextIdsAsync(2, bad),
      generator.nextStringsAsync(2, bad),
      generator.fillAsync(new BigInt64Array(2), bad),
    ]) {
      await expect(promise).rejects.toBeInstanceOf(InvalidCodeError);
    }
    expect(generator.counters).toMatchObject({ codes: 0, issued: 0 });
  });

  it('need a name when a handle is bound', () => {
    const { generator } = new GeneratorBench();
    expect(() => generator.forCode(undefined as unknown as string)).toThrow(InvalidCodeError);
  });
});

describe('a bound code', () => {
  it('shares its sequence with the calls that name the code', async () => {
    const bench = new GeneratorBench({ sequenceBits: 6 });
    const { generator, layout } = bench;
    const bound = generator.forCode('order');
    const ids = [
      generator.nextId('order'),
      bound.nextId(),
      BigInt(bound.nextString()),
      BigInt(bound.nextNumber()),
      ...bound.nextIds(2),
      ...bound.nextStrings(2).map(BigInt),
      ...bound.fill(new BigInt64Array(2)),
      await bound.nextIdAsync(),
      BigInt(await bound.nextStringAsync()),
      ...(await bound.nextIdsAsync(2)),
      ...(await bound.nextStringsAsync(2)).map(BigInt),
      ...(await bound.fillAsync(new BigInt64Array(2))),
      generator.nextId('order'),
    ];
    expect(ids.map((id) => layout.unpack(id).sequence)).toEqual(ids.map((_, index) => index));
    expect(bound.code).toBe('order');
    expect(generator.counters).toMatchObject({ codes: 1, issued: ids.length });
  });
});

/** Evicts whatever is kept, by more codes than there is room for. */
function crowdOut(bench: GeneratorBench, maxCodes: number): void {
  for (let other = 0; other < 2 * maxCodes; other++) bench.generator.forCode(`other ${other}`);
}

describe('a code that was evicted', () => {
  it('starts after everything that was evicted', () => {
    const bench = new GeneratorBench({ sequenceBits: 6, options: { maxCodes: 2 } });
    bench.take(3, 'a');
    bench.take(9, 'b');
    crowdOut(bench, 2);
    expect(bench.generator.counters.codes).toBe(2);
    expect(bench.next('a')).toBe('1000000:0:9');
    expect(bench.next('b')).toBe('1000000:0:9');
    expect(bench.generator.counters.issued).toBe(14);
  });

  it('never repeats an ID by way of a flip: each lane has a base', () => {
    const bench = new GeneratorBench({ sequenceBits: 6, options: { maxCodes: 1 } });
    bench.take(3, 'a');
    bench.time.step(-100);
    bench.take(5, 'a');
    crowdOut(bench, 1);
    expect(bench.next('a')).toBe('1000000:0:3');
    bench.time.freeze(1);
    expect(bench.next('a')).toBe('999901:1:0');
    bench.time.step(-1);
    crowdOut(bench, 1);
    expect(bench.next('a')).toBe('1000000:0:4');
  });

  it('starts at the base of a new tenure, whose positions are others', () => {
    const bench = new GeneratorBench({ sequenceBits: 6, options: { maxCodes: 1 } });
    bench.take(9, 'a');
    crowdOut(bench, 1);
    bench.tenure.change({ number: 2, workerId: 2 });
    expect(bench.next('a')).toBe('1000000:0:0');
    crowdOut(bench, 1);
    expect(bench.next('b')).toBe('1000000:0:1');
  });

  it('leaves no marks behind in a tenure it has not seen', () => {
    const bench = new GeneratorBench({ sequenceBits: 6, options: { maxCodes: 2 } });
    bench.take(9, 'a');
    bench.tenure.change({ number: 2, workerId: 2 });
    bench.take(2, 'b');
    crowdOut(bench, 2);
    expect(bench.next('a')).toBe('1000000:0:2');
  });

  it('counts for the highest position of its lane', () => {
    const bench = new GeneratorBench({ sequenceBits: 6, options: { maxCodes: 1 } });
    const { generator, tenure } = bench;
    expect(generator.highest(tenure, 0)).toEqual(BEFORE_ALL);
    bench.take(9, 'a');
    bench.take(2);
    expect(generator.highest(tenure, 0)).toEqual({ tick: 1_000_000, sequence: 8 });
    crowdOut(bench, 1);
    expect(generator.highest(tenure, 0)).toEqual({ tick: 1_000_000, sequence: 8 });
    expect(generator.highest(tenure, 1)).toEqual(BEFORE_ALL);
    bench.time.step(-100);
    bench.next();
    expect(generator.highest(tenure, 1)).toEqual({ tick: 999_900, sequence: 0 });
    tenure.change({ number: 2, base: [{ tick: 5, sequence: 1 }, BEFORE_ALL] });
    expect(generator.highest(tenure, 0)).toEqual({ tick: 5, sequence: 1 });
  });

  it('goes on through its handle, which shares its position with every caller that names the code', () => {
    const bench = new GeneratorBench({ sequenceBits: 6, options: { maxCodes: 1 } });
    const first = bench.generator.forCode('a');
    const second = bench.generator.forCode('a');
    first.nextId();
    crowdOut(bench, 1);
    expect(
      [first.nextId(), second.nextId(), bench.generator.nextId('a'), first.nextId()].map((id) => bench.at(id)),
    ).toEqual([1, 2, 3, 4].map((sequence) => `1000000:0:${sequence}`));
  });

  it('repeats nothing for async calls and batches that were waiting meanwhile', async () => {
    const bench = new GeneratorBench({ options: { maxCodes: 1, maxAheadMs: 0, onExhausted: 'wait' } });
    const bound = bench.generator.forCode('a');
    const ids = bound.nextIds(3);
    const batches = [
      bound.nextIdsAsync(9),
      bench.generator.nextIdsAsync(5, 'a'),
      bound.fillAsync(new BigInt64Array(6)),
    ];
    const singles = [bench.generator.nextIdAsync('a'), bound.nextIdAsync()];
    for (let ms = 0; ms < 20; ms++) {
      await settle();
      crowdOut(bench, 1);
      // A fresh tick, before the calls that wait for it have woken up.
      bench.time.freeze(1);
      if (ms % 3 === 0) ids.push(bench.generator.nextId('a'));
      await bench.time.advance(0);
    }
    for (const batch of await Promise.all(batches)) ids.push(...batch);
    ids.push(...(await Promise.all(singles)));
    expect(ids).toHaveLength(3 + 20 + 2 + 7);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('eviction', () => {
  it('spares a code in use', () => {
    const table = new CodeTable(3);
    const kept = table.of('kept');
    for (let other = 0; other < 50; other++) {
      table.of(`other ${other}`);
      expect(table.of('kept')).toBe(kept);
    }
    expect(table.size).toBe(3);
  });

  it('spares a code that is used by its handle', () => {
    const bench = new GeneratorBench({ sequenceBits: 6, options: { maxCodes: 3 } });
    const bound = bench.generator.forCode('kept');
    for (let other = 0; other < 50; other++) {
      bench.generator.nextId(`other ${other}`);
      expect(bench.at(bound.nextId())).toBe(`1000000:0:${other}`);
    }
  });

  it('looks at a bounded number of codes though all of a large table are in use', () => {
    const table = new CodeTable(20_000);
    const codes = Array.from({ length: 20_000 }, (_, index) => table.of(`code ${index}`));
    for (let index = 0; index < 20_000; index++) table.of(`code ${index}`);
    table.of('one more');
    expect(codes.filter((each) => !each.takeSecondChance()).length).toBeLessThan(1_000);
    expect(codes.filter(({ evicted }) => evicted)).toHaveLength(1);
    expect(table.size).toBe(20_000);
  });

  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('id' as const),
        code: fc.nat(7),
        count: fc.integer({ min: 1, max: 3 }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('bound' as const), code: fc.nat(7) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('batch' as const),
        code: fc.nat(7),
        count: fc.integer({ min: 1, max: 9 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('clock' as const), ms: fc.integer({ min: -6, max: 8 }) }) },
  );

  /** A repeated ID, or undefined; three codes are kept of eight in use. */
  function findRepetition(
    steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[],
  ): string | undefined {
    const bench = new GeneratorBench({ options: { maxCodes: 3, maxHoldMs: 60_000 } });
    const bound: BoundIdCalls[] = Array.from({ length: 8 }, (_, code) => bench.generator.forCode(`code ${code}`));
    const seen = new Set<string>();
    for (const each of steps) {
      if (each.kind === 'clock') {
        if (each.ms > 0) bench.time.freeze(each.ms);
        else bench.time.step(each.ms);
        continue;
      }
      let ids: bigint[];
      const name = `code ${each.code}`;
      try {
        if (each.kind === 'bound') ids = [bound[each.code]!.nextId()];
        else if (each.kind === 'batch') ids = bench.generator.nextIds(each.count, name);
        else ids = Array.from({ length: each.count }, () => bench.generator.nextId(name));
      } catch {
        continue;
      }
      for (const id of ids) {
        const key = `${name} ${bench.at(id)}`;
        if (seen.has(key)) return key;
        seen.add(key);
      }
    }
    return undefined;
  }

  const property = fc.property(
    fc.array(step, { minLength: 1, maxLength: 80 }),
    (steps) => findRepetition(steps) === undefined,
  );

  it('repeats no ID, whichever codes come and go while the clock jumps', () => {
    fc.assert(property, { seed: 11, numRuns: 400 });
  });

  it.each<{ broken: string; sabotage: () => void }>([
    {
      broken: 'no marks are left behind',
      sabotage: () =>
        jest
          .spyOn(CodeTable.prototype as unknown as { keepMarks(gone: Sequencer): void }, 'keepMarks')
          .mockImplementation((gone) => {
            gone.evict();
          }),
    },
    {
      broken: 'handles go on with what was evicted',
      sabotage: () =>
        jest
          .spyOn(CodeTable.prototype as unknown as { keepMarks(gone: Sequencer): void }, 'keepMarks')
          .mockImplementation(() => undefined),
    },
    {
      broken: 'the bases forget the other lane',
      sabotage: () => {
        const bases = CodeTable.prototype.bases;
        jest.spyOn(CodeTable.prototype, 'bases').mockImplementation(function (this: CodeTable, tenure) {
          return [bases.call(this, tenure)[0], BEFORE_ALL];
        });
      },
    },
  ])('would repeat IDs if $broken: the test can fail', ({ sabotage }) => {
    sabotage();
    expect(fc.check(property, { seed: 11, numRuns: 400 }).failed).toBe(true);
  });

  afterEach(() => jest.restoreAllMocks());
});
