import { getEventListeners } from 'node:events';
import { InvalidBatchError, InvalidTimeoutError, WaitTimeoutError } from '../generator/generator-errors.js';
import type { WaitOptions } from '../generator/waiting.js';
import { ClosedError } from '../lease/lease-errors.js';
import { settle } from '../testing/virtual-time.js';
import type { SegmentGenerator } from './segment-generator.js';
import { range, SegmentBench } from './testing/segment-bench.js';

type Call = (generator: SegmentGenerator, wait?: WaitOptions) => Promise<unknown>;

const calls: Record<string, Call> = {
  nextIdAsync: (generator, wait) => generator.nextIdAsync(undefined, wait),
  nextStringAsync: (generator, wait) => generator.nextStringAsync(undefined, wait),
  nextIdsAsync: (generator, wait) => generator.nextIdsAsync(2, undefined, wait),
  nextStringsAsync: (generator, wait) => generator.nextStringsAsync(2, undefined, wait),
  fillAsync: (generator, wait) => generator.fillAsync(new BigInt64Array(2), undefined, wait),
  'forCode().nextIdAsync': (generator, wait) => generator.forCode('default').nextIdAsync(wait),
  'forCode().nextStringAsync': (generator, wait) => generator.forCode('default').nextStringAsync(wait),
  'forCode().nextIdsAsync': (generator, wait) => generator.forCode('default').nextIdsAsync(2, wait),
  'forCode().nextStringsAsync': (generator, wait) => generator.forCode('default').nextStringsAsync(2, wait),
  'forCode().fillAsync': (generator, wait) => generator.forCode('default').fillAsync(new BigInt64Array(2), wait),
};
const each = it.each(Object.entries(calls));

/** A process whose database does not answer. */
function cutOff(): SegmentBench {
  const bench = new SegmentBench();
  bench.store.faultFor = () => ({ kind: 'hangs' });
  return bench;
}

