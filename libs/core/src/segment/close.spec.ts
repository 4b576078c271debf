import { ClosedError } from '../lease/lease-errors.js';
import { settle } from '../../../../test/support/engine/virtual-time.js';
import { range, SegmentBench } from '../../../../test/support/engine/segment-bench.js';

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
