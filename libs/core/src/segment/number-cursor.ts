import type { DecimalMark } from '../generator/decimal-text.js';
import type { Segment } from './segment-store.js';

/** Walks over one segment, and has what the fast path needs to go one further. */
export class NumberCursor implements DecimalMark {
  /** Index in the segment of the number handed out last; -1 before the first. */
  sequence = -1;
  /** Up to this index nothing else needs a look. */
  last = -1;
  /** Index of the segment's last number. */
  end = -1;
  /** The number at `sequence`, and 1. */
  readonly cell = new BigInt64Array([0n, 1n]);
  /** The number of index 0; not exact above 2^53, but above 2^53 there. */
  numberBase = 0;
  head = '';
  tailBase = Number.NaN;
  private issuedBefore = 0;

  /** How many numbers are left of the segment. */
  get left(): number {
    return this.end - this.sequence;
  }

  /** How many numbers were passed, over all segments. */
  get issued(): number {
    return this.issuedBefore + this.sequence + 1;
  }

  /** The numbers that are left; undefined when there are none. */
  get rest(): Segment | undefined {
    const passed = this.cell[0]!;
    return this.left === 0 ? undefined : { first: passed + 1n, last: passed + BigInt(this.left) };
  }

  /** Goes one further, which the caller knows to be there. */
  step(): void {
    this.sequence++;
    this.cell[0] = this.cell[0]! + this.cell[1]!;
  }

  /** As {@link step}, and answers with the number. */
  next(): bigint {
    this.step();
    return this.cell[0]!;
  }

  /** Goes to the start of a segment; what is left of the one before is forgotten. */
  begin({ first, last }: Segment): void {
    this.issuedBefore = this.issued;
    this.sequence = -1;
    this.last = -1;
    this.end = Number(last - first);
    this.cell[0] = first - 1n;
    this.numberBase = Number(first);
    this.tailBase = Number.NaN;
  }

  /** Goes over some numbers at once, at most those that are left; answers with them. */
  pass(count: number): Segment {
    const before = this.cell[0]!;
    this.sequence += count;
    this.cell[0] = before + BigInt(count);
    return { first: before + 1n, last: before + BigInt(count) };
  }

  /** So many of those that are left may be taken without a look at anything else. */
  allow(count: number): void {
    this.last = Math.min(this.end, this.sequence + Math.max(0, Math.floor(count)));
  }

  /** Every further step needs a look. */
  stop(): void {
    this.last = this.sequence;
  }

  /** Forgets what is left. */
  forget(): void {
    this.end = this.sequence;
    this.stop();
  }
}
