import { createLayout } from '../layout/layout-options.js';
import { GeneratorBench, thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { type KeeperBench, twins } from '../../../../test/support/engine/keeper-bench.js';
import { CallsByCode } from './id-calls.js';
import { InvalidBatchError, SequenceExhaustedError, UnsafeIntegerError } from './generator-errors.js';
import { Issuer } from './position-allocator.js';

describe('single IDs', () => {
  it('come as bigint, text or number, each the next one', async () => {
    const bench = new GeneratorBench({ sequenceBits: 6, endBits: 1 });
    const { generator } = bench;
    const outputs = [generator.nextId(), generator.nextString(), generator.nextNumber()];
    outputs.push(await generator.nextIdAsync(), await generator.nextStringAsync());
    expect(outputs.map((output) => typeof output)).toEqual(['bigint', 'string', 'number', 'bigint', 'string']);
    expect(outputs.map((output) => bench.at(output))).toEqual([0, 1, 2, 3, 4].map((n) => `1000000:0:${n}`));
    expect(generator.counters.issued).toBe(5);
  });

  it('are the same in every form, to the last bit', () => {
    const forms = (['nextId', 'nextString', 'nextNumber'] as const).map((form) => {
      const layout = createLayout(
        {
          timeUnit: 'second',
          startTimeStamp: '2024-01-01',
          timeStampLength: 31,
          workIdLength: 3,
          endBitsLength: 5,
          endBitsValue: 21,
        },
        Date.parse('2024-01-02'),
      );
      const { generator } = new GeneratorBench({ layout, wall: Date.parse('2024-01-01T00:59:59Z') });
      return Array.from({ length: 100 }, () => BigInt(generator[form]()));
    });
    expect(forms[1]).toEqual(forms[0]);
    expect(forms[2]).toEqual(forms[0]);
    expect(forms[0]![99]).toBeLessThan(2n ** 53n);
  });

  it.each(['nextId', 'nextString', 'nextNumber'] as const)(
    'are those that %s of a handle and of every other engine would issue',
    (call) => {
      const benches = [1, 2, 3].map(() => new GeneratorBench({ sequenceBits: 3 }));
      const [short, common, bound] = benches.map(({ generator }) => generator);
      const handle = bound!.forCode('a');
      for (let times = 0; times < 60; times++) {
        const expected = short![call]('a');
        expect(Reflect.apply(CallsByCode.prototype[call], common, ['a'])).toBe(expected);
        expect(handle[call]()).toBe(expected);
        expect(Reflect.apply(CallsByCode.prototype[call], common, [])).toBe(short![call]());
        for (const { time } of benches) time.freeze(times % 3 === 0 ? 1 : 0);
      }
    },
  );

  it('are read back by parse in each form', () => {
    const { generator } = new GeneratorBench({ endBits: 2, epochMs: 500_000 });
    const id = generator.nextId();
    const parsed = { id, tick: 500_000, time: new Date(1_000_000), workerId: 1, clockBack: 0, sequence: 0, endBits: 3 };
    for (const form of [id, id.toString(), Number(id)]) expect(generator.parse(form)).toEqual(parsed);
    expect(thrownBy(() => generator.parse('rubbish'))).toMatchObject({ errorCode: 'INVALID_ID' });
  });
});

describe('IDs as numbers', () => {
  /** 2 + 3 + 1 bits below the tick: safe up to tick 2^47 - 1. */
  const lastSafe = 2 ** 47 - 1;

  it('go up to 2^53 - 1', () => {
    const bench = new GeneratorBench({ timeBits: 50, wall: lastSafe, tenure: { workerId: 7, lane: 1 } });
    const numbers = Array.from({ length: 4 }, () => bench.generator.nextNumber());
    expect(numbers.at(-1)).toBe(Number.MAX_SAFE_INTEGER);
  });

  it.each([
    { what: 'above', wall: lastSafe + 1 },
    { what: 'far above', wall: lastSafe * 8 },
  ])('are refused $what it, before a position is consumed', ({ wall }) => {
    const bench = new GeneratorBench({ timeBits: 50, wall, tenure: { workerId: 7, lane: 1 } });
    for (let call = 0; call < 3; call++) {
      const error = thrownBy(() => bench.generator.nextNumber());
      expect(error).toBeInstanceOf(UnsafeIntegerError);
      expect(error).toMatchObject({ errorCode: 'UNSAFE_INTEGER', retryable: false, safeUntil: new Date(lastSafe + 1) });
    }
    expect(bench.generator.counters.issued).toBe(0);
    expect(bench.take(2)).toEqual([`${wall}:1:0`, `${wall}:1:1`]);
    expect(() => bench.generator.nextNumber()).toThrow(UnsafeIntegerError);
    expect(bench.next()).toBe(`${wall}:1:2`);
    expect(bench.generator.counters.issued).toBe(3);
  });

  it('are refused in a borrowed tick that passes it, and text goes on from there', () => {
    const bench = new GeneratorBench({ timeBits: 50, wall: lastSafe });
    bench.take(4);
    expect(() => bench.generator.nextNumber()).toThrow(UnsafeIntegerError);
    expect(bench.at(bench.generator.nextString())).toBe(`${lastSafe + 1}:0:0`);
  });
});

describe('a batch', () => {
  const forms = {
    nextIds: (bench: GeneratorBench, count: number) => bench.generator.nextIds(count),
    nextStrings: (bench: GeneratorBench, count: number) => bench.generator.nextStrings(count).map(BigInt),
    fill: (bench: GeneratorBench, count: number) => [...bench.generator.fill(new BigInt64Array(count))],
    nextIdsAsync: (bench: GeneratorBench, count: number) => bench.generator.nextIdsAsync(count),
    nextStringsAsync: async (bench: GeneratorBench, count: number) =>
      (await bench.generator.nextStringsAsync(count)).map(BigInt),
    fillAsync: async (bench: GeneratorBench, count: number) => [
      ...(await bench.generator.fillAsync(new BigInt64Array(count))),
    ],
  };
  const each = it.each(Object.entries(forms));

  each('has the IDs that single calls would have given (%s)', async (_name, batch) => {
    const options = { endBits: 1, options: { maxAheadMs: 100 } };
    const [bench, single] = [new GeneratorBench(options), new GeneratorBench(options)];
    bench.next();
    single.next();
    const ids = await batch(bench, 39);
    expect(ids).toEqual(Array.from({ length: 39 }, () => single.generator.nextId()));
    expect(bench.at(ids.at(-1)!)).toBe('1000009:0:3');
    expect(bench.generator.counters.issued).toBe(40);
    expect(bench.next()).toBe(single.next());
  });

  each('may have any size, and the next ID follows (%s)', async (_name, batch) => {
    const bench = new GeneratorBench({ sequenceBits: 12, endBits: 1 });
    const { sequenceStep } = bench.generator.layout;
    let last = bench.generator.nextId();
    for (let count = 1; count <= 34; count++) {
      const ids = await batch(bench, count);
      expect(ids).toEqual(Array.from({ length: count }, () => (last += BigInt(sequenceStep))));
      expect(bench.generator.nextString()).toBe(String((last += BigInt(sequenceStep))));
    }
  });

  it.each([0, -1, 1.5, Number.NaN, Infinity, 1_001, '5', null, undefined, 5n, true, [3]])(
    'must be an integer from 1 to maxBatch, not %p',
    async (count) => {
      const { generator } = new GeneratorBench({ options: { maxBatch: 1_000 } });
      const bad = count as number;
      for (const call of [() => generator.nextIds(bad), () => generator.nextStrings(bad)]) {
        const error = thrownBy(call);
        expect(error).toBeInstanceOf(InvalidBatchError);
        expect(error).toMatchObject({ errorCode: 'INVALID_BATCH', given: count, maxBatch: 1_000, retryable: false });
      }
      await expect(generator.nextIdsAsync(bad)).rejects.toBeInstanceOf(InvalidBatchError);
      await expect(generator.nextStringsAsync(bad)).rejects.toBeInstanceOf(InvalidBatchError);
      expect(generator.counters.issued).toBe(0);
    },
  );

  it('may be as large as maxBatch, 100,000 by default, into a given array as well', async () => {
    const { generator } = new GeneratorBench({ sequenceBits: 17 });
    expect(new Set(generator.nextIds(100_000)).size).toBe(100_000);
    expect(() => generator.nextIds(100_001)).toThrow(InvalidBatchError);
    expect(() => generator.fill(new BigInt64Array(100_001))).toThrow(InvalidBatchError);
    await expect(generator.fillAsync(new BigInt64Array(100_001))).rejects.toBeInstanceOf(InvalidBatchError);
  });

  it('into an empty array does nothing', async () => {
    const { generator } = new GeneratorBench();
    const empty = new BigInt64Array(0);
    expect(generator.fill(empty)).toBe(empty);
    expect(await generator.fillAsync(empty)).toBe(empty);
    expect(generator.counters.issued).toBe(0);
  });

  it.each([
    { given: undefined, says: 'not undefined' },
    { given: null, says: 'not null' },
    { given: 5, says: 'not 5' },
    { given: [], says: 'not an array' },
    { given: new Uint32Array(2), says: 'not an object' },
    { given: new BigUint64Array(2), says: 'not an object' },
  ])('goes into a BigInt64Array and nothing else: $says', async ({ given, says }) => {
    const { generator } = new GeneratorBench();
    const target = given as unknown as BigInt64Array;
    const error = thrownBy(() => generator.fill(target)) as InvalidBatchError;
    expect(error).toBeInstanceOf(InvalidBatchError);
    expect(error.message).toContain(says);
    await expect(generator.fillAsync(target)).rejects.toBeInstanceOf(InvalidBatchError);
    await expect(generator.forCode('a').fillAsync(target)).rejects.toBeInstanceOf(InvalidBatchError);
    expect(generator.counters.issued).toBe(0);
  });

  it('fills exactly the part of a buffer that it is given', () => {
    const { generator } = new GeneratorBench();
    const whole = new BigInt64Array(6);
    generator.fill(whole.subarray(2, 4));
    expect([...whole].map((id) => id > 0n)).toEqual([false, false, true, true, false, false]);
  });

  describe('that does not fit', () => {
    const tight = { options: { maxAheadMs: 2 } };

    it.each(['nextIds', 'nextStrings', 'fill'] as const)(
      'issues nothing: what follows is as if it never was (%s)',
      (name) => {
        const [bench, untouched] = [new GeneratorBench(tight), new GeneratorBench(tight)];
        for (const ms of [0, 1, 5]) {
          bench.time.freeze(ms);
          untouched.time.freeze(ms);
          expect(bench.take(2)).toEqual(untouched.take(2));
          expect(() => forms[name](bench, 13)).toThrow(SequenceExhaustedError);
          expect(bench.generator.counters.issued).toBe(untouched.generator.counters.issued);
          expect(bench.take(2)).toEqual(untouched.take(2));
        }
        expect(bench.generator.nextIds(4)).toEqual(untouched.generator.nextIds(4));
      },
    );

    it('leaves nothing in its target, not even what was there before', () => {
      const bench = new GeneratorBench(tight);
      const target = BigInt64Array.from({ length: 20 }, () => 77n);
      expect(() => bench.generator.fill(target)).toThrow(SequenceExhaustedError);
      expect([...target]).toEqual(Array(20).fill(0n));
    });

    it('takes back a flip that it made', () => {
      const bench = new GeneratorBench(tight);
      bench.next();
      bench.time.step(-100);
      expect(() => bench.generator.nextIds(13)).toThrow(SequenceExhaustedError);
      expect(bench.take(2)).toEqual(['999900:1:0', '999900:1:1']);
      bench.time.freeze(200);
      expect(bench.next()).toBe('1000100:1:0');
    });

    it('because of the reservation asks for an extension', () => {
      const limit = { tick: 1_000_001, sequence: 0 };
      const bench = new GeneratorBench({ tenure: { limit: [limit, limit] } });
      expect(thrownBy(() => bench.generator.nextIds(6))).toMatchObject({ errorCode: 'RESERVATION_EXHAUSTED' });
      expect(bench.tenure.requests).toContain('extension');
      expect(bench.generator.nextIds(5)).toHaveLength(5);
    });

    it('does not touch other codes', () => {
      const bench = new GeneratorBench(tight);
      bench.take(2, 'a');
      expect(() => bench.generator.nextIds(50)).toThrow();
      expect(() => bench.generator.nextIds(50, 'b')).toThrow();
      expect([bench.next('a'), bench.next('b'), bench.next()]).toEqual(['1000000:0:2', '1000000:0:0', '1000000:0:0']);
    });
  });

  describe('that waits', () => {
    it('spans ticks and increases strictly', async () => {
      const bench = new GeneratorBench({ options: { onExhausted: 'wait' } });
      const pending = bench.generator.nextIdsAsync(50);
      await bench.time.advance(20);
      const ids = await pending;
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => (a < b ? -1 : 1)));
      expect(bench.at(ids.at(-1)!)).toBe('1000012:0:1');
      expect(bench.generator.counters.issued).toBe(50);
    });

    it('lets others have their turn of the event loop', async () => {
      const bench = new GeneratorBench({ sequenceBits: 17 });
      let done = false;
      const pending = bench.generator.nextIdsAsync(20_000).then((ids) => {
        done = true;
        return ids;
      });
      await bench.time.advance(0);
      expect(done).toBe(true);
      expect(new Set(await pending).size).toBe(20_000);
      const second = bench.generator.nextIdsAsync(4_097);
      bench.next();
      await bench.time.advance(0);
      const sequences = (await second).map((id) => bench.layout.unpack(id).sequence);
      expect(sequences[4_096]! - sequences[4_095]!).toBe(2);
    });

    it('and fails midway burns its IDs: they never come again', async () => {
      const bench = new GeneratorBench({ options: { onExhausted: 'wait' } });
      const target = new BigInt64Array(10).fill(7n);
      const failed = expect(bench.generator.fillAsync(target, undefined, { timeoutMs: 1 })).rejects.toMatchObject({
        errorCode: 'WAIT_TIMEOUT',
        cause: { errorCode: 'SEQUENCE_EXHAUSTED' },
      });
      await bench.time.advance(1);
      await failed;
      expect([...target]).toEqual(Array(10).fill(0n));
      expect(bench.generator.counters.issued).toBe(8);
      bench.time.freeze(1);
      expect(bench.next()).toBe('1000002:0:0');
      expect(bench.generator.counters.issued).toBe(9);
    });

    it('shares ticks with all other callers that wait for the same code', async () => {
      const bench = new GeneratorBench({ options: { onExhausted: 'wait' } });
      const pending = Promise.all([
        bench.generator.nextIdsAsync(30),
        bench.generator.nextIdsAsync(30),
        bench.generator.fillAsync(new BigInt64Array(30)),
      ]);
      await bench.time.advance(40);
      const batches = (await pending).map((batch) => [...batch]);
      expect(new Set(batches.flat()).size).toBe(90);
      for (const batch of batches) expect(batch).toEqual([...batch].sort((a, b) => (a < b ? -1 : 1)));
    });
  });
});

