import { ClosedError } from '../lease/lease-errors.js';
import { RaindropError } from '../raindrop-error.js';
import { thrownBy } from '../../../../test/support/engine/generator-bench.js';
import { settle } from '../../../../test/support/engine/virtual-time.js';
import { SegmentExhaustedError, SegmentNotReadyError, UnknownCodeError } from './segment-errors.js';
import { range, SegmentBench } from '../../../../test/support/engine/segment-bench.js';

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

  it('is asked again while numbers are left, so that nobody sees it', async () => {
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
