import { getEventListeners } from 'node:events';
import { InvalidBatchError, InvalidTimeoutError, WaitTimeoutError } from '../generator/generator-errors.js';
import type { WaitOptions } from '../generator/waiting.js';
import { ClosedError } from '../lease/lease-errors.js';
import { PrefetchBench } from '../../../../test/support/engine/prefetch-bench.js';
import { SegmentBench } from '../../../../test/support/engine/segment-bench.js';
import type { Fault } from '../../../../test/support/engine/fault-store.js';
import type { VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import type { BufferedGenerator } from './buffered-generator.js';
import type { Prefetcher } from './prefetcher.js';

/** A process whose IDs are fetched from a source with faults. */
interface Process {
  readonly time: VirtualTime;
  readonly ids: BufferedGenerator<Prefetcher> & { close(): unknown; readonly counters: { readonly issued: number } };
  meet(fault: Fault | undefined): void;
  requests(): number;
}

type Call = (ids: Process['ids'], wait?: WaitOptions) => Promise<unknown>;

function ofSegments(): Process {
  const { generator: ids, time, store } = new SegmentBench();
  return { ids, time, meet: (fault) => (store.faultFor = () => fault), requests: () => store.requests.length };
}

function prefetched(): Process {
  const { ids, time, source } = new PrefetchBench({ minStep: 1_000 });
  return { ids, time, meet: (fault) => (source.faultFor = () => fault), requests: () => source.requests.length };
}

const calls: Record<string, Call> = {
  nextIdAsync: (ids, wait) => ids.nextIdAsync(undefined, wait),
  nextStringAsync: (ids, wait) => ids.nextStringAsync(undefined, wait),
  nextIdsAsync: (ids, wait) => ids.nextIdsAsync(2, undefined, wait),
  nextStringsAsync: (ids, wait) => ids.nextStringsAsync(2, undefined, wait),
  fillAsync: (ids, wait) => ids.fillAsync(new BigInt64Array(2), undefined, wait),
  'forCode().nextIdAsync': (ids, wait) => ids.forCode('default').nextIdAsync(wait),
  'forCode().nextStringAsync': (ids, wait) => ids.forCode('default').nextStringAsync(wait),
  'forCode().nextIdsAsync': (ids, wait) => ids.forCode('default').nextIdsAsync(2, wait),
  'forCode().nextStringsAsync': (ids, wait) => ids.forCode('default').nextStringsAsync(2, wait),
  'forCode().fillAsync': (ids, wait) => ids.forCode('default').fillAsync(new BigInt64Array(2), wait),
};
const each = it.each(Object.entries(calls));

const unhandled: unknown[] = [];
const note = (reason: unknown): number => unhandled.push(reason);
beforeAll(() => process.on('unhandledRejection', note));
afterAll(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

describe.each([
  { engine: 'segments', begin: ofSegments, notReady: 'SEGMENT_NOT_READY' },
  { engine: 'prefetched IDs', begin: prefetched, notReady: 'IDS_NOT_READY' },
])('An async call of $engine', ({ begin, notReady }) => {
  /** A process that has IDs at hand, of both codes. */
  async function started(): Promise<Process> {
    const made = begin();
    await Promise.all([made.ids.nextIdAsync(), made.ids.nextIdAsync('default')]);
    return made;
  }

  /** A process whose source does not answer. */
  function cutOff(): Process {
    const made = begin();
    made.meet({ kind: 'hangs' });
    return made;
  }

  each('answers without a timer when IDs are at hand (%s)', async (_name, call) => {
    const { ids, time } = await started();
    const setTimer = jest.spyOn(time, 'setTimer');
    await call(ids);
    expect(setTimer).not.toHaveBeenCalled();
  });

  each('waits for a slow source, as long as it takes (%s)', async (name, call) => {
    const { ids, time, meet } = begin();
    meet({ kind: 'slow', thereMs: 1_000, backMs: 1_500 });
    const answer = call(ids, { timeoutMs: 3_000 });
    await time.advance(2_500);
    const first = { nextIdAsync: 1n, nextStringAsync: '1', nextIdsAsync: [1n, 2n], nextStringsAsync: ['1', '2'] };
    const form = name.replace('forCode().', '') as keyof typeof first;
    await expect(answer).resolves.toEqual(first[form] ?? new BigInt64Array([1n, 2n]));
  });

  each('gives up after timeoutMs, says what it waited for, and has taken nothing (%s)', async (_name, call) => {
    const { ids, time, meet } = cutOff();
    const failed = expect(call(ids, { timeoutMs: 250 })).rejects.toMatchObject({
      name: 'WaitTimeoutError',
      timeoutMs: 250,
      retryable: true,
      cause: { errorCode: notReady },
    });
    await time.advance(250);
    await failed;
    expect(ids.counters.issued).toBe(0);
    meet(undefined);
    const next = ids.nextIdAsync(undefined, { timeoutMs: 5_000 });
    await time.advance(5_000);
    await expect(next).resolves.toBe(1n);
  });

  each('rejects with the signal’s reason, at once or later, and leaves no listener (%s)', async (_name, call) => {
    const { ids } = cutOff();
    const controller = new AbortController();
    const { signal } = controller;
    const failed = expect(call(ids, { signal })).rejects.toBe('enough');
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    controller.abort('enough');
    await failed;
    await expect(call(ids, { signal })).rejects.toBe('enough');
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  each('settles with a signal that throws, fires at once, or has no reason to tell (%s)', async (_name, call) => {
    const fail = (): never => {
      throw new Error('of the signal');
    };
    const signal = { aborted: false, reason: 'enough', addEventListener: () => {}, removeEventListener: () => {} };
    const { ids, time, meet } = cutOff();
    const rejected = expect(
      call(ids, { signal: { ...signal, removeEventListener: fail }, timeoutMs: 250 }),
    ).rejects.toBeInstanceOf(WaitTimeoutError);
    await time.advance(250);
    await rejected;
    await expect(call(ids, { signal: { ...signal, addEventListener: fail } })).rejects.toThrow('of the signal');
    const atOnce = { ...signal, addEventListener: (_: 'abort', listener: () => void) => listener() };
    await expect(call(ids, { signal: atOnce })).rejects.toBe('enough');
    const wordless = { ...atOnce };
    Object.defineProperty(wordless, 'reason', { get: fail });
    await expect(call(ids, { signal: wordless })).rejects.toThrow('of the signal');
    meet(undefined);
    const next = ids.nextIdAsync(undefined, { timeoutMs: 5_000 });
    await time.advance(5_000);
    await expect(next).resolves.toBe(1n);
  });

  each('rejects a timeoutMs that is no number of milliseconds (%s)', async (_name, call) => {
    const { ids } = await started();
    for (const timeoutMs of [-1, Number.NaN, '5' as unknown as number]) {
      await expect(call(ids, { timeoutMs })).rejects.toBeInstanceOf(InvalidTimeoutError);
    }
  });

  each('is refused when the service is closed (%s)', async (_name, call) => {
    const { ids } = cutOff();
    const failed = expect(call(ids)).rejects.toBeInstanceOf(ClosedError);
    void ids.close();
    await failed;
    await expect(call(ids)).rejects.toBeInstanceOf(ClosedError);
  });

  it('waits asyncTimeoutMs when it names no timeoutMs, and longer than a timer can when it wants to', async () => {
    const { ids, time, meet } = cutOff();
    const usual = expect(ids.nextIdAsync()).rejects.toBeInstanceOf(WaitTimeoutError);
    const patient = ids.nextIdAsync(undefined, { timeoutMs: Number.POSITIVE_INFINITY });
    await time.advance(3_000);
    await usual;
    meet(undefined);
    time.freeze(2 ** 32);
    await time.advance(6_000);
    await expect(patient).resolves.toBe(1n);
  });

  it('keeps the process alive while it waits, and only then', async () => {
    const { ids, time } = cutOff();
    const kinds = jest.spyOn(time, 'setTimer');
    const waiting = expect(ids.nextIdAsync()).rejects.toBeInstanceOf(WaitTimeoutError);
    const called = kinds.mock.calls as unknown as [() => void, number, string][];
    expect(called.map(([, ms, kind]) => [ms, kind])).toEqual([
      [3_000, 'foreground'],
      [3_000, 'background'],
    ]);
    await time.advance(30_000);
    await waiting;
    expect(called.filter(([, , kind]) => kind === 'foreground')).toHaveLength(1);
  });

  it('is served in the order in which it came, by one request', async () => {
    const { ids, requests } = begin();
    const waiting = [ids.nextIdAsync(), ids.nextIdsAsync(3), ids.nextIdAsync(), ids.nextIdsAsync(2)];
    expect(await Promise.all(waiting)).toEqual([1n, [2n, 3n, 4n], 5n, [6n, 7n]]);
    expect(requests()).toBe(1);
  });

  it('does not hold up those behind it once it has given up', async () => {
    const { ids, time, meet } = await started();
    meet({ kind: 'hangs' });
    const failed = expect(ids.nextIdsAsync(5_000, undefined, { timeoutMs: 100 })).rejects.toThrow('100 ms');
    const one = ids.nextIdAsync();
    await time.advance(100);
    await failed;
    await expect(one).resolves.toBeDefined();
  });

  it('leaves nothing of an earlier call in an array that it could not fill', async () => {
    const { ids } = cutOff();
    const target = new BigInt64Array(3).fill(7n);
    const failed = expect(ids.fillAsync(target)).rejects.toBeInstanceOf(ClosedError);
    expect(() => ids.fill(target)).toThrow('buffered');
    expect([...target]).toEqual([0n, 0n, 0n]);
    target.fill(7n);
    void ids.close();
    await failed;
    expect([...target]).toEqual([0n, 0n, 0n]);
  });

  it('of no cells is nothing, and one of a wrong size is refused', async () => {
    const { ids } = await started();
    expect(ids.fill(new BigInt64Array(0))).toHaveLength(0);
    expect(await ids.fillAsync(new BigInt64Array(0))).toHaveLength(0);
    for (const count of [0, -1, 1.5, 100_001, Number.NaN, '3' as unknown as number]) {
      expect(() => ids.nextIds(count)).toThrow(InvalidBatchError);
      await expect(ids.nextStringsAsync(count)).rejects.toBeInstanceOf(InvalidBatchError);
    }
    expect(() => ids.fill([] as unknown as BigInt64Array)).toThrow(InvalidBatchError);
  });
});