describe('a batch that waits while its process is copied', () => {
  const forms = {
    nextIdsAsync: (bench: KeeperBench) => bench.generator.nextIdsAsync(500),
    nextStringsAsync: async (bench: KeeperBench) => (await bench.generator.nextStringsAsync(500)).map(BigInt),
    fillAsync: async (bench: KeeperBench) => [...(await bench.generator.fillAsync(new BigInt64Array(500)))],
  };
  const ways = {
    'is told of it': (bench: KeeperBench): void => bench.keeper.afterRestore(),
    'sees it by itself': (bench: KeeperBench): void => void bench.processId++,
    'has lost its row meanwhile': (bench: KeeperBench): void => {
      bench.keeper.afterRestore();
      bench.store.goDown();
      void bench.time.another().setTimer(() => bench.store.comeBack(), 100_000);
    },
  };
  const cases = Object.entries(forms).flatMap(([name, form]) =>
    Object.entries(ways).map(([how, notice]) => ({ name, form, how, notice })),
  );

  /** Original and copy have gathered the same part of their batch when they part; how many IDs both give. */
  async function shared({ form, notice }: Omit<(typeof cases)[number], 'name' | 'how'>): Promise<number> {
    const batches: Promise<bigint[]>[] = [];
    const options = { layout: { timeUnit: 'second', timeStampLength: 49, endBitsLength: 4 } as const };
    const [original, copy] = await twins(
      { ...options, generator: { asyncTimeoutMs: 600_000 } },
      3_000,
      async (bench) => {
        await bench.keeper.start();
        batches.push(form(bench));
      },
    );
    notice(copy);
    await original.advance(300_000);
    const [ours, theirs] = await Promise.all(batches);
    expect([new Set(ours).size, new Set(theirs).size]).toEqual([500, 500]);
    expect(copy.story).toContain('lease-suspect');
    return ours!.filter((id) => theirs!.includes(id)).length;
  }

  it.each(cases)('and $how gives nothing that the other one gives ($name)', async (each) => {
    expect(await shared(each)).toBe(0);
  });

  it('gives what both had gathered when no check looks at the grant: the negative control', async () => {
    const grant = jest.spyOn(Issuer.prototype, 'grantKey', 'get').mockReturnValue('any');
    expect(await shared(cases[0]!)).toBeGreaterThan(100);
    grant.mockRestore();
  });
});
