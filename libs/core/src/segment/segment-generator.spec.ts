import { ConfigurationError } from '../config/option-reader.js';
import { CallsByCode } from '../generator/id-calls.js';
import { InvalidCodeError, UnsafeIntegerError } from '../generator/generator-errors.js';
import type { IssuedCounts } from '../generator/issued-counts.js';
import { TooManyCodesError } from '../prefetch/buffered-generator.js';
import { thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { settle } from '../../../../test/support/engine/virtual-time.js';
import { SegmentNotReadyError, SegmentStoreUnavailableError } from './segment-errors.js';
import { MemorySegmentTable } from './memory-segment-store.js';
import { range, SegmentBench } from '../../../../test/support/engine/segment-bench.js';

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
      "The numbers of 'default' no longer fit a JavaScript number (2^53 - 1): use",
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
