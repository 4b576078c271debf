import type { Segment, SegmentSource, SegmentStore } from '@raindrop/core';

export interface SegmentStoreSettings {
  readonly autoCreateCode?: boolean;
  readonly defaultStep?: number;
}

/** What somebody may write into a code's row. */
export interface SegmentRowChange {
  readonly max_id?: bigint;
  readonly step?: number;
  readonly max_limit_id?: bigint;
}

/** One empty database, and what others than Raindrop may do to it. */
export interface SegmentStoreBench {
  /** One more store on the same table, as another process would have it. The bench closes it. */
  open(settings?: SegmentStoreSettings): SegmentStore;
  change(code: string, change: SegmentRowChange): Promise<void>;
  /** Closes every store and removes the database. */
  dispose(): Promise<void>;
}

const LARGEST = 2n ** 63n - 1n;
const CODE = 'orders';

/**
 * What every {@link SegmentStore} promises, whatever is underneath.
 */
export function describeSegmentStore(name: string, make: () => Promise<SegmentStoreBench>): void {
  describe(`SegmentStore on ${name}`, () => {
    let bench: SegmentStoreBench;

    beforeEach(async () => {
      bench = await make();
    });

    afterEach(async () => {
      await bench.dispose();
    });

    async function opened(settings?: SegmentStoreSettings): Promise<SegmentStore> {
      const store = bench.open(settings);
      await store.prepare();
      return store;
    }

    /** A source whose row exists, with nothing reserved. */
    async function prepared(change: SegmentRowChange = {}): Promise<SegmentSource> {
      const store = await opened();
      // Makes the row.
      await store.source(CODE).reserve({ above: 0n });
      await bench.change(CODE, { max_id: 0n, ...change });
      return store.source(CODE);
    }

    it("begins with 1, in segments of the row's step", async () => {
      const source = (await opened()).source(CODE);
      expect(await source.reserve({ above: 0n })).toEqual({ first: 1n, last: 1_000n, step: 1_000 });
      expect(await source.reserve({ above: 0n })).toEqual({ first: 1_001n, last: 2_000n, step: 1_000 });
    });

    it('makes the rows of unknown codes with the default step', async () => {
      const source = (await opened({ defaultStep: 7 })).source(CODE);
      expect(await source.reserve({ above: 0n })).toEqual({ first: 1n, last: 7n, step: 7 });
    });

    it('gives as many numbers as are asked for', async () => {
      const source = (await opened()).source(CODE);
      expect(await source.reserve({ count: 1, above: 0n })).toEqual({ first: 1n, last: 1n, step: 1_000 });
      expect(await source.reserve({ count: 250_000, above: 0n })).toEqual({ first: 2n, last: 250_001n, step: 1_000 });
    });

    it('keeps codes apart, by case, accents, width and blanks', async () => {
      const store = await opened();
      const codes = [
        'order',
        'Order',
        'ordér',
        'order ',
        ' order',
        'ｏrder',
        'o',
        '𝄞',
        "o'; --",
        '\\',
        'x'.repeat(128),
        '𝄞'.repeat(128),
      ];
      for (const code of codes) {
        expect(await store.source(code).reserve({ count: 3, above: 0n })).toMatchObject({ first: 1n, last: 3n });
      }
      const others = await opened();
      for (const code of codes) {
        expect(await others.source(code).reserve({ above: 0n })).toMatchObject({ first: 4n });
      }
    });

    it('only gives numbers above those of the caller', async () => {
      const source = await prepared();
      await source.reserve({ above: 0n });
      expect(await source.reserve({ count: 10, above: 5_000n })).toMatchObject({ first: 5_001n, last: 5_010n });
      expect(await source.reserve({ count: 10, above: 200n })).toMatchObject({ first: 5_011n, last: 5_020n });
    });

    it('goes on above the numbers of the caller after the table has gone back in time', async () => {
      const source = await prepared();
      const { last } = await source.reserve({ count: 5_000, above: 0n });
      await bench.change(CODE, { max_id: 1_000n });
      expect(await source.reserve({ above: last })).toMatchObject({ first: last + 1n });
    });

    it('never gives a number twice to eight stores at once', async () => {
      const stores = await Promise.all(Array.from({ length: 8 }, () => opened()));
      const segments = await Promise.all(
        stores.map(async (store, index) => {
          const source = store.source(CODE);
          const taken: Segment[] = [];
          for (let turn = 1; turn <= 25; turn++) {
            taken.push(
              await source.reserve({ count: ((turn * (index + 1)) % 97) + 1, above: taken.at(-1)?.last ?? 0n }),
            );
          }
          return taken;
        }),
      );
      expectApart(segments.flat(), { withoutGaps: true });
    });

    it('never gives a number twice to one source that is asked many times at once', async () => {
      const source = (await opened()).source(CODE);
      const segments = await Promise.all(
        Array.from({ length: 20 }, (_, index) => source.reserve({ count: index + 1, above: 0n })),
      );
      expectApart(segments, { withoutGaps: true });
    });

    it('is made once by eight processes that start at the same time', async () => {
      const stores = Array.from({ length: 8 }, () => bench.open());
      const segments = await Promise.all(
        stores.map(async (store) => {
          await store.prepare();
          return store.source(CODE).reserve({ above: 0n });
        }),
      );
      expectApart(segments, { withoutGaps: true });
      await stores[0]!.prepare();
    });

    it('notices a new step', async () => {
      const source = await prepared();
      await source.reserve({ above: 0n });
      await bench.change(CODE, { step: 50 });
      expect(await source.reserve({ above: 0n })).toEqual({ first: 1_001n, last: 1_050n, step: 50 });
      await bench.change(CODE, { step: 5_000 });
      expect(await source.reserve({ count: 2, above: 0n })).toEqual({ first: 1_051n, last: 1_052n, step: 5_000 });
    });

    describe('near the limit', () => {
      it('gives what is left, and then no more', async () => {
        const source = await prepared({ max_limit_id: 1_234n });
        expect(await source.reserve({ above: 0n })).toMatchObject({ first: 1n, last: 1_000n });
        expect(await source.reserve({ above: 0n })).toMatchObject({ first: 1_001n, last: 1_234n });
        for (const count of [1, undefined]) {
          await expect(source.reserve({ ...(count !== undefined && { count }), above: 0n })).rejects.toMatchObject({
            errorCode: 'SEGMENT_EXHAUSTED',
            idCode: CODE,
            maxLimitId: 1_234n,
            retryable: false,
          });
        }
      });

      it('goes on when the limit is raised, and stops when it is lowered', async () => {
        const source = await prepared({ max_limit_id: 10n });
        expect(await source.reserve({ above: 0n })).toMatchObject({ last: 10n });
        await expect(source.reserve({ above: 0n })).rejects.toMatchObject({ errorCode: 'SEGMENT_EXHAUSTED' });
        await bench.change(CODE, { max_limit_id: 25n });
        expect(await source.reserve({ count: 10, above: 0n })).toMatchObject({ first: 11n, last: 20n });
        await bench.change(CODE, { max_limit_id: 15n });
        await expect(source.reserve({ count: 1, above: 0n })).rejects.toMatchObject({ maxLimitId: 15n });
        await bench.change(CODE, { max_limit_id: 0n });
        expect(await source.reserve({ count: 1, above: 0n })).toMatchObject({ first: 21n });
      });

      it('refuses a caller who is above it already', async () => {
        const source = await prepared({ max_limit_id: 100n });
        await expect(source.reserve({ count: 1, above: 100n })).rejects.toMatchObject({
          errorCode: 'SEGMENT_EXHAUSTED',
        });
        expect(await source.reserve({ count: 1, above: 99n })).toMatchObject({ first: 100n, last: 100n });
      });

      it('is shared to the last number by eight stores at once', async () => {
        await prepared({ max_limit_id: 1_000n });
        const stores = await Promise.all(Array.from({ length: 8 }, () => opened()));
        const segments: Segment[] = [];
        await Promise.all(
          stores.map(async (store) => {
            const source = store.source(CODE);
            for (;;) {
              const segment = await source.reserve({ count: 37, above: 0n }).catch((error: unknown) => error);
              if (segment instanceof Error) return expect(segment).toMatchObject({ errorCode: 'SEGMENT_EXHAUSTED' });
              segments.push(segment as Segment);
            }
          }),
        );
        expectApart(segments, { withoutGaps: true });
        expect(segments.reduce((sum, { first, last }) => sum + last - first + 1n, 0n)).toBe(1_000n);
      });
    });

    describe('with large numbers', () => {
      it('is exact above 2^53', async () => {
        const source = await prepared({ max_id: 2n ** 53n + 1n });
        expect(await source.reserve({ count: 3, above: 0n })).toMatchObject({
          first: 2n ** 53n + 2n,
          last: 2n ** 53n + 4n,
        });
        expect(await source.reserve({ count: 1, above: 2n ** 62n + 1n })).toMatchObject({ first: 2n ** 62n + 2n });
      });

      it('goes up to 2^63 - 1 and ends there', async () => {
        const source = await prepared({ max_id: LARGEST - 1_500n });
        expect(await source.reserve({ above: 0n })).toMatchObject({ last: LARGEST - 500n });
        expect(await source.reserve({ above: 0n })).toMatchObject({ first: LARGEST - 499n, last: LARGEST });
        await expect(source.reserve({ above: 0n })).rejects.toMatchObject({ errorCode: 'SEGMENT_EXHAUSTED' });
        await expect(source.reserve({ above: LARGEST })).rejects.toMatchObject({ errorCode: 'SEGMENT_EXHAUSTED' });
        expect(await source.giveBack({ first: LARGEST, last: LARGEST })).toBe(true);
        expect(await source.reserve({ above: 0n })).toMatchObject({ first: LARGEST, last: LARGEST });
      });
    });

    describe('when numbers are given back', () => {
      it('reserves them again', async () => {
        const source = await prepared();
        await source.reserve({ above: 0n });
        expect(await source.giveBack({ first: 301n, last: 1_000n })).toBe(true);
        expect(await source.reserve({ above: 0n })).toMatchObject({ first: 301n, last: 1_300n });
      });

      it('takes a whole segment, and then the end of the one before', async () => {
        const source = await prepared();
        await source.reserve({ above: 0n });
        await source.reserve({ above: 0n });
        expect(await source.giveBack({ first: 1_001n, last: 2_000n })).toBe(true);
        expect(await source.giveBack({ first: 1_000n, last: 1_000n })).toBe(true);
        expect(await source.reserve({ count: 1, above: 0n })).toMatchObject({ first: 1_000n });
      });

      it('does not take what somebody has reserved after', async () => {
        const source = await prepared();
        await source.reserve({ above: 0n });
        const other = (await opened()).source(CODE);
        await other.reserve({ above: 0n });
        expect(await source.giveBack({ first: 500n, last: 1_000n })).toBe(false);
        expect(await other.reserve({ above: 0n })).toMatchObject({ first: 2_001n });
      });
    });

    it('refuses an unknown code when rows are made by hand', async () => {
      const source = (await opened({ autoCreateCode: false })).source(CODE);
      await expect(source.reserve({ above: 0n })).rejects.toMatchObject({
        errorCode: 'UNKNOWN_CODE',
        idCode: CODE,
        retryable: false,
      });
      // Somebody makes it.
      await prepared();
      expect(await source.reserve({ above: 0n })).toMatchObject({ first: 1n });
    });

    describe('whatever it is asked for', () => {
      it.each([0, -1, 1.5, Number.NaN])('does not reserve %p numbers', async (count) => {
        const source = await prepared();
        await expect(source.reserve({ count, above: 0n })).rejects.toThrow();
        expect(await source.reserve({ above: 0n })).toMatchObject({ first: 1n });
      });

      it('does not take anything but the end of what it gave', async () => {
        const source = await prepared();
        await source.reserve({ above: 0n });
        expect(await source.giveBack({ first: 500n, last: 600n })).toBe(false);
        expect(await source.giveBack({ first: 900n, last: 2_000n })).toBe(false);
        expect(await (await opened()).source(CODE).giveBack({ first: 900n, last: 1_000n })).toBe(false);
        expect(await source.reserve({ count: 1, above: 0n })).toMatchObject({ first: 1_001n });
      });

      it('does not take them a second time, also when others have reserved and given back since', async () => {
        const source = await prepared();
        await source.reserve({ above: 0n });
        const unused = { first: 501n, last: 1_000n };
        expect(await source.giveBack(unused)).toBe(true);
        const other = (await opened()).source(CODE);
        expect(await other.reserve({ above: 0n })).toMatchObject({ first: 501n, last: 1_500n });
        expect(await other.giveBack({ first: 1_001n, last: 1_500n })).toBe(true);
        // The row says 1,000 again, as it did when they were given back.
        expect(await source.giveBack(unused)).toBe(false);
        expect(await other.reserve({ count: 1, above: 0n })).toMatchObject({ first: 1_001n });
      });
    });
  });
}

/** No two segments have a number in common; together they are 1 to the last, unless gaps are allowed. */
export function expectApart(segments: readonly Segment[], { withoutGaps }: { readonly withoutGaps: boolean }): void {
  const sorted = [...segments].sort((a, b) => (a.first < b.first ? -1 : 1));
  let last = 0n;
  for (const segment of sorted) {
    if (withoutGaps) expect(segment.first).toBe(last + 1n);
    expect(segment.first).toBeGreaterThan(last);
    expect(segment.last).toBeGreaterThanOrEqual(segment.first);
    last = segment.last;
  }
}
