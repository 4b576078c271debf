import { range, SegmentBench } from '../../../../test/support/engine/segment-bench.js';
import { thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { settle } from '../../../../test/support/engine/virtual-time.js';
import { expectGrowingPauses } from '../../../../test/support/engine/live.js';
import { ClosedError } from '../lease/lease-errors.js';
import { RaindropError } from '../raindrop-error.js';
import {
  SegmentExhaustedError,
  SegmentNotReadyError,
  SegmentRegressionError,
  SegmentStoreUnavailableError,
  UnknownCodeError,
} from './segment-errors.js';
import { PrefetchDistance } from './segment-policy.js';
import { resolveOptions } from '../config/option-rules.js';
import { segmentOptions } from './segment-options.js';

describe('The next segment', () => {
  it('is fetched when less than prefetchBelow of the step is left, in the background, and only once', async () => {
    const bench = await SegmentBench.started();
    bench.store.faultFor = () => ({ kind: 'slow', thereMs: 100, backMs: 100 });
    bench.take(100);
    expect(bench.status).toMatchObject({ left: 900, isFetching: false });
    bench.take(1);
    expect(bench.status).toMatchObject({ left: 899, isFetching: true });
    bench.take(500);
    await bench.time.advance(200);
    expect(bench.store.requests).toHaveLength(2);
    expect(bench.store.mostUnderWay).toBe(1);
    expect(bench.status).toMatchObject({ left: 1_399, buffered: 1 });
    expect(bench.take(1_399)).toEqual(range(602, 2_000));
  });

  it('is not fetched before it is needed when prefetchBelow is 0', async () => {
    const bench = await SegmentBench.started({ options: { prefetchBelow: 0 } });
    bench.take(1_000);
    await settle();
    expect(bench.store.requests).toHaveLength(1);
    expect(bench.generator.nextId.bind(bench.generator)).toThrow(SegmentNotReadyError);
    await settle();
    expect(bench.generator.nextId()).toBe(1_001n);
  });

  it('asks for twice as many when segments go fast, and for the row’s own step at first', async () => {
    const bench = await SegmentBench.started();
    for (let times = 0; times < 12; times++) {
      bench.take(500);
      await settle();
    }
    expect(bench.counts).toEqual([undefined, 1_000, 2_000, 4_000, 8_000]);
  });

  it('asks for fewer when segments last long', async () => {
    const bench = await SegmentBench.started();
    for (let times = 0; times < 12; times++) {
      bench.take(500);
      await settle();
    }
    expect(bench.status).toMatchObject({ step: 8_000, buffered: 1 });
    await bench.time.advance(31 * 60_000);
    while (bench.status.buffered === 1) bench.take(1);
    expect(bench.status.step).toBe(4_000);
    await settle();
    expect(bench.counts.at(-1)).toBe(8_000);
  });

  it('asks for numbers above the highest that ever came', async () => {
    const bench = await SegmentBench.started();
    bench.take(101);
    await settle();
    expect(bench.store.requests.map(({ above }) => above)).toEqual([0n, 1_000n]);
  });

  it('lets no caller wait once warm, with a database 200 ms away', async () => {
    const bench = new SegmentBench();
    bench.store.faultFor = () => ({ kind: 'slow', thereMs: 100, backMs: 100 });
    const starting = bench.generator.start(['default']);
    await bench.time.advance(2_000);
    await starting;
    for (let ms = 0; ms < 10_000; ms += 10) {
      bench.take(20);
      await bench.time.advance(10);
    }
    expect(bench.generator.counters).toMatchObject({ issued: 20_000, starved: 1, failures: 0 });
    expect(bench.store.mostUnderWay).toBe(1);
  });
});

describe('A chain', () => {
  it('keeps safeDistance segments at hand, in one request', async () => {
    const bench = await SegmentBench.started({ options: { chain: { safeDistance: 3 } } });
    await settle();
    expect(bench.counts).toEqual([undefined, 2_000]);
    expect(bench.status.left).toBe(3_000);
    bench.take(1);
    await settle();
    expect(bench.counts).toEqual([undefined, 2_000, 1_000]);
    expect(bench.status.left).toBe(3_999);
  });

  it('gets longer after callers starved, within its budget', async () => {
    const options = { chain: { safeDistance: 2, maxBuffered: 6_000 }, maxStep: 1_000 };
    const bench = await SegmentBench.started({ options });
    await settle();
    for (let times = 0; times < 6; times++) {
      bench.take(bench.status.left);
      expect(thrownBy(() => bench.generator.nextId())).toBeInstanceOf(SegmentNotReadyError);
      await bench.time.advance(1);
    }
    expect(bench.status.left).toBeGreaterThanOrEqual(6_000);
    expect(bench.status.left).toBeLessThan(7_000);
  });

  it('gets longer once for an underrun, not with each segment after it', async () => {
    const options = { chain: { safeDistance: 2, maxBuffered: 100_000 }, maxStep: 1_000 };
    const bench = await SegmentBench.started({ options });
    await settle();
    bench.take(bench.status.left);
    expect(thrownBy(() => bench.generator.nextId())).toBeInstanceOf(SegmentNotReadyError);
    for (let times = 0; times < 4; times++) {
      await settle();
      bench.take(1_000);
    }
    await settle();
    expect(bench.status.left).toBeLessThan(5_000);
  });
});

describe('When the store fails', () => {
  it('goes on from memory, tries again with growing pauses, and no caller notices', async () => {
    const bench = await SegmentBench.started({ options: { retryBaseMs: 100, retryMaxMs: 400 } });
    bench.store.faultFor = () => ({ kind: 'refused' });
    bench.take(200);
    await expectGrowingPauses(bench.time, () => bench.store.requests.length);
    expect(bench.status.lastError).toBeInstanceOf(SegmentStoreUnavailableError);
    bench.store.faultFor = () => undefined;
    await bench.time.advance(400);
    expect(bench.status).toMatchObject({ left: 1_800, lastError: undefined });
    expect(bench.take(1_800)).toEqual(range(201, 2_000));
  });

  it('leaves a gap where an answer was lost, and repeats nothing', async () => {
    const bench = await SegmentBench.started({ options: { prefetchBelow: 0.1 } });
    bench.store.next('reserve', { kind: 'answer-lost' });
    bench.take(1_000);
    await bench.time.advance(50);
    expect(bench.take(2)).toEqual([2_001n, 2_002n]);
    expect(bench.generator.counters).toMatchObject({ failures: 1, reservations: 2, reserved: 2_000 });
  });

  it('gives up a call after opTimeoutMs and makes another', async () => {
    const bench = await SegmentBench.started({ options: { opTimeoutMs: 500 } });
    bench.store.next('reserve', { kind: 'hangs' });
    bench.take(1_000);
    await bench.time.advance(499);
    expect(bench.store.requests).toHaveLength(2);
    expect(bench.status).toMatchObject({ isFetching: true, lastError: undefined });
    await bench.time.advance(1);
    expect(bench.status.lastError?.message).toContain('no answer within 500 ms');
    await bench.time.advance(50);
    expect(bench.take(1)).toEqual([1_001n]);
  });

  it('tells a sync caller why there is nothing, and keeps its pace however many call', async () => {
    const bench = new SegmentBench();
    bench.store.faultFor = () => ({ kind: 'refused' });
    const error = thrownBy(() => bench.generator.nextId()) as SegmentNotReadyError;
    expect(error).toMatchObject({ errorCode: 'SEGMENT_NOT_READY', idCode: 'default', retryable: true });
    expect(error.cause).toBeUndefined();
    await settle();
    for (let times = 0; times < 100; times++) {
      const again = thrownBy(() => bench.generator.nextId()) as SegmentNotReadyError;
      expect(again.cause).toBeInstanceOf(SegmentStoreUnavailableError);
      expect(again.message).toContain('ECONNREFUSED');
    }
    await settle();
    expect(bench.store.requests).toHaveLength(1);
  });

  it('takes an error that is none of ours for one that may pass', async () => {
    const bench = new SegmentBench();
    const reserve = jest.fn(() => {
      throw new TypeError('x is not a function');
    });
    bench.store.source = () => ({ reserve, giveBack: () => Promise.resolve(true) });
    expect(thrownBy(() => bench.generator.nextId())).toBeInstanceOf(SegmentNotReadyError);
    await bench.time.advance(60);
    expect(reserve).toHaveBeenCalledTimes(2);
    expect(bench.status.lastError?.message).toContain('x is not a function');
  });
});

describe('An answer that comes after its call was given up', () => {
  const late = { kind: 'slow', thereMs: 10, backMs: 5_000 } as const;

  it('is used when it lies above everything that came: a store that is always too slow still gives numbers', async () => {
    const bench = await SegmentBench.started();
    bench.store.faultFor = () => late;
    const taken: bigint[] = [];
    for (let ms = 0; ms < 60_000; ms += 100) {
      if (bench.status.left > 0) taken.push(...bench.take(Math.min(50, bench.status.left)));
      await bench.time.advance(100);
    }
    expect(taken).toEqual(range(1, taken.length));
    expect(bench.generator.counters.late).toBeGreaterThan(3);
    expect(bench.generator.counters.dropped).toBe(0);
  });

  it('is left a gap when higher numbers came in between', async () => {
    const bench = await SegmentBench.started();
    bench.store.next('reserve', late);
    bench.take(1_000);
    await bench.time.advance(3_050);
    expect(bench.take(1)).toEqual([2_001n]);
    await bench.time.advance(2_000);
    expect(bench.take(1)).toEqual([2_002n]);
    expect(bench.generator.counters).toMatchObject({ late: 0, dropped: 1_000 });
  });

  it('makes a later answer with lower numbers one that is refused', async () => {
    const bench = await SegmentBench.started();
    bench.store.next('reserve', late, { kind: 'slow', thereMs: 0, backMs: 2_500 });
    bench.take(1_000);
    await bench.time.advance(20);
    // The database loses the commit of the first; the second gets the same range and arrives last.
    bench.row.maxId = 1_000n;
    await bench.time.advance(5_100);
    expect(bench.take(1)).toEqual([1_001n]);
    await bench.time.advance(430);
    expect(bench.status.lastError).toBeInstanceOf(SegmentRegressionError);
    expect(bench.generator.counters).toMatchObject({ late: 1, dropped: 1_000 });
    await bench.time.advance(100);
    expect(bench.take(1_000)).toEqual(range(1_002, 2_001));
  });
});

describe('A database that lost committed reservations', () => {
  it('is healed by the next request, in silence', async () => {
    const bench = await SegmentBench.started({ options: { prefetchBelow: 0.1 } });
    bench.row.maxId = 0n;
    expect(bench.take(1_000)).toEqual(range(1, 1_000));
    await settle();
    expect(bench.take(1)).toEqual([1_001n]);
    expect(bench.row.maxId).toBe(2_000n);
  });

  it.each([
    ['overlaps', 500n, 1_499n],
    ['repeats', 1n, 1_000n],
    ['is empty', 1_001n, 1_000n],
    ['goes over 2^63 - 1', 1_001n, 2n ** 63n],
  ])('gets nothing handed out of an answer that %s', async (_, first, last) => {
    const bench = new SegmentBench();
    const source = bench.store.source('default');
    const answers = [undefined, { first, last, step: 1_000 }];
    bench.store.source = () => ({
      reserve: (request) => Promise.resolve(answers.shift() ?? source.reserve(request)),
      giveBack: (unused) => source.giveBack(unused),
    });
    await bench.generator.start(['default']);
    bench.take(1_000);
    await settle();
    const error = thrownBy(() => bench.generator.nextId()) as SegmentNotReadyError;
    expect(error.cause).toMatchObject({
      name: 'SegmentRegressionError',
      errorCode: 'SEGMENT_REGRESSION',
      retryable: true,
      above: 1_000n,
      answered: { first, last },
    });
    await bench.time.advance(60);
    expect(bench.take(1)).toEqual([1_001n]);
  });
});

const MINUTE = 60_000;

describe('The numbers to be kept at hand', () => {
  it('are a share of the step, whichever caller starves', () => {
    const distance = new PrefetchDistance(resolveOptions(segmentOptions, { prefetchBelow: 0.25 }));
    distance.landed(true, 1_000, 0);
    expect(distance.numbers(1_000)).toBe(250);
  });

  it('are whole segments in a chain, twice as many after each time that a caller starved', () => {
    const distance = new PrefetchDistance(resolveOptions(segmentOptions, { chain: { safeDistance: 3 } }));
    expect(distance.numbers(1_000)).toBe(3_000);
    distance.landed(true, 1_000, 0);
    expect(distance.numbers(1_000)).toBe(6_000);
    distance.landed(true, 1_000, 1);
    expect(distance.numbers(1_000)).toBe(12_000);
  });

  it('never go over the budget', () => {
    const distance = new PrefetchDistance(resolveOptions(segmentOptions, { chain: { maxBuffered: 5_000 } }));
    for (let times = 0; times < 100; times++) distance.landed(true, 1_000, times);
    expect(distance.numbers(1_000)).toBe(5_000);
    expect(distance.numbers(1)).toBeLessThanOrEqual(8);
  });

  it('get fewer when no caller has starved for a minute, and again after another', () => {
    const distance = new PrefetchDistance(resolveOptions(segmentOptions, { chain: true }));
    distance.landed(true, 1_000, 0);
    distance.landed(true, 1_000, 1);
    distance.landed(false, 1_000, MINUTE);
    expect(distance.numbers(1_000)).toBe(8_000);
    distance.landed(false, 1_000, MINUTE + 2);
    expect(distance.numbers(1_000)).toBe(4_000);
    distance.landed(false, 1_000, 2 * MINUTE);
    expect(distance.numbers(1_000)).toBe(4_000);
    distance.landed(false, 1_000, 2 * MINUTE + 3);
    distance.landed(false, 1_000, 9 * MINUTE);
    expect(distance.numbers(1_000)).toBe(2_000);
  });
});

describe('At the row’s limit', () => {
  const row = { maxLimitId: 1_500n };

  it('every number up to it is handed out, and then the refusal is thrown as itself', async () => {
    const bench = await SegmentBench.started({ row });
    expect(bench.take(1_000)).toEqual(range(1, 1_000));
    await settle();
    expect(bench.take(500)).toEqual(range(1_001, 1_500));
    await settle();
    const error = thrownBy(() => bench.generator.nextId());
    expect(error).toBeInstanceOf(SegmentExhaustedError);
    expect(error).toMatchObject({ idCode: 'default', maxLimitId: 1_500n, retryable: false });
    await expect(bench.generator.nextIdAsync()).rejects.toBe(error);
    await expect(bench.generator.nextIdsAsync(2)).rejects.toBe(error);
    expect(bench.generator.refusal()).toBe(error);
  });

  it('the numbers that are left go on although there are no more behind them', async () => {
    const bench = await SegmentBench.started({ row: { maxLimitId: 1_000n } });
    bench.take(500);
    await settle();
    expect(bench.status.lastError).toBeInstanceOf(SegmentExhaustedError);
    expect(bench.generator.refusal()).toBeUndefined();
    expect(bench.take(500)).toEqual(range(501, 1_000));
  });

  it('a raised limit is noticed by the next call after retryMaxMs, and the table is asked no more often', async () => {
    const bench = await SegmentBench.started({ row: { maxLimitId: 1_000n }, options: { retryMaxMs: 2_000 } });
    bench.take(1_000);
    await settle();
    const asked = bench.store.requests.length;
    for (let times = 0; times < 100; times++) {
      expect(() => bench.generator.nextId()).toThrow(SegmentExhaustedError);
    }
    await settle();
    expect(bench.store.requests).toHaveLength(asked);
    await bench.time.advance(60_000);
    expect(bench.store.requests).toHaveLength(asked);

    bench.row.maxLimitId = 0n;
    expect(() => bench.generator.nextId()).toThrow(SegmentExhaustedError);
    await settle();
    expect(bench.generator.nextId()).toBe(1_001n);
  });

  it('an async call after the pause waits for what the table says now', async () => {
    const bench = await SegmentBench.started({ row: { maxLimitId: 1_000n } });
    bench.take(1_000);
    await settle();
    await bench.time.advance(5_000);
    bench.row.maxLimitId = 2_000n;
    await expect(bench.generator.nextIdAsync()).resolves.toBe(1_001n);
  });

  it('a batch that does not fit is refused, and those behind it get what is left', async () => {
    const bench = await SegmentBench.started({ row });
    const batch = bench.generator.nextIdsAsync(1_501);
    const one = bench.generator.nextIdAsync();
    await expect(batch).rejects.toBeInstanceOf(SegmentExhaustedError);
    await expect(one).resolves.toBe(1n);
    await expect(bench.generator.nextIdsAsync(1_499)).resolves.toEqual(range(2, 1_500));
  });
});

describe('A code without a row', () => {
  it('gets one with the default step', async () => {
    const bench = new SegmentBench({ step: 50 });
    await expect(bench.generator.nextIdAsync('new')).resolves.toBe(1n);
    expect(bench.table.rows.get('new')).toEqual({ maxId: 50n, step: 50, maxLimitId: 0n });
  });

  it('is refused where rows are not made, until there is one', async () => {
    const bench = new SegmentBench({ autoCreateCode: false });
    await expect(bench.generator.nextIdAsync('new')).rejects.toBeInstanceOf(UnknownCodeError);
    expect(() => bench.generator.nextId('new')).toThrow(UnknownCodeError);
    bench.table.rows.set('new', { maxId: 41n, step: 10, maxLimitId: 0n });
    await bench.time.advance(5_000);
    await expect(bench.generator.nextIdAsync('new')).resolves.toBe(42n);
  });

  it('stops the start that names it', async () => {
    const bench = new SegmentBench({ autoCreateCode: false });
    await expect(bench.generator.start(['new'])).rejects.toBeInstanceOf(UnknownCodeError);
  });
});

describe('A failure that may pass', () => {
  it('takes the place of a refusal that was final', async () => {
    const bench = await SegmentBench.started({ row: { maxLimitId: 1_000n } });
    bench.take(1_000);
    await bench.time.advance(5_000);
    bench.store.next('reserve', { kind: 'refused' });
    expect(() => bench.generator.nextId()).toThrow(SegmentExhaustedError);
    await settle();
    expect(() => bench.generator.nextId()).toThrow(SegmentNotReadyError);
  });
});

describe('A store that refuses for a while', () => {
  class RefusedError extends RaindropError {
    readonly errorCode = 'REFUSED';
    constructor() {
      super('refused', { retryable: false });
    }
  }

  it('is asked again while numbers are left, so that no caller sees it', async () => {
    const bench = await SegmentBench.started({ options: { retryMaxMs: 2_000 } });
    const source = jest.spyOn(bench.table.rows, 'get').mockImplementationOnce(() => {
      throw new RefusedError();
    });
    bench.take(200);
    await settle();
    source.mockRestore();
    expect(bench.status.lastError).toBeInstanceOf(RefusedError);
    await bench.time.advance(2_100);
    expect(bench.status.lastError).toBeUndefined();
    expect(bench.take(1_800)).toEqual(range(201, 2_000));
  });
});

describe('Codes without a row', () => {
  it('make room for those that have one', async () => {
    const bench = new SegmentBench({ autoCreateCode: false, options: { maxCodes: 10 }, row: {} });
    for (let code = 0; code < 30; code++) {
      await expect(bench.generator.nextIdAsync(`junk ${code}`)).rejects.toBeInstanceOf(UnknownCodeError);
    }
    await expect(bench.generator.nextIdAsync('default')).resolves.toBe(1n);
    expect(bench.generator.counters.codes).toBeLessThanOrEqual(10);
  });

  it('are no end of a handle: it goes on once there is a row, and room', async () => {
    const bench = new SegmentBench({ autoCreateCode: false, options: { maxCodes: 2 }, row: {} });
    const handle = bench.generator.forCode('later');
    await expect(handle.nextIdAsync()).rejects.toBeInstanceOf(UnknownCodeError);
    for (const code of ['junk 1', 'junk 2', 'junk 3']) {
      await expect(bench.generator.nextIdAsync(code)).rejects.toBeInstanceOf(UnknownCodeError);
    }
    await expect(handle.nextIdAsync()).rejects.toBeInstanceOf(UnknownCodeError);
    await bench.generator.nextIdAsync('default');
    bench.table.rows.set('later', { ...bench.table.rows.get('default')!, maxId: 0n });
    await bench.time.advance(60_000);
    await expect(handle.nextIdAsync()).resolves.toBe(1n);
    expect(handle.nextIds(2)).toEqual([2n, 3n]);
    await bench.generator.close();
    expect(() => handle.nextId()).toThrow(ClosedError);
    await expect(handle.nextStringsAsync(2)).rejects.toBeInstanceOf(ClosedError);
  });
});
