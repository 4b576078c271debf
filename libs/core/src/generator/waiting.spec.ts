import { getEventListeners } from 'node:events';
import { ClockBeforeEpochError } from '../layout/layout-errors.js';
import { GeneratorBench } from '../../../../test/support/engine/generator-bench.js';
import { settle, type VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import { InvalidBatchError, InvalidTimeoutError, WaitTimeoutError } from './generator-errors.js';
import type { SnowflakeGenerator } from './snowflake-generator.js';
import type { WaitOptions } from './waiting.js';

type Call = (generator: SnowflakeGenerator, wait?: WaitOptions, code?: string) => Promise<unknown>;

const calls: Record<string, Call> = {
  nextIdAsync: (generator, wait, code) => generator.nextIdAsync(code, wait),
  nextStringAsync: (generator, wait, code) => generator.nextStringAsync(code, wait),
  nextIdsAsync: (generator, wait, code) => generator.nextIdsAsync(2, code, wait),
  nextStringsAsync: (generator, wait, code) => generator.nextStringsAsync(2, code, wait),
  fillAsync: (generator, wait, code) => generator.fillAsync(new BigInt64Array(2), code, wait),
  'forCode().nextIdAsync': (generator, wait, code = 'a') => generator.forCode(code).nextIdAsync(wait),
  'forCode().nextStringAsync': (generator, wait, code = 'a') => generator.forCode(code).nextStringAsync(wait),
  'forCode().nextIdsAsync': (generator, wait, code = 'a') => generator.forCode(code).nextIdsAsync(2, wait),
  'forCode().nextStringsAsync': (generator, wait, code = 'a') => generator.forCode(code).nextStringsAsync(2, wait),
  'forCode().fillAsync': (generator, wait, code = 'a') => generator.forCode(code).fillAsync(new BigInt64Array(2), wait),
};
const each = it.each(Object.entries(calls));

/** A generator that refuses until told otherwise. */
function refusing(): GeneratorBench {
  return new GeneratorBench({ tenure: { refusal: new ClockBeforeEpochError(1, 2) } });
}

function pendingTimers(time: VirtualTime): number {
  return (time as unknown as { pending: Set<unknown> }).pending.size;
}

describe('an async call', () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): number => unhandled.push(reason);
  beforeAll(() => process.on('unhandledRejection', note));
  afterAll(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  each('answers without a timer when nothing has to be waited for (%s)', async (_name, call) => {
    const bench = new GeneratorBench();
    const setTimer = jest.spyOn(bench.time, 'setTimer');
    await call(bench.generator);
    expect(setTimer).not.toHaveBeenCalled();
  });

  each('gives up after timeoutMs and says what it waited for (%s)', async (_name, call) => {
    const bench = refusing();
    const failed = expect(call(bench.generator, { timeoutMs: 250 })).rejects.toMatchObject({
      name: 'WaitTimeoutError',
      errorCode: 'WAIT_TIMEOUT',
      timeoutMs: 250,
      retryable: true,
      cause: bench.tenure.refusal,
    });
    await bench.time.advance(249);
    expect(pendingTimers(bench.time)).toBe(1);
    await bench.time.advance(1);
    await failed;
    expect(pendingTimers(bench.time)).toBe(0);
  });

  it('gives up after asyncTimeoutMs, 10 s by default', async () => {
    for (const asyncTimeoutMs of [undefined, 700]) {
      const options = asyncTimeoutMs === undefined ? {} : { asyncTimeoutMs };
      const bench = new GeneratorBench({ options, tenure: { refusal: new ClockBeforeEpochError(1, 2) } });
      let error: unknown;
      void bench.generator.nextIdAsync().catch((reason: unknown) => (error = reason));
      await bench.time.advance((asyncTimeoutMs ?? 10_000) - 1);
      expect(error).toBeUndefined();
      await bench.time.advance(1);
      expect(error).toBeInstanceOf(WaitTimeoutError);
    }
  });

  it('tries once when it may not wait at all', async () => {
    const bench = refusing();
    await expect(bench.generator.nextIdAsync(undefined, { timeoutMs: 0 })).rejects.toBeInstanceOf(WaitTimeoutError);
    expect(pendingTimers(bench.time)).toBe(0);
    bench.tenure.change({ refusal: undefined });
    expect(await bench.generator.nextIdAsync(undefined, { timeoutMs: 0 })).toBeGreaterThan(0n);
  });

  it('may wait for ever', async () => {
    const bench = refusing();
    const waiting = bench.generator.nextIdAsync(undefined, { timeoutMs: Infinity });
    await bench.time.advance(200_000);
    bench.tenure.change({ refusal: undefined });
    expect(bench.at(await waiting)).toBe('1200000:0:0');
  });

  it('is bounded by time that passes, not by the wall clock', async () => {
    const bench = refusing();
    const failed = expect(bench.generator.nextIdAsync(undefined, { timeoutMs: 500 })).rejects.toBeInstanceOf(
      WaitTimeoutError,
    );
    await bench.time.advance(100);
    bench.time.step(-1_000_000);
    await bench.time.advance(400);
    await failed;
  });

  it.each([-1, Number.NaN, '100', null, 5n, {}])('refuses a timeoutMs of %p', async (timeoutMs) => {
    for (const call of Object.values(calls)) {
      const bench = new GeneratorBench();
      const promise = call(bench.generator, { timeoutMs: timeoutMs as number });
      await expect(promise).rejects.toBeInstanceOf(InvalidTimeoutError);
      await expect(promise).rejects.toMatchObject({ errorCode: 'INVALID_TIMEOUT', given: timeoutMs, retryable: false });
      expect(bench.generator.counters.issued).toBe(0);
    }
  });

  each('is not begun with a signal that was aborted already (%s)', async (_name, call) => {
    const bench = new GeneratorBench();
    const reason = new Error('never mind');
    await expect(call(bench.generator, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(bench.generator.counters.issued).toBe(0);
  });

  each('ends when its signal is aborted meanwhile (%s)', async (_name, call) => {
    const bench = refusing();
    const controller = new AbortController();
    let error: unknown;
    void call(bench.generator, { signal: controller.signal }).catch((reason: unknown) => (error = reason));
    await bench.time.advance(50);
    expect(error).toBeUndefined();
    controller.abort();
    await settle();
    expect(error).toBe(controller.signal.reason);
    expect(pendingTimers(bench.time)).toBe(0);
    bench.tenure.change({ refusal: undefined });
    expect(bench.generator.counters.issued).toBe(0);
  });

  each('settles with a signal that throws, fires at once, or has no reason to tell (%s)', async (_name, call) => {
    const fail = (): never => {
      throw new Error('of the signal');
    };
    const signal = { aborted: false, reason: 'enough', addEventListener: () => {}, removeEventListener: () => {} };
    const late = refusing();
    const rejected = expect(
      call(late.generator, { signal: { ...signal, removeEventListener: fail }, timeoutMs: 250 }),
    ).rejects.toBeInstanceOf(WaitTimeoutError);
    await late.time.advance(250);
    await rejected;
    const { generator, time } = refusing();
    const deaf = call(generator, { signal: { ...signal, addEventListener: fail } });
    await expect(deaf).rejects.toThrow('of the signal');
    const atOnce = {
      ...signal,
      aborted: false,
      addEventListener: (_: 'abort', listener: () => void) => abort(listener),
    };
    const abort = (listener: () => void): void => {
      atOnce.aborted = true;
      listener();
    };
    await expect(call(generator, { signal: atOnce })).rejects.toBe('enough');
    expect(pendingTimers(time)).toBe(0);
  });

  each('leaves no listener on its signal, however it ends (%s)', async (_name, call) => {
    const controller = new AbortController();
    const wait = { signal: controller.signal, timeoutMs: 1_000 };
    const succeeding = refusing();
    const success = call(succeeding.generator, wait);
    await succeeding.time.advance(550);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    succeeding.tenure.change({ refusal: undefined });
    await success;
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    const failing = refusing();
    const failure = expect(call(failing.generator, wait)).rejects.toBeInstanceOf(WaitTimeoutError);
    await failing.time.advance(1_000);
    await failure;
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    const aborted = refusing();
    const abortion = expect(call(aborted.generator, wait)).rejects.toBe('enough');
    controller.abort('enough');
    await abortion;
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('in a large batch ends when its signal is aborted in between', async () => {
    const bench = new GeneratorBench({ sequenceBits: 17 });
    const controller = new AbortController();
    const failed = expect(
      bench.generator.nextIdsAsync(50_000, undefined, { signal: controller.signal }),
    ).rejects.toMatchObject({ name: 'AbortError' });
    await settle();
    controller.abort();
    await bench.time.advance(0);
    await failed;
    expect(bench.generator.counters.issued).toBe(4_096);
    expect(bench.next()).toBe('1000000:0:4096');
  });

  it('waits with a timer that keeps the process alive, since a caller is waiting for it', async () => {
    const bench = refusing();
    const setTimer = jest.spyOn(bench.time, 'setTimer');
    const waiting = bench.generator.nextIdAsync();
    await settle();
    expect(setTimer).toHaveBeenLastCalledWith(expect.any(Function), 100, 'foreground');
    bench.tenure.change({ refusal: undefined });
    await waiting;
    expect(pendingTimers(bench.time)).toBe(0);
  });

  it('is one of many that all go on when the tenure changes', async () => {
    const bench = new GeneratorBench({ sequenceBits: 12, tenure: { refusal: new ClockBeforeEpochError(1, 2) } });
    const waiting = Array.from({ length: 200 }, (_, n) => bench.generator.nextIdAsync(n % 2 === 0 ? undefined : 'a'));
    await bench.time.advance(5);
    bench.tenure.change({ refusal: undefined });
    const ids = await Promise.all(waiting);
    expect(new Set(ids).size).toBe(100);
    expect(bench.generator.counters.issued).toBe(200);
  });

  each('rejects and never throws, whatever it is given (%s)', async (name, call) => {
    const { generator } = new GeneratorBench();
    const bad = [
      { wait: { timeoutMs: -5 } },
      { wait: null as unknown as WaitOptions },
      { wait: { signal: AbortSignal.abort(new Error('too late')) } },
      // A handle is made by a sync call, which throws.
      ...(name.startsWith('forCode') ? [] : [{ code: '' }, { code: 3 as unknown as string }]),
    ];
    for (const given of bad) {
      let promise: Promise<unknown> | undefined;
      expect(() => (promise = call(generator, given.wait, given.code))).not.toThrow();
      await expect(promise).rejects.toBeInstanceOf(Error);
    }
  });

  it.each([0, -1, undefined])('rejects a batch of %p instead of throwing', async (count) => {
    const { generator } = new GeneratorBench();
    const promises = [
      generator.nextIdsAsync(count as number),
      generator.nextStringsAsync(count as number),
      generator.forCode('a').nextIdsAsync(count as number),
      generator.forCode('a').nextStringsAsync(count as number),
    ];
    for (const promise of promises) await expect(promise).rejects.toBeInstanceOf(InvalidBatchError);
    expect(generator.counters.issued).toBe(0);
  });
});
