import type { DecimalMark } from './decimal-text.js';

/** The fast path: goes up the IDs of one tick inside a window of the issuer, with two comparisons for each. */
export class IdWalk implements DecimalMark {
  sequence = -1;
  readonly cell = new BigInt64Array(2);
  head = '';
  tailBase = Number.NaN;
  /** The ID of sequence 0 as a number; NaN where the tick's IDs may pass 2^53 - 1. */
  numberBase = Number.NaN;
  private idBase = 0n;
  /** The window in which `last` holds; -1 for none. */
  private window = -1;
  /** The last sequence that needs no second look. */
  private last = -1;

  /** One further, if it is still this window and needs no second look. */
  advance(window: number): boolean {
    if (this.window !== window || this.sequence >= this.last) return false;
    this.sequence++;
    this.cell[0] = this.cell[0]! + this.cell[1]!;
    return true;
  }

  /** How much further {@link advance} would go in this window. */
  runLength(window: number): number {
    return this.window === window ? Math.max(0, this.last - this.sequence) : 0;
  }

  /** Lets {@link advance} go up to a sequence in this window; -1 for no window. */
  allow(last: number, window: number): void {
    this.last = last;
    this.window = window;
  }

  /** Lets {@link advance} go nowhere. */
  stop(): void {
    this.window = -1;
  }

  /** Another tick has these IDs. @param base that of sequence 0. @param areSafe whether all of them fit a number */
  useIds(base: bigint, step: number, areSafe: boolean): void {
    this.idBase = base;
    this.numberBase = areSafe ? Number(base) : Number.NaN;
    this.tailBase = Number.NaN;
    this.cell[1] = BigInt(step);
  }

  /** Makes the ID of `sequence`. */
  compose(step: number): void {
    this.cell[0] = this.idBase + BigInt(this.sequence * step);
  }
}
