import type { ResolvedSegmentOptions } from './segment-options.js';

/** When nobody has starved for so long, a chain gets shorter, ms. */
const CALM_MS = 60_000;

/**
 * How many numbers are to be at hand. Without a chain it is a share of the step. A chain keeps whole segments ahead:
 * twice as many after callers have starved, within its budget of numbers, and half after a minute without.
 *
 * It counts the numbers that are left here. The distance between values says nothing once others draw from the same row.
 * Source of the chain: CosId's SegmentChainId.
 */
export class PrefetchDistance {
  private segments: number;
  private calmSince = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: Pick<ResolvedSegmentOptions, 'prefetchBelow' | 'chain'>) {
    this.segments = options.chain?.safeDistance ?? options.prefetchBelow;
  }

  /** With fewer numbers than these the next are fetched. */
  numbers(step: number): number {
    return Math.min(this.segments * step, this.options.chain?.maxBuffered ?? Number.POSITIVE_INFINITY);
  }

  /** Numbers have come. @param hasStarved whether a caller had found none @param at monotonic ms */
  landed(hasStarved: boolean, step: number, at: number): void {
    const { chain } = this.options;
    if (chain === undefined) return;
    if (hasStarved) {
      if (this.segments * step < chain.maxBuffered) this.segments *= 2;
    } else if (at - this.calmSince > CALM_MS) {
      this.segments = Math.max(chain.safeDistance, Math.floor(this.segments / 2));
    } else return;
    this.calmSince = at;
  }
}
