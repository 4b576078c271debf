import { MAX_INDEX } from '@raindrop/core/internal';
import { composeShardedId, type AppSegmentStore, type Segment, InvalidAppError } from '@raindrop/core';
import { expectApart, type SegmentRowChange } from './segment-store.contract.js';

/** One empty database, and what others than Raindrop may do to it. */
export interface AppSegmentStoreBench {
  /** One more store on the same table, as another process would have it. The bench closes it. */
  open(): AppSegmentStore;
  change(app: number, shard: number, change: SegmentRowChange): Promise<void>;
  /** How many rows an app has. */
  rowsOf(app: number): Promise<number>;
  /** Somebody deletes one row, or all of an app's. */
  remove(app: number, shard?: number): Promise<void>;
  /** Closes every store and removes the database. */
  dispose(): Promise<void>;
}

/**
 * What every {@link AppSegmentStore} promises, whatever is underneath.
 */
export function describeAppSegmentStore(name: string, make: () => Promise<AppSegmentStoreBench>): void {
  describe(`AppSegmentStore on ${name}`, () => {
    let bench: AppSegmentStoreBench;
    let store: AppSegmentStore;

    beforeEach(async () => {
      bench = await make();
      store = bench.open();
      await store.prepare();
    });

    afterEach(async () => {
      await bench.dispose();
    });

    it('registers apps with 64 rows each, and lists them', async () => {
      expect(await store.apps()).toEqual([]);
      await store.registerApp(255, 'last', '');
      await store.registerApp(0, 'Zürich', "it's the first");
      expect(await store.apps()).toEqual([
        { id: 0, name: 'Zürich', description: "it's the first" },
        { id: 255, name: 'last', description: '' },
      ]);
      expect([await bench.rowsOf(0), await bench.rowsOf(1), await bench.rowsOf(255)]).toEqual([64, 0, 64]);
    });

    it('keeps the numbers of an app that is registered again, and adds what is missing', async () => {
      await store.registerApp(7, 'shop', '');
      await store.source(7, 12).reserve({ above: 0n });
      await bench.remove(7, 13);
      await store.registerApp(7, 'shop 2', 'the other one');
      expect(await store.apps()).toEqual([{ id: 7, name: 'shop 2', description: 'the other one' }]);
      expect(await bench.rowsOf(7)).toBe(64);
      expect(await store.source(7, 12).reserve({ above: 0n })).toMatchObject({ first: 1_001n });
    });

    it('registers an app once when eight processes do so while they create the table', async () => {
      await bench.dispose();
      bench = await make();
      const stores = Array.from({ length: 8 }, () => bench.open());
      const segments = await Promise.all(
        stores.map(async (each) => {
          await each.prepare();
          await each.registerApp(3, 'shop', '');
          return each.source(3, 63).reserve({ above: 0n });
        }),
      );
      expectApart(segments, { withoutGaps: true });
      expect(await bench.rowsOf(3)).toBe(64);
    });

    it.each([-1, 256, 1.5, Number.NaN])('registers no app %p', async (app) => {
      await expect(store.registerApp(app, '', '')).rejects.toMatchObject({ errorCode: 'INVALID_APP' });
      expect(() => store.source(app, 0)).toThrow(InvalidAppError);
    });

    it('begins with index 1 in every shard of every app', async () => {
      for (const app of [0, 255]) {
        await store.registerApp(app, '', '');
        for (const shard of [0, 1, 63]) {
          const source = store.source(app, shard);
          expect(await source.reserve({ above: 0n })).toEqual({ first: 1n, last: 1_000n, step: 1_000 });
          expect(await source.reserve({ count: 5, above: 2_000n })).toMatchObject({ first: 2_001n, last: 2_005n });
        }
      }
    });

    it('never gives an index twice to eight stores at once', async () => {
      await store.registerApp(9, '', '');
      const segments = await Promise.all(
        Array.from({ length: 8 }, async () => {
          const source = bench.open().source(9, 5);
          const taken: Segment[] = [];
          for (let turn = 1; turn <= 25; turn++) taken.push(await source.reserve({ count: turn, above: 0n }));
          return taken;
        }),
      );
      expectApart(segments.flat(), { withoutGaps: true });
    });

    it('notices a new step', async () => {
      await store.registerApp(9, '', '');
      const source = store.source(9, 5);
      await source.reserve({ above: 0n });
      await bench.change(9, 5, { step: 50 });
      expect(await source.reserve({ above: 0n })).toEqual({ first: 1_001n, last: 1_050n, step: 50 });
    });

    it('keeps the whole ID within max_limit_id', async () => {
      await store.registerApp(9, '', '');
      const limit = composeShardedId({ index: 1_234n, shard: 5, app: 9 });
      await bench.change(9, 5, { max_limit_id: limit });
      const source = store.source(9, 5);
      await source.reserve({ above: 0n });
      expect(await source.reserve({ above: 0n })).toMatchObject({ last: 1_234n });
      const exhausted = { errorCode: 'SEGMENT_EXHAUSTED', maxLimitId: limit };
      await expect(source.reserve({ above: 0n })).rejects.toMatchObject(exhausted);
      // One below that ID, index 1,234 is too much.
      await bench.change(9, 5, { max_limit_id: limit - 1n, max_id: 0n });
      expect(await source.reserve({ count: 5_000, above: 0n })).toMatchObject({ last: 1_233n });
      // Not even the first index.
      await bench.change(9, 5, { max_limit_id: composeShardedId({ index: 1n, shard: 5, app: 8 }), max_id: 0n });
      await expect(source.reserve({ above: 0n })).rejects.toMatchObject({ errorCode: 'SEGMENT_EXHAUSTED' });
      await bench.change(9, 5, { max_limit_id: 100n });
      await expect(source.reserve({ above: 0n })).rejects.toMatchObject({ errorCode: 'SEGMENT_EXHAUSTED' });
    });

    it('ends at index 2^49 - 1', async () => {
      await store.registerApp(9, '', '');
      await bench.change(9, 5, { max_id: MAX_INDEX - 10n });
      const source = store.source(9, 5);
      expect(await source.reserve({ above: 0n })).toMatchObject({ first: MAX_INDEX - 9n, last: MAX_INDEX });
      await expect(source.reserve({ above: 0n })).rejects.toMatchObject({ errorCode: 'SEGMENT_EXHAUSTED' });
    });

    it('tells an unknown app from an unknown shard', async () => {
      await store.registerApp(9, '', '');
      await bench.remove(9, 5);
      await expect(store.source(9, 5).reserve({ above: 0n })).rejects.toMatchObject({
        errorCode: 'UNKNOWN_SHARD',
        legacyCode: -3,
        app: 9,
        shard: 5,
        retryable: false,
      });
      await expect(store.source(8, 5).reserve({ above: 0n })).rejects.toMatchObject({
        errorCode: 'UNKNOWN_APP',
        legacyCode: -2,
        app: 8,
        retryable: false,
      });
      const source = store.source(9, 6);
      await source.reserve({ above: 0n });
      await bench.remove(9);
      await expect(source.reserve({ above: 0n })).rejects.toMatchObject({ errorCode: 'UNKNOWN_APP' });
    });

    it('takes unused indexes back when nothing was reserved after them', async () => {
      await store.registerApp(9, '', '');
      const source = store.source(9, 5);
      await source.reserve({ above: 0n });
      expect(await source.giveBack({ first: 501n, last: 1_000n })).toBe(true);
      const other = bench.open().source(9, 5);
      expect(await other.reserve({ above: 0n })).toMatchObject({ first: 501n, last: 1_500n });
      expect(await source.giveBack({ first: 400n, last: 500n })).toBe(false);
      expect(await other.reserve({ count: 1, above: 0n })).toMatchObject({ first: 1_501n });
    });

    it('takes indexes back only once, and only from the end', async () => {
      await store.registerApp(9, '', '');
      const source = store.source(9, 5);
      await source.reserve({ above: 0n });
      const unused = { first: 501n, last: 1_000n };
      expect(await source.giveBack({ first: 500n, last: 999n })).toBe(false);
      expect(await source.giveBack(unused)).toBe(true);
      const other = bench.open().source(9, 5);
      await other.reserve({ above: 0n });
      expect(await other.giveBack({ first: 1_001n, last: 1_500n })).toBe(true);
      // The row says 1,000 again, as it did when they were given back.
      expect(await source.giveBack(unused)).toBe(false);
      expect(await other.reserve({ count: 1, above: 0n })).toMatchObject({ first: 1_001n });
    });
  });
}
