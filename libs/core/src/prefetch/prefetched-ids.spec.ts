import { UnsafeIntegerError } from '../generator/generator-errors.js';
import { RaindropError } from '../raindrop-error.js';
import { range } from '../../../../test/support/engine/segment-bench.js';
import { thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { settle } from '../../../../test/support/engine/virtual-time.js';
import { IdSourceUnavailableError, IdsNotReadyError } from './prefetch-errors.js';
import { resolveOptions } from '../config/option-rules.js';
import { prefetchOptions } from './prefetch-options.js';
import { PrefetchedIds } from './prefetched-ids.js';
import { PrefetchBench } from '../../../../test/support/engine/prefetch-bench.js';
import { expectGrowingPauses } from '../../../../test/support/engine/live.js';

class Refusal extends RaindropError {
  readonly errorCode = 'REFUSAL';
  constructor(retryable: boolean) {
    super('not today', { retryable });
  }
}

const slow = { kind: 'slow', thereMs: 50, backMs: 50 } as const;

describe('Prefetched IDs', () => {
  it('come in every form, in the order of the source, over the edges of batches', async () => {
    const { ids } = await PrefetchBench.started({ minStep: 7 });
    const follow: bigint[] = [];
    for (let round = 0; round < 50; round++) {
      follow.push(await ids.nextIdAsync(), BigInt(await ids.nextStringAsync()));
      follow.push(...(await ids.nextIdsAsync(9)), ...(await ids.nextStringsAsync(8)).map(BigInt));
      follow.push(...(await ids.fillAsync(new BigInt64Array(11))));
      await settle();
      follow.push(ids.nextId(), BigInt(ids.nextString()), BigInt(ids.nextNumber()), ...ids.nextIds(1));
    }
    expect(follow).toEqual(range(1, follow.length));
    const batch = await ids.nextIdsAsync(100);
    await settle();
    const next = batch.at(-1)! + 1n;
    expect(ids.nextStrings(2)).toEqual([next.toString(), (next + 1n).toString()]);
    expect([...ids.fill(new BigInt64Array(2))]).toEqual([next + 2n, next + 3n]);
    expect(ids.counters).toMatchObject({ issued: Number(next) + 3, codes: 0, late: 0, aged: 0 });
  });

  it('are at hand after start(), and let no caller wait once warm, with a source 100 ms away', async () => {
    const bench = new PrefetchBench();
    bench.source.faultFor = () => slow;
    const starting = bench.ids.start(['orders']);
    await bench.time.advance(100);
    await starting;
    expect(bench.ids.status().map(({ code, left }) => [code, left])).toEqual([
      [undefined, 64],
      ['orders', 64],
    ]);
    for (let ms = 0; ms < 1_000; ms += 10) {
      bench.take(1);
      await bench.time.advance(10);
    }
    for (let ms = 0; ms < 60_000; ms += 10) {
      bench.take(2);
      await bench.time.advance(10);
    }
    expect(bench.ids.counters).toMatchObject({ issued: 12_100, starved: 2, failures: 0 });
  });

  it('come in larger batches while they go fast, and in smaller ones when they do not', async () => {
    const bench = await PrefetchBench.started();
    for (let round = 0; round < 20; round++) {
      bench.take(Math.ceil(bench.ids.status()[0]!.step * 0.6));
      await bench.time.advance(10);
    }
    expect(bench.ids.status()[0]!.step).toBe(10_000);
    expect(Math.max(...bench.source.counts())).toBe(10_000);
    await bench.time.advance(60_000);
    expect(bench.ids.status()[0]!.step).toBe(64);
    expect(bench.source.counts().at(-1)).toBe(64);
  });

  it('of a code have a buffer of their own', async () => {
    const bench = await PrefetchBench.started();
    expect(await bench.ids.nextIdAsync('a')).toBe(1n);
    expect(await bench.ids.nextIdAsync('b')).toBe(1n);
    expect(bench.ids.forCode('a').nextId()).toBe(2n);
    expect(bench.ids.forCode('a').code).toBe('a');
    expect(bench.ids.nextId()).toBe(1n);
    expect(bench.source.requests.map(({ code }) => code)).toEqual([undefined, 'a', 'b']);
    const counts = bench.ids.issuedByCode({ codes: ['b', 'c'], firstCodes: 0 });
    expect(counts.read()).toEqual({ plain: 1, byCode: new Map(Object.entries({ b: 1, c: 0 })), others: 2 });
  });

  it('are refused for a code that is none, and for one too many', async () => {
    const bench = new PrefetchBench({ maxCodes: 1 });
    await bench.ids.nextIdAsync('a');
    for (const code of ['', 'x'.repeat(129), null as unknown as string]) {
      expect(thrownBy(() => bench.ids.nextId(code))).toMatchObject({ errorCode: 'INVALID_CODE' });
    }
    await expect(bench.ids.nextIdAsync('b')).rejects.toMatchObject({ errorCode: 'TOO_MANY_CODES' });
    expect(bench.ids.refusal('b')).toMatchObject({ errorCode: 'TOO_MANY_CODES' });
    expect(bench.ids.refusal('a')).toBeUndefined();
  });

  it('of very many codes come in turn where few are kept: those of which nothing is at hand make room', async () => {
    const bench = new PrefetchBench({ maxCodes: 3, minStep: 2 });
    const { ids } = bench;
    const counts = ids.issuedByCode({ codes: ['code 1'], firstCodes: 1 });
    const seen = new Map<string, bigint>();
    for (let round = 0; round < 40; round++) {
      const code = `code ${round % 5}`;
      const id = await ids.nextIdAsync(code);
      // An ID of a code that came back is later than all of before.
      expect(id).toBeGreaterThan(seen.get(code) ?? 0n);
      seen.set(code, id);
      await bench.time.advance(60_000);
    }
    expect(ids.counters).toMatchObject({ issued: 40, codes: 3 });
    const { byCode, others } = counts.read();
    expect([Object.fromEntries(byCode), others]).toEqual([{ 'code 0': 8, 'code 1': 8 }, 24]);
    expect(ids.issuedByCode({ firstCodes: 0 }).read().others).toBe(40);
    expect(bench.time.pending.size).toBe(0);
  });

  it('of codes that are bound, started, waited for or at hand make no room', async () => {
    const bench = new PrefetchBench({ maxCodes: 4, minStep: 2 });
    const { ids } = bench;
    await ids.start(['started']);
    const bound = ids.forCode('bound');
    await bench.time.advance(60_000);
    await ids.nextIdAsync('at hand');
    bench.source.next.push({ kind: 'slow', thereMs: 500, backMs: 500 });
    const waiting = ids.nextIdAsync('waited for');
    expect(thrownBy(() => ids.nextId('one more'))).toMatchObject({ errorCode: 'TOO_MANY_CODES' });
    await bench.time.advance(60_000);
    expect(await waiting).toBe(1n);
    expect(ids.refusal('one more')).toBeInstanceOf(IdsNotReadyError);
    await ids.nextIdAsync('one more');
    await ids.nextIdAsync('another one');
    expect(thrownBy(() => ids.nextId('too many'))).toMatchObject({ errorCode: 'TOO_MANY_CODES' });
    expect(await bound.nextIdAsync()).toBe(1n);
    expect(ids.status().map(({ code }) => code)).toEqual([undefined, 'started', 'bound', 'one more', 'another one']);
  });

  it('are refused as numbers when they are none that is safe, before one is used up', async () => {
    const bench = new PrefetchBench();
    bench.source.take = () => Promise.resolve([2n ** 53n]);
    await bench.ids.start();
    expect(thrownBy(() => bench.ids.nextNumber())).toBeInstanceOf(UnsafeIntegerError);
    expect(bench.ids.nextId()).toBe(2n ** 53n);
  });
});

describe('An ID that gets old', () => {
  it('is dropped maxAgeMs after it was asked for, not after it came', async () => {
    const bench = new PrefetchBench({ maxAgeMs: 1_000 });
    bench.source.next.push({ kind: 'slow', thereMs: 0, backMs: 400 });
    bench.source.faultFor = () => ({ kind: 'hangs' });
    const first = bench.ids.nextIdAsync();
    await bench.time.advance(400);
    expect(await first).toBe(1n);
    await bench.time.advance(599);
    expect(bench.ids.nextId()).toBe(2n);
    bench.time.freeze(1);
    expect(thrownBy(() => bench.ids.nextId())).toBeInstanceOf(IdsNotReadyError);
    expect(bench.ids.counters).toMatchObject({ aged: 62, issued: 2 });
  });

  it('is dropped when its host slept: then only the wall clock has gone on', async () => {
    const bench = await PrefetchBench.started();
    bench.take(1);
    bench.time.step(9_999);
    expect(bench.ids.nextId()).toBe(2n);
    bench.time.step(1);
    expect(thrownBy(() => bench.ids.nextId())).toBeInstanceOf(IdsNotReadyError);
    expect(await bench.ids.nextIdAsync()).toBe(65n);
    expect(bench.ids.counters).toMatchObject({ aged: 62, issued: 3 });
  });

  it('is not used when the host slept while it was on its way', async () => {
    const bench = new PrefetchBench();
    bench.source.next.push(slow);
    const waiting = bench.ids.nextIdAsync();
    await bench.time.advance(60);
    bench.time.step(3_600_000);
    await bench.time.advance(40);
    expect(await waiting).toBe(65n);
  });

  it('is dropped in time also when the clock was set back', async () => {
    const bench = await PrefetchBench.started();
    bench.time.step(-3_600_000);
    bench.time.freeze(10_000);
    expect(thrownBy(() => bench.ids.nextId())).toBeInstanceOf(IdsNotReadyError);
  });

  it('is replaced in time where some are kept at hand, for as long as it takes', async () => {
    const bench = await PrefetchBench.started();
    for (let minute = 0; minute < 10; minute++) {
      await bench.time.advance(60_000);
      expect(bench.ids.refusal()).toBeUndefined();
    }
    // Every 3.75 to 5 seconds.
    expect(bench.source.requests.length).toBeGreaterThan(121);
    expect(bench.source.requests.length).toBeLessThan(161);
    expect(new Set(bench.source.counts())).toEqual(new Set([64]));
  });

  it('is replaced as soon as the source is back, also when it was away at the time for that', async () => {
    const bench = await PrefetchBench.started();
    bench.source.faultFor = () => ({ kind: 'refused' });
    await bench.time.advance(6_000);
    expect(bench.source.requests.length).toBeGreaterThan(2);
    bench.source.faultFor = () => undefined;
    for (let minute = 0; minute < 5; minute++) {
      await bench.time.advance(60_000);
      expect(bench.ids.refusal()).toBeUndefined();
    }
  });

  it('is not replaced where no caller has taken one of its batch, and does not stay in memory', async () => {
    const bench = new PrefetchBench();
    await bench.ids.nextIdAsync('a');
    await bench.time.advance(60_000);
    // The first batch was used, the second one was not.
    expect(bench.source.counts('a')).toEqual([64, 64]);
    expect(bench.ids.counters.aged).toBe(127);
    expect(bench.time.pending.size).toBe(0);
    expect(bench.ids.refusal('a')).toBeInstanceOf(IdsNotReadyError);
    expect(await bench.ids.nextIdAsync('a')).toBe(129n);
  });

  it('does not make a sync caller’s large wish gather for ever', async () => {
    const bench = await PrefetchBench.started({ maxAgeMs: 100, maxStep: 64 });
    bench.source.faultFor = () => ({ kind: 'slow', thereMs: 40, backMs: 0 });
    expect(() => bench.ids.nextIds(10_000)).toThrow(IdsNotReadyError);
    await bench.time.advance(1_000);
    const before = bench.source.requests.length;
    await bench.time.advance(1_000);
    expect(bench.source.requests.length - before).toBeLessThan(25);
  });
});

describe('When the source fails', () => {
  it('goes on from memory, and tries again with growing pauses', async () => {
    const bench = await PrefetchBench.started({ retryBaseMs: 100, retryMaxMs: 400 });
    bench.source.faultFor = () => ({ kind: 'refused' });
    bench.take(40);
    await expectGrowingPauses(bench.time, () => bench.source.requests.length);
    expect(bench.ids.status()[0]!.lastError).toBeInstanceOf(IdSourceUnavailableError);
    expect(bench.take(24)).toEqual(range(41, 64));
    const error = thrownBy(() => bench.ids.nextId()) as IdsNotReadyError;
    expect(error).toMatchObject({ errorCode: 'IDS_NOT_READY', retryable: true });
    expect(error.message).toContain('No IDs came from a test: connect ECONNREFUSED');
    bench.source.faultFor = () => undefined;
    await bench.time.advance(400);
    expect(bench.ids.nextId()).toBe(65n);
    expect(bench.ids.status()[0]!.lastError).toBeUndefined();
  });

  it('gives up an attempt after opTimeoutMs, makes another, and leaves the late answer a gap', async () => {
    const bench = new PrefetchBench({ opTimeoutMs: 500, retryBaseMs: 10 });
    bench.source.next.push({ kind: 'slow', thereMs: 0, backMs: 505 });
    const first = bench.ids.nextIdAsync();
    await bench.time.advance(499);
    expect(bench.source.requests).toHaveLength(1);
    await bench.time.advance(20);
    expect(await first).toBe(65n);
    expect(bench.ids.counters).toMatchObject({ late: 64, failures: 1, batches: 1 });
    expect(bench.take(63)).toEqual(range(66, 128));
  });

  it('refuses at once with a failure that cannot pass, once memory is used up, and asks again later', async () => {
    const bench = await PrefetchBench.started({ minStep: 2, retryMaxMs: 1_000 });
    const { take } = bench.source;
    bench.source.take = () => Promise.reject(new Refusal(false));
    expect(bench.take(2)).toEqual([1n, 2n]);
    await settle();
    expect(thrownBy(() => bench.ids.nextId())).toBeInstanceOf(Refusal);
    expect(bench.ids.refusal()).toBeInstanceOf(Refusal);
    await expect(bench.ids.nextIdAsync()).rejects.toBeInstanceOf(Refusal);
    bench.source.take = take;
    await bench.time.advance(900);
    expect(bench.ids.refusal()).toBeInstanceOf(Refusal);
    await bench.time.advance(101);
    expect(await bench.ids.nextIdAsync()).toBe(3n);
  });

  it('lets callers wait out a refusal that may pass', async () => {
    const bench = new PrefetchBench();
    const { take } = bench.source;
    bench.source.take = () => Promise.reject(new Refusal(true));
    const waiting = bench.ids.nextIdAsync();
    const failing = expect(bench.ids.nextIdAsync(undefined, { timeoutMs: 20 })).rejects.toMatchObject({
      errorCode: 'WAIT_TIMEOUT',
      cause: { errorCode: 'IDS_NOT_READY', cause: { errorCode: 'REFUSAL' } },
    });
    await bench.time.advance(20);
    await failing;
    bench.source.take = take;
    await bench.time.advance(100);
    expect(await waiting).toBe(1n);
  });

  it.each([
    ['not a list', undefined],
    ['an empty list', []],
    ['more than was asked for', range(1, 65)],
    ['numbers', [1]],
    ['texts', ['1']],
    ['an ID below 0', [1n, -1n]],
    ['an ID above 2^63 - 1', [2n ** 63n]],
    ['an ID twice in a row', [1n, 2n, 2n]],
    ['an ID twice, far apart', [...range(1, 60), 7n]],
  ])('uses nothing of an answer that is %s', async (_, answer) => {
    const bench = new PrefetchBench();
    const { take } = bench.source;
    bench.source.take = () => Promise.resolve(answer as bigint[]);
    const waiting = bench.ids.nextIdAsync();
    await settle();
    expect(bench.ids.status()[0]!.lastError).toMatchObject({ errorCode: 'INVALID_ID_BATCH', retryable: true });
    bench.source.take = take;
    await bench.time.advance(100);
    expect(await waiting).toBe(1n);
  });

  it('says what a source rejects with that is no error', async () => {
    const bench = new PrefetchBench();
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- that is the point
    bench.source.take = () => Promise.reject(Object.create(null));
    expect(thrownBy(() => bench.ids.nextId())).toBeInstanceOf(IdsNotReadyError);
    await settle();
    expect(bench.ids.status()[0]!.lastError?.message).toBe('No IDs came from a test: an object');
  });

  it('survives a source that throws where it should reject', async () => {
    const bench = new PrefetchBench();
    bench.source.take = () => {
      throw new TypeError('x is not a function');
    };
    expect(thrownBy(() => bench.ids.nextId())).toBeInstanceOf(IdsNotReadyError);
    await settle();
    expect(bench.ids.status()[0]!.lastError?.message).toContain('x is not a function');
  });
});

describe('Callers who wait', () => {
  it('get more than one answer holds, gathered, also from a source that gives less than is asked for', async () => {
    const bench = new PrefetchBench();
    bench.source.most = 700;
    expect(await bench.ids.nextIdsAsync(30_000)).toEqual(range(1, 30_000));
    expect(new Set(bench.source.counts().slice(0, 20))).toEqual(new Set([10_000]));
  });
});

it('A service that is closed hands out nothing of what is at hand or comes, and asks no more', async () => {
  const bench = await PrefetchBench.started();
  bench.source.faultFor = () => slow;
  bench.take(40);
  bench.ids.close();
  bench.ids.close();
  await bench.time.advance(60_000);
  expect(thrownBy(() => bench.ids.nextId())).toMatchObject({ errorCode: 'CLOSED' });
  await expect(bench.ids.nextIdAsync('new')).rejects.toMatchObject({ errorCode: 'CLOSED' });
  expect(bench.ids.counters).toMatchObject({ issued: 40, forgotten: 24, late: 64, batches: 1 });
  expect(bench.source.requests).toHaveLength(2);
  expect(bench.time.pending.size).toBe(0);
});

it('A copy of a process uses nothing of what was at hand or under way', async () => {
  const bench = await PrefetchBench.started();
  bench.source.faultFor = () => slow;
  bench.take(40);
  bench.ids.afterRestore();
  const next = bench.ids.nextIdAsync();
  await bench.time.advance(100);
  expect(await next).toBe(129n);
  expect(bench.ids.counters).toMatchObject({ forgotten: 24, late: 64 });
});

it('A copy of a process gives none of the IDs of which it was making texts', async () => {
  const bench = await PrefetchBench.started({ minStep: 10_000 });
  const texts = bench.ids.nextStringsAsync(5_000);
  await settle();
  expect(bench.ids.counters.issued).toBe(5_000);
  bench.ids.afterRestore();
  await bench.time.advance(100);
  expect(await texts).toEqual(range(10_001, 15_000).map(String));
});

it('Its background timers keep no process alive', async () => {
  const bench = new PrefetchBench();
  const kinds = jest.spyOn(bench.time, 'setTimer');
  bench.source.faultFor = () => slow;
  const starting = bench.ids.start();
  await bench.time.advance(100);
  await starting;
  bench.source.faultFor = () => ({ kind: 'refused' });
  bench.take(40);
  await bench.time.advance(30_000);
  const called = kinds.mock.calls as unknown as [() => void, number, string][];
  expect(called.filter(([, , kind]) => kind === 'foreground').map(([, ms]) => ms)).toEqual([30_000]);
});

it('Every option that is wrong is named', () => {
  const wrong = { prefetchBelow: 2, minStep: 0, maxStep: 20_000, maxAgeMs: 1, opTimeoutMs: '5', retries: 3 };
  const error = thrownBy(() => resolveOptions(prefetchOptions, wrong as object)) as Error;
  for (const option of Object.keys(wrong)) expect(error.message).toContain(option);
  expect(
    () => new PrefetchedIds({ name: 'x', take: () => Promise.resolve([]) }, new PrefetchBench().time, wrong as object),
  ).toThrow('minStep');
});
