import type { Freshness } from './freshness.js';

/** So many are kept or dropped together: a look at each one of a large batch would block the thread. */
const CHUNK = 1_024;

interface Chunk {
  readonly ids: bigint[];
  /** Of the ring when they were taken. */
  readonly stamp: number;
  /** The smallest and the largest of them, rounded. */
  least: number;
  most: number;
}

/** IDs that an async call has taken from a ring and not yet given to its caller. */
export class RingBatch {
  length = 0;
  private chunks: Chunk[] = [];

  /** @param stamp of the ring before the first of them was taken */
  add(ids: readonly bigint[], stamp: number): void {
    let chunk = this.chunks.at(-1);
    for (const id of ids) {
      if (chunk?.stamp !== stamp || chunk.ids.length === CHUNK) {
        chunk = { ids: [], stamp, least: Number.POSITIVE_INFINITY, most: Number.NEGATIVE_INFINITY };
        this.chunks.push(chunk);
      }
      chunk.ids.push(id);
      chunk.least = Math.min(chunk.least, Number(id));
      chunk.most = Math.max(chunk.most, Number(id));
    }
    this.length += ids.length;
  }

  /**
   * Drops what must not be handed out any more: all of a ring that has failed since, and what has become old.
   * @param stamp of the ring now
   * @returns how many IDs
   */
  sift(stamp: number, freshness: Freshness): number {
    const before = this.length;
    this.chunks = this.chunks.filter((each) => each.stamp === stamp && freshness.coversRange(each.least, each.most));
    this.length = this.chunks.reduce((sum, { ids }) => sum + ids.length, 0);
    return before - this.length;
  }

  toArray(): bigint[] {
    return ([] as bigint[]).concat(...this.chunks.map(({ ids }) => ids));
  }
}
