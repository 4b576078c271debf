import type { ReservedSegment, Segment, SegmentRequest, SegmentSource } from './segment-store.js';

/** One row of a table of segments in memory. */
export interface SegmentRow {
  /** The highest number that was reserved. */
  maxId: bigint;
  step: number;
  /** 0n for none. */
  maxLimitId: bigint;
}

/** What a row is to its source. */
export interface SourceRow {
  /** Finds or makes the row. @throws RaindropError when there is none */
  find(): SegmentRow;
  /** The highest number of a row with this limit. */
  ceiling(maxLimitId: bigint): bigint;
  /** What a row at its ceiling is answered with. */
  exhausted(maxLimitId: bigint): Error;
}

/** The numbers of a row in this process's memory. */
export class MemorySegmentSource implements SegmentSource {
  /** What this source took last, with all before it that it took without a break: only that can be given back. */
  private taken: Segment | undefined;

  constructor(private readonly row: SourceRow) {}

  // eslint-disable-next-line @typescript-eslint/require-await -- to reject where it would throw
  async reserve({ count, above }: SegmentRequest): Promise<ReservedSegment> {
    const row = this.row.find();
    const wanted = count ?? row.step;
    if (!Number.isSafeInteger(wanted) || wanted < 1) throw new RangeError(`count must be at least 1, not ${wanted}`);
    const ceiling = this.row.ceiling(row.maxLimitId);
    const start = row.maxId > above ? row.maxId : above;
    if (start >= ceiling) throw this.row.exhausted(row.maxLimitId);
    const end = start + BigInt(wanted);
    row.maxId = end < ceiling ? end : ceiling;
    this.taken = { first: this.taken?.last === start ? this.taken.first : start + 1n, last: row.maxId };
    return { first: start + 1n, last: row.maxId, step: row.step };
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- to reject where it would throw
  async giveBack({ first, last }: Segment): Promise<boolean> {
    const { taken } = this;
    if (taken === undefined || last !== taken.last || first < taken.first || first > last) return false;
    this.taken = undefined;
    const row = this.row.find();
    if (row.maxId !== last) return false;
    row.maxId = first - 1n;
    if (first > taken.first) this.taken = { first: taken.first, last: row.maxId };
    return true;
  }
}
