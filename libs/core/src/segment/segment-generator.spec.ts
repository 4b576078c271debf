import { ConfigurationError } from '../config/option-reader.js';
import { CallsByCode } from '../generator/id-calls.js';
import { InvalidCodeError, UnsafeIntegerError } from '../generator/generator-errors.js';
import type { IssuedCounts } from '../generator/issued-counts.js';
import { TooManyCodesError } from '../prefetch/buffered-generator.js';
import { thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { settle } from '../../../../test/support/engine/virtual-time.js';
import { range, SegmentBench } from '../../../../test/support/engine/segment-bench.js';
import { ClosedError } from '../lease/lease-errors.js';
import { SegmentNotReadyError, SegmentStoreUnavailableError } from './segment-errors.js';
import { MemorySegmentTable } from './memory-segment-store.js';

const shown = ({ plain, byCode, others }: IssuedCounts): object => ({
  plain,
  byCode: Object.fromEntries(byCode),
  others,
});

describe('The segment generator', () => {
  it('numbers every code from 1, and calls without a code are those of the default one', async () => {
    const bench = new SegmentBench();
    await bench.generator.start(['default', 'order']);
    const { generator } = bench;
    expect([generator.nextId(), generator.nextId('order'), generator.nextId('default')]).toEqual([1n, 1n, 2n]);
    expect(generator.forCode('order').nextString()).toBe('2');
    expect(generator.nextNumber('order')).toBe(3);
    expect(generator.forCode('order').code).toBe('order');
  });

  it('takes another default code', async () => {
    const bench = new SegmentBench({ options: { defaultCode: 'plain' } });
    await bench.generator.nextIdAsync();
    expect(bench.generator.nextId('plain')).toBe(2n);
  });

  it('fetches the first numbers of all codes at once', async () => {
    const bench = new SegmentBench();
    bench.store.faultFor = (call) => (call === 'reserve' ? { kind: 'slow', thereMs: 50, backMs: 50 } : undefined);
    const starting = bench.generator.start(['a', 'b', 'c']);
    await bench.time.advance(100);
    await starting;
    expect(bench.store.mostUnderWay).toBe(3);
    expect(['a', 'b', 'c'].map((code) => bench.generator.nextId(code))).toEqual([1n, 1n, 1n]);
  });

  it('rejects a start without a table, and one whose numbers do not come', async () => {
    const bench = new SegmentBench();
    bench.store.next('prepare', { kind: 'refused' });
    await expect(bench.generator.start()).rejects.toBeInstanceOf(SegmentStoreUnavailableError);
    bench.store.next('prepare', { kind: 'hangs' });
    const hanging = expect(bench.generator.start()).rejects.toThrow('no answer within 30000 ms');
    await bench.time.advance(30_000);
    await hanging;
    bench.store.faultFor = (call) => (call === 'reserve' ? { kind: 'refused' } : undefined);
    const starting = expect(bench.generator.start(['a'], { timeoutMs: 500 })).rejects.toThrow('ECONNREFUSED');
    await bench.time.advance(500);
    await starting;
  });

  it('shares a table with other processes: increasing in each, never twice, without a gap', async () => {
    const table = new MemorySegmentTable();
    const benches = [1, 2, 3].map(() => new SegmentBench({ table, step: 10, options: { prefetchBelow: 0 } }));
    const all: bigint[] = [];
    for (let times = 0; times < 100; times++) {
      for (const { generator } of benches) all.push(await generator.nextIdAsync());
    }
    expect(new Set(all).size).toBe(300);
    for (const bench of benches) await bench.generator.close();
  });

  it.each([[''], ['x'.repeat(129)], [null], [5]])('refuses %p for a code', async (code: unknown) => {
    const bench = new SegmentBench();
    expect(() => bench.generator.nextId(code as string)).toThrow(InvalidCodeError);
    expect(() => bench.generator.forCode(code as string)).toThrow(InvalidCodeError);
    expect(bench.generator.refusal(code as string)).toBeInstanceOf(InvalidCodeError);
    await expect(bench.generator.nextIdAsync(code as string)).rejects.toBeInstanceOf(InvalidCodeError);
  });

  it('refuses more than maxCodes, and keeps those that it has', async () => {
    const bench = new SegmentBench({ options: { maxCodes: 2 } });
    await bench.generator.start(['a', 'b']);
    const error = thrownBy(() => bench.generator.nextId('c'));
    expect(error).toBeInstanceOf(TooManyCodesError);
    expect(error).toMatchObject({ idCode: 'c', maxCodes: 2 });
    expect(bench.generator.refusal('c')).toBeInstanceOf(TooManyCodesError);
    await expect(bench.generator.nextIdAsync('c')).rejects.toBeInstanceOf(TooManyCodesError);
    expect(bench.generator.nextId('a')).toBe(1n);
  });

  it('says why a number would be refused, and fetches nothing for it', async () => {
    const bench = new SegmentBench();
    expect(bench.generator.refusal()).toBeInstanceOf(SegmentNotReadyError);
    await settle();
    expect(bench.store.requests).toEqual([]);
    expect(bench.generator.counters.codes).toBe(0);
    await bench.generator.nextIdAsync();
    expect(bench.generator.refusal()).toBeUndefined();
  });

  it('refuses a number above 2^53 - 1 before it is consumed', async () => {
    const bench = await SegmentBench.started({ row: { maxId: 2n ** 53n - 3n, step: 10 } });
    expect(bench.generator.nextNumber()).toBe(2 ** 53 - 2);
    expect(bench.generator.nextNumber()).toBe(2 ** 53 - 1);
    const error = thrownBy(() => bench.generator.nextNumber());
    expect(error).toBeInstanceOf(UnsafeIntegerError);
    expect((error as Error).message).toContain(
      "The numbers of 'default' passed 2^53 - 1, the largest exact JavaScript number: use",
    );
    expect(bench.generator.nextId()).toBe(2n ** 53n);
    expect(bench.generator.nextString()).toBe(String(2n ** 53n + 1n));
    expect(() => bench.generator.nextNumber()).toThrow(UnsafeIntegerError);
  });

  it('goes up to the last number there is', async () => {
    const bench = await SegmentBench.started({ row: { maxId: 2n ** 63n - 4n, step: 2 } });
    bench.take(2);
    await settle();
    expect(bench.generator.nextString()).toBe('9223372036854775807');
    await settle();
    expect(() => bench.generator.nextId()).toThrow('max_limit_id is 9223372036854775807');
  });

  it('counts what it does', async () => {
    const bench = new SegmentBench();
    await bench.generator.start(['a', 'b']);
    bench.generator.nextIds(30, 'a');
    bench.generator.nextStrings(20, 'b');
    bench.generator.nextNumber('b');
    await bench.generator.fillAsync(new BigInt64Array(9), 'b');
    expect(bench.generator.counters).toMatchObject({
      issued: 60,
      codes: 2,
      reservations: 2,
      reserved: 2_000,
      failures: 0,
    });
    expect(bench.generator.status()).toEqual([
      { code: 'a', left: 970, step: 1_000, buffered: 0, isFetching: false, lastError: undefined },
      { code: 'b', left: 970, step: 1_000, buffered: 0, isFetching: false, lastError: undefined },
    ]);
  });

  it('counts some codes apart', async () => {
    const bench = new SegmentBench();
    const counts = bench.generator.issuedByCode({ codes: ['late', 'a'], firstCodes: 1 });
    await bench.generator.start(['a', 'b', 'c']);
    bench.generator.nextIds(3, 'a');
    bench.generator.nextIds(4, 'b');
    bench.generator.nextIds(5, 'c');
    expect(shown(counts.read())).toEqual({ plain: 0, byCode: { late: 0, a: 3, b: 4 }, others: 5 });
    expect(counts.reads).toBe(1);
    expect(() => bench.generator.issuedByCode({ firstCodes: -1 })).toThrow(ConfigurationError);
  });

  it('counts none of those apart that made room without ever having had a number', async () => {
    const bench = new SegmentBench({ autoCreateCode: false, options: { maxCodes: 1 }, row: {} });
    const counts = bench.generator.issuedByCode({ codes: ['named'], firstCodes: 1 });
    for (const code of ['junk', 'named']) {
      await expect(bench.generator.nextIdAsync(code)).rejects.toThrow('There are no numbers');
      counts.read();
    }
    await bench.generator.nextIdAsync('default');
    expect(shown(counts.read())).toEqual({ plain: 0, byCode: { named: 0, default: 1 }, others: 0 });
  });

  it('names an option that is wrong', () => {
    expect(() => new SegmentBench({ options: { maxStep: 0 } })).toThrow(ConfigurationError);
  });

  it.each(['nextId', 'nextString'] as const)('gives with %s what every other engine would', async (call) => {
    const [short, common] = await Promise.all([SegmentBench.started(), SegmentBench.started()]);
    for (let times = 0; times < 50; times++) {
      expect(Reflect.apply(CallsByCode.prototype[call], common.generator, [])).toBe(short.generator[call]());
    }
  });

  it('hands out in order what it has, in whatever form it is asked for', async () => {
    const bench = await SegmentBench.started();
    const { generator } = bench;
    const taken = [
      generator.nextId(),
      ...generator.nextIds(3),
      BigInt(generator.nextString()),
      ...generator.nextStrings(4).map(BigInt),
      BigInt(generator.nextNumber()),
      ...generator.fill(new BigInt64Array(2)),
      await generator.nextIdAsync(),
      ...(await generator.nextIdsAsync(3)),
      BigInt(await generator.nextStringAsync()),
      ...(await generator.nextStringsAsync(2)).map(BigInt),
      ...(await generator.fillAsync(new BigInt64Array(2))),
    ];
    expect(taken).toEqual(range(1, taken.length));
  });
});

describe('A clean shutdown', () => {
  it('gives back what was not used, so that the next process goes on without a gap', async () => {
    const bench = await SegmentBench.started();
    bench.take(400);
    await settle();
    expect(bench.status.left).toBe(1_600);
    await bench.generator.close();
    expect(bench.store.returns).toEqual([{ first: 401n, last: 2_000n }]);
    expect(bench.row.maxId).toBe(400n);
    expect(bench.generator.counters).toMatchObject({ issued: 400, givenBack: 1_600 });
    expect(bench.store.isClosed).toBe(true);
    const next = await SegmentBench.started({ table: bench.table });
    expect(next.take(2)).toEqual([401n, 402n]);
  });

  it('gives nothing back that others have gone past, and only what hangs together', async () => {
    const bench = await SegmentBench.started();
    const other = await SegmentBench.started({ table: bench.table });
    bench.take(400);
    await settle();
    expect(bench.row.maxId).toBe(3_000n);
    await bench.generator.close();
    expect(bench.store.returns).toEqual([{ first: 2_001n, last: 3_000n }]);
    expect(bench.row.maxId).toBe(2_000n);
    await other.generator.close();
    expect(bench.row.maxId).toBe(1_000n);
    const third = await SegmentBench.started({ table: bench.table });
    expect(third.take(1)).toEqual([1_001n]);
    await bench.generator.close();
  });

  it('refuses all who wait, however many, also when a fetch ends in the middle of it', async () => {
    const bench = await SegmentBench.started({ row: { step: 10 }, options: { maxStep: 10, prefetchBelow: 0 } });
    bench.take(10);
    bench.store.next('reserve', { kind: 'slow', thereMs: 5, backMs: 5 });
    const refused: unknown[] = [];
    for (let caller = 0; caller < 1_000; caller++) {
      bench.generator.nextIdAsync(undefined, { timeoutMs: 60_000 }).catch((error: unknown) => refused.push(error));
    }
    await settle();
    const closing = bench.generator.close();
    await bench.time.advance(1_000);
    await closing;
    expect(refused).toHaveLength(1_000);
    expect(refused.every((error) => error instanceof ClosedError)).toBe(true);
  });

  it('happens once, and every call is refused from its first moment on', async () => {
    const bench = await SegmentBench.started();
    const closing = [bench.generator.close(), bench.generator.close()];
    expect(() => bench.generator.nextId()).toThrow(ClosedError);
    expect(() => bench.generator.nextString()).toThrow(ClosedError);
    expect(() => bench.generator.nextNumber()).toThrow(ClosedError);
    expect(() => bench.generator.nextIds(2)).toThrow(ClosedError);
    expect(() => bench.generator.nextId('another')).toThrow(ClosedError);
    expect(bench.generator.refusal()).toBeInstanceOf(ClosedError);
    expect(bench.generator.refusal('another')).toBeInstanceOf(ClosedError);
    await Promise.all(closing);
    await bench.generator.close();
    expect(bench.store.returns).toHaveLength(1);
  });

  it('waits for the fetch under way, and gives back what it brings', async () => {
    const bench = await SegmentBench.started();
    bench.store.next('reserve', { kind: 'slow', thereMs: 500, backMs: 500 });
    bench.take(200);
    let isClosed = false;
    const closing = bench.generator.close().then(() => (isClosed = true));
    await bench.time.advance(999);
    expect(isClosed).toBe(false);
    expect(() => bench.generator.nextId()).toThrow(ClosedError);
    await bench.time.advance(1);
    await closing;
    expect(bench.store.returns).toEqual([{ first: 201n, last: 2_000n }]);
    expect(bench.row.maxId).toBe(200n);
  });

  it('takes no longer than opTimeoutMs twice with a database that does not answer', async () => {
    const bench = await SegmentBench.started({ options: { opTimeoutMs: 400 } });
    bench.store.faultFor = () => ({ kind: 'hangs' });
    bench.take(200);
    let isClosed = false;
    void bench.generator.close().then(() => (isClosed = true));
    await bench.time.advance(799);
    expect(isClosed).toBe(false);
    await bench.time.advance(1);
    expect(isClosed).toBe(true);
    expect(bench.store.returns).toEqual([{ first: 201n, last: 1_000n }]);
    await bench.time.advance(60_000);
    expect(bench.store.requests).toHaveLength(2);
    expect(bench.store.returns).toHaveLength(1);
    expect(bench.generator.counters.givenBack).toBe(0);
  });

  it.each([{ kind: 'refused' }, { kind: 'answer-lost' }] as const)(
    'does not try to give back again after $kind, and does not reject',
    async (fault) => {
      const bench = await SegmentBench.started();
      bench.store.next('giveBack', fault);
      await bench.generator.close();
      await bench.time.advance(60_000);
      expect(bench.store.returns).toHaveLength(1);
    },
  );

  it('leaves an answer a gap that comes after it', async () => {
    const bench = await SegmentBench.started({ options: { opTimeoutMs: 100 } });
    bench.store.next('reserve', { kind: 'slow', thereMs: 0, backMs: 1_000 });
    bench.take(200);
    const closing = bench.generator.close();
    await bench.time.advance(1_000);
    await closing;
    expect(bench.store.returns).toEqual([{ first: 201n, last: 1_000n }]);
    expect(bench.row.maxId).toBe(2_000n);
    expect(bench.generator.counters).toMatchObject({ dropped: 1_000, givenBack: 0 });
  });
});

describe('After a restore', () => {
  it('nothing that was at hand or under way is ever used', async () => {
    const bench = await SegmentBench.started();
    bench.store.next('reserve', { kind: 'slow', thereMs: 0, backMs: 1_000 });
    bench.take(200);
    await bench.time.advance(0);
    const waiting = bench.generator.nextIdsAsync(1_000);
    bench.generator.afterRestore();
    expect(await waiting).toEqual(range(2_001, 3_000));
    await bench.time.advance(2_000);
    bench.take(bench.status.left);
    expect(bench.generator.counters).toMatchObject({ forgotten: 800, dropped: 1_000 });
  });

  it('two copies of a process never hand out the same number', async () => {
    const bench = await SegmentBench.started();
    bench.take(10);
    bench.generator.afterRestore();
    expect(() => bench.generator.nextId()).toThrow('No number');
    await settle();
    expect(bench.take(1)).toEqual([1_001n]);
  });

  it('none of the numbers is given of which texts were being made', async () => {
    const bench = await SegmentBench.started({ row: { step: 10_000 } });
    const texts = bench.generator.nextStringsAsync(5_000);
    await settle();
    expect(bench.generator.counters.issued).toBe(5_000);
    bench.generator.afterRestore();
    for (let turns = 0; turns < 10; turns++) await bench.time.advance(0);
    expect(await texts).toEqual(range(20_001, 25_000).map(String));
  });

  it('nothing of it is given back', async () => {
    const bench = await SegmentBench.started();
    bench.generator.afterRestore();
    await bench.generator.close();
    expect(bench.store.returns).toEqual([{ first: 1_001n, last: 2_000n }]);
  });
});

describe('Callers who wait', () => {
  it('keep their place before those who come later, whatever is at hand', async () => {
    const bench = await SegmentBench.started();
    const batch = bench.generator.nextIdsAsync(1_001);
    const one = bench.generator.nextIdAsync();
    expect(await batch).toEqual(range(1, 1_001));
    expect(await one).toBe(1_002n);
  });

  it('are served although sync calls take what is at hand before their numbers come', async () => {
    const bench = await SegmentBench.started({ options: { prefetchBelow: 0 } });
    bench.store.faultFor = () => ({ kind: 'slow', thereMs: 10, backMs: 10 });
    const batch = bench.generator.nextIdsAsync(1_500);
    expect(bench.take(1_000)).toEqual(range(1, 1_000));
    await bench.time.advance(20);
    expect(await batch).toEqual(range(1_001, 2_500));
    expect(bench.counts).toEqual([undefined, 1_500]);
  });

  it('make one request together, however many they are', async () => {
    const bench = await SegmentBench.started({ row: { step: 10 } });
    bench.take(10);
    await settle();
    const asked = bench.store.requests.length;
    const left = bench.status.left;
    const waiting = Array.from({ length: 5_000 }, () => bench.generator.nextIdAsync());
    for (let turns = 0; turns < 50; turns++) await bench.time.advance(0);
    const ids = await Promise.all(waiting);
    expect(ids).toEqual(range(11, 5_010));
    expect(left).toBeLessThan(5_000);
    expect(bench.store.requests.length - asked).toBeLessThanOrEqual(4);
    expect(bench.store.mostUnderWay).toBe(1);
  });
});

describe('A batch', () => {
  it('of more than a segment makes the fetch as large, and takes all at once', async () => {
    const bench = await SegmentBench.started({ row: { step: 100 } });
    const ids = bench.generator.nextIdsAsync(20_000);
    for (let turns = 0; turns < 10; turns++) await bench.time.advance(0);
    expect(await ids).toEqual(range(1, 20_000));
    expect(bench.counts.slice(0, 2)).toEqual([undefined, 20_000]);
  });

  it('that is sync throws when it does not fit, takes nothing, and fits the next time', async () => {
    const bench = await SegmentBench.started();
    const target = new BigInt64Array(5_000).fill(7n);
    expect(() => bench.generator.fill(target)).toThrow('No number');
    expect(target.every((cell) => cell === 0n)).toBe(true);
    expect(bench.generator.nextId()).toBe(1n);
    await settle();
    expect([...bench.generator.fill(target)]).toEqual(range(2, 5_001));
  });

  it('has the same numbers in every form, over the edges of segments', async () => {
    const bench = await SegmentBench.started({ row: { maxId: 9_990n, step: 7 } });
    await bench.generator.nextIdsAsync(1);
    const { generator } = bench;
    let highest = 0n;
    const follow = (numbers: readonly bigint[]): void => {
      for (const each of numbers) {
        expect(each).toBeGreaterThan(highest);
        highest = each;
      }
    };
    for (let times = 0; times < 200; times++) {
      while (bench.status.left < 44) {
        follow(await generator.nextIdsAsync(44));
        await settle();
      }
      follow([generator.nextId(), BigInt(generator.nextString()), BigInt(generator.nextNumber())]);
      follow(generator.nextIds(11));
      const texts = generator.nextStrings(13);
      follow(texts.map(BigInt));
      expect(texts).toEqual(texts.map((each) => BigInt(each).toString()));
      follow([...generator.fill(new BigInt64Array(17))]);
    }
  });
});
