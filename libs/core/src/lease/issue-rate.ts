import type { Position } from '../generator/position.js';
import type { MonotonicClock } from '../time/clock.js';

/** How fast the fastest code counts up, measured from one renewal to the next inside a tick. */
export class IssueRate {
  private last: { readonly position: Position; readonly atMs: number } | undefined;
  private perMs = 0;

  constructor(private readonly monotonic: MonotonicClock) {}

  /** IDs per ms. A rate that falls is believed by half each time: a lull is no reason for small blocks. */
  measure(highest: Position): number {
    const atMs = this.monotonic.now();
    if (this.last !== undefined && this.last.position.tick === highest.tick) {
      const measured = (highest.sequence - this.last.position.sequence) / Math.max(1, atMs - this.last.atMs);
      this.perMs = Math.max(measured, this.perMs / 2);
    }
    this.last = { position: highest, atMs };
    return this.perMs;
  }

  restart(): void {
    this.last = undefined;
  }
}
