import type { Stock } from '../supply/stock.js';
import { NumberCursor } from './number-cursor.js';
import type { Segment } from './segment-store.js';
import { TakenNumbers } from './taken-numbers.js';

/** The numbers at hand: the rest of the segment in use, and the segments after it. They are handed out upwards only. */
export class SegmentBuffer implements Stock {
  readonly cursor = new NumberCursor();
  private readonly following: Segment[] = [];
  private followingNumbers = 0;

  /** @param onBegin called whenever another segment comes into use */
  constructor(private readonly onBegin: () => void = () => {}) {}

  /** How many numbers are at hand. */
  get left(): number {
    return this.cursor.left + this.followingNumbers;
  }

  get issued(): number {
    return this.cursor.issued;
  }

  /** How many segments follow the one in use. */
  get segments(): number {
    return this.following.length;
  }

  /** Adds a segment that lies above all before it. */
  add(segment: Segment): void {
    const { first, last } = segment;
    this.following.push({ first, last });
    this.followingNumbers += sizeOf(segment);
    this.turn();
  }

  /** Puts the next segment into use when the one before is used up. */
  turn(): void {
    if (this.cursor.left > 0) return;
    const next = this.following.shift();
    if (next === undefined) return;
    this.followingNumbers -= sizeOf(next);
    this.cursor.begin(next);
    this.onBegin();
  }

  next(): bigint {
    this.turn();
    return this.cursor.next();
  }

  /** Takes as many numbers at once, which must be at hand: the lowest, in order. */
  take(count: number): TakenNumbers {
    const taken: Segment[] = [];
    for (let open = count; open > 0;) {
      this.turn();
      const run = this.cursor.pass(Math.min(open, this.cursor.left));
      taken.push(run);
      open -= sizeOf(run);
    }
    return new TakenNumbers(taken);
  }

  /** Takes the numbers at the end that have no gap between them; undefined when there are none. */
  takeTail(): Segment | undefined {
    const { rest } = this.cursor;
    const all = rest === undefined ? [...this.following] : [rest, ...this.following];
    this.clear();
    return all.reduceRight<Segment | undefined>((tail, each) => {
      if (tail === undefined) return each;
      return each.last + 1n === tail.first ? { first: each.first, last: tail.last } : tail;
    }, undefined);
  }

  /** Forgets everything. */
  clear(): void {
    this.following.length = 0;
    this.followingNumbers = 0;
    this.cursor.forget();
  }
}

/** How many numbers a segment has. */
export function sizeOf({ first, last }: Segment): number {
  return Number(last - first) + 1;
}
