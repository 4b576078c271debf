import type { VirtualTime } from '../../testing/virtual-time.js';
import type { MemorySegmentTable } from '../memory-segment-store.js';
import type { SegmentSource } from '../segment-store.js';

/** Puts a database that breaks the store's contract in place of a good one. */
export type BreakSource = (source: SegmentSource, table: MemorySegmentTable, database: VirtualTime) => SegmentSource;

/** A source that takes numbers back whoever has reserved in between. */
export const unguardedGiveBack: BreakSource = (source, table) => ({
  reserve: (request) => source.reserve(request),
  giveBack: ({ first }) => {
    table.rows.get('default')!.maxId = first - 1n;
    return Promise.resolve(true);
  },
});

/** A connection that repeats every return a little later, to a row without a version. */
export const repeatedGiveBack: BreakSource = (source, table, database) => ({
  reserve: (request) => source.reserve(request),
  giveBack: (unused) => {
    const repeat = (): void => {
      const row = table.rows.get('default')!;
      if (row.maxId === unused.last) row.maxId = unused.first - 1n;
    };
    for (let ms = 20; ms <= 2_000; ms += 20) database.setTimer(repeat, ms);
    return source.giveBack(unused);
  },
});

/** A store that does not look at how far the process has come. */
export const aboveIgnored: BreakSource = (source) => ({
  reserve: (request) => source.reserve({ ...request, above: 0n }),
  giveBack: (unused) => source.giveBack(unused),
});
