import { settle } from '../../../../test/support/engine/virtual-time.js';
import { range, SegmentBench } from '../../../../test/support/engine/segment-bench.js';

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
