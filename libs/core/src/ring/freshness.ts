import type { Layout } from '../layout/layout.js';

/** IDs as two 32-bit halves: where the halves of one lie depends on the machine. */
const LOW_FIRST = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
const [LOW, HIGH] = LOW_FIRST ? [0, 1] : [1, 0];

/**
 * Whether the time of an ID is near enough to the present, either way.
 *
 * Compared are floating-point numbers, five times as fast as bigints: what they round off is far below a tick, or a tick
 * at most where there are fewer than 10 bits below the time.
 */
export class Freshness {
  private readonly tickSize: number;
  private oldest = 0;
  private newest = 0;

  constructor(
    private readonly layout: Layout,
    private readonly maxAgeMs: number,
  ) {
    this.tickSize = 2 ** layout.lowBits;
  }

  /** Names the present. An ID is as old as the end of its tick: those of the present tick are fresh in any unit. */
  at(wallMs: number): void {
    const { timeline } = this.layout;
    this.oldest = timeline.tickAt(wallMs - this.maxAgeMs) * this.tickSize;
    this.newest = (timeline.tickAt(wallMs + this.maxAgeMs) + 1) * this.tickSize;
  }

  /** As {@link covers}, of the smallest and the largest of some IDs, rounded: whether all of them are fresh. */
  coversRange(least: number, most: number): boolean {
    return least >= this.oldest && most < this.newest;
  }

  /** @param halves IDs as 32-bit halves. @param index of the ID */
  covers(halves: Uint32Array, index: number): boolean {
    const id = halves[2 * index + HIGH]! * 4_294_967_296 + halves[2 * index + LOW]!;
    return id >= this.oldest && id < this.newest;
  }
}
