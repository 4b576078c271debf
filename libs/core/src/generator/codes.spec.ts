import { GeneratorBench, thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { InvalidCodeError } from './generator-errors.js';

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
    { code: '', says: 'one of 0' },
    { code: 'x'.repeat(129), says: 'one of 129' },
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