describe('An async call', () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): number => unhandled.push(reason);
  beforeAll(() => process.on('unhandledRejection', note));
  afterAll(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  each('answers without a timer when numbers are at hand (%s)', async (_name, call) => {
    const bench = await SegmentBench.started();
    const setTimer = jest.spyOn(bench.time, 'setTimer');
    await call(bench.generator);
    expect(setTimer).not.toHaveBeenCalled();
  });

  each('waits for a slow store, as long as it takes (%s)', async (_name, call) => {
    const bench = new SegmentBench();
    bench.store.faultFor = () => ({ kind: 'slow', thereMs: 1_000, backMs: 1_500 });
    const answer = call(bench.generator, { timeoutMs: 3_000 });
    await bench.time.advance(2_500);
    const first = { nextIdAsync: 1n, nextStringAsync: '1', nextIdsAsync: [1n, 2n], nextStringsAsync: ['1', '2'] };
    const name = _name.replace('forCode().', '') as keyof typeof first;
    await expect(answer).resolves.toEqual(first[name] ?? new BigInt64Array([1n, 2n]));
  });

  each('gives up after timeoutMs, says what it waited for, and has taken nothing (%s)', async (_name, call) => {
    const bench = cutOff();
    const failed = expect(call(bench.generator, { timeoutMs: 250 })).rejects.toMatchObject({
      name: 'WaitTimeoutError',
      timeoutMs: 250,
      retryable: true,
      cause: { errorCode: 'SEGMENT_NOT_READY' },
    });
    await bench.time.advance(250);
    await failed;
    expect(bench.generator.counters.issued).toBe(0);
    bench.store.faultFor = () => undefined;
    const next = bench.generator.nextIdAsync(undefined, { timeoutMs: 5_000 });
    await bench.time.advance(5_000);
    await expect(next).resolves.toBe(1n);
  });

  each('rejects with the signal’s reason, at once or later, and leaves no listener (%s)', async (_name, call) => {
    const bench = cutOff();
    const controller = new AbortController();
    const { signal } = controller;
    const failed = expect(call(bench.generator, { signal })).rejects.toBe('enough');
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    controller.abort('enough');
    await failed;
    await expect(call(bench.generator, { signal })).rejects.toBe('enough');
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  each('rejects a timeoutMs that is no number of milliseconds (%s)', async (_name, call) => {
    const bench = await SegmentBench.started();
    for (const timeoutMs of [-1, Number.NaN, '5' as unknown as number]) {
      await expect(call(bench.generator, { timeoutMs })).rejects.toBeInstanceOf(InvalidTimeoutError);
    }
  });

  each('is refused when the generator is closed (%s)', async (_name, call) => {
    const bench = cutOff();
    const failed = expect(call(bench.generator)).rejects.toBeInstanceOf(ClosedError);
    void bench.generator.close();
    await failed;
    await expect(call(bench.generator)).rejects.toBeInstanceOf(ClosedError);
  });

  it('waits asyncTimeoutMs when it names no timeoutMs, and longer than a timer can when it wants to', async () => {
    const bench = cutOff();
    const usual = expect(bench.generator.nextIdAsync()).rejects.toBeInstanceOf(WaitTimeoutError);
    const patient = bench.generator.nextIdAsync(undefined, { timeoutMs: Number.POSITIVE_INFINITY });
    await bench.time.advance(3_000);
    await usual;
    bench.store.faultFor = () => undefined;
    bench.time.freeze(2 ** 32);
    await bench.time.advance(6_000);
    await expect(patient).resolves.toBe(1n);
  });

  it('keeps the process alive while it waits, and only then', async () => {
    const bench = cutOff();
    const kinds = jest.spyOn(bench.time, 'setTimer');
    const waiting = expect(bench.generator.nextIdAsync()).rejects.toBeInstanceOf(WaitTimeoutError);
    const called = kinds.mock.calls as unknown as [() => void, number, string][];
    expect(called.map(([, ms, kind]) => [ms, kind])).toEqual([
      [3_000, 'foreground'],
      [3_000, 'background'],
    ]);
    await bench.time.advance(30_000);
    await waiting;
    expect(called.filter(([, , kind]) => kind === 'foreground')).toHaveLength(1);
  });
});

describe('Callers who wait', () => {
  it('are served in the order in which they came', async () => {
    const bench = new SegmentBench();
    const { generator } = bench;
    const waiting = [
      generator.nextIdAsync(),
      generator.nextIdsAsync(3),
      generator.nextIdAsync(),
      generator.nextIdsAsync(2),
    ];
    expect(await Promise.all(waiting)).toEqual([1n, [2n, 3n, 4n], 5n, [6n, 7n]]);
  });

  it('keep their place before those who come later, whatever is at hand', async () => {
    const bench = await SegmentBench.started();
    const batch = bench.generator.nextIdsAsync(1_001);
    const one = bench.generator.nextIdAsync();
    expect(await batch).toEqual(range(1, 1_001));
    expect(await one).toBe(1_002n);
  });

  it('do not hold up those behind them once they have given up', async () => {
    const bench = await SegmentBench.started();
    bench.store.faultFor = () => ({ kind: 'hangs' });
    const failed = expect(bench.generator.nextIdsAsync(5_000, undefined, { timeoutMs: 100 })).rejects.toThrow('100 ms');
    const one = bench.generator.nextIdAsync();
    await bench.time.advance(100);
    await failed;
    await expect(one).resolves.toBe(1n);
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

  it('that is async leaves nothing of an earlier call in an array that it could not fill', async () => {
    const bench = cutOff();
    const target = new BigInt64Array(3).fill(7n);
    const failed = expect(bench.generator.fillAsync(target)).rejects.toBeInstanceOf(ClosedError);
    void bench.generator.close();
    await failed;
    expect([...target]).toEqual([0n, 0n, 0n]);
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

  it('of no cells is nothing, and one of a wrong size is refused', async () => {
    const bench = await SegmentBench.started();
    expect(bench.generator.fill(new BigInt64Array(0))).toHaveLength(0);
    expect(await bench.generator.fillAsync(new BigInt64Array(0))).toHaveLength(0);
    for (const count of [0, -1, 1.5, 100_001, Number.NaN, '3' as unknown as number]) {
      expect(() => bench.generator.nextIds(count)).toThrow(InvalidBatchError);
      await expect(bench.generator.nextStringsAsync(count)).rejects.toBeInstanceOf(InvalidBatchError);
    }
    expect(() => bench.generator.fill([] as unknown as BigInt64Array)).toThrow(InvalidBatchError);
  });
});
