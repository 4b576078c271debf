import { type DecimalCursor, decimalText } from '../generator/tick-cursor.js';
import type { BatchRequest } from '../generator/outputs.js';
import type { Batch, IdBuffer } from '../prefetch/prefetcher.js';
import type { Segment } from './segment-store.js';

/** The numbers at hand: the rest of the segment in use, and the segments after it. They are handed out upwards only. */
export class NumberBuffer implements IdBuffer {
  readonly cursor = new NumberCursor();
  private readonly following: Segment[] = [];
  private followingNumbers = 0;

  /** @param onBegin is called when another segment comes into use */
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

  nextNumber(): number | undefined {
    this.turn();
    return this.cursor.nextNumber();
  }

  /** Takes as many numbers at once, which must be at hand: the lowest, in order. */
  take(count: number): NumberBatch {
    const taken: Segment[] = [];
    for (let open = count; open > 0;) {
      this.turn();
      const run = this.cursor.pass(Math.min(open, this.cursor.left));
      taken.push(run);
      open -= sizeOf(run);
    }
    return new NumberBatch(taken);
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

  /** Within the segment in use: after it the next one must be put into use. */
  allow(count: number): void {
    this.cursor.allow(count);
  }

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

/** Goes through one segment, number by number or in runs. */
export class NumberCursor implements DecimalCursor {
  /** Index in the segment of the number handed out last; -1 before the first. */
  sequence = -1;
  /** Up to this index numbers may be taken without a look at anything else. */
  last = -1;
  /** Index of the segment's last number. */
  end = -1;
  /** The number at `sequence`, and 1. */
  readonly counter: BigInt64Array = new BigInt64Array([0n, 1n]);
  /** The number of index 0; above 2^53 rounded, and never to less than 2^53. */
  numberBase = 0;
  head = '';
  headFrom = 0;
  headTo = -1;
  headTail = 0;
  private issuedBefore = 0;

  /** How many numbers are left of the segment. */
  get left(): number {
    return this.end - this.sequence;
  }

  /** How many numbers were taken, over all segments. */
  get issued(): number {
    return this.issuedBefore + this.sequence + 1;
  }

  /** The numbers that are left; undefined when there are none. */
  get rest(): Segment | undefined {
    const passed = this.counter[0]!;
    return this.left === 0 ? undefined : { first: passed + 1n, last: passed + BigInt(this.left) };
  }

  /** Takes the next number, which must be there. */
  next(): bigint {
    this.step();
    return this.counter[0]!;
  }

  nextText(): string {
    this.step();
    return decimalText(this, 1);
  }

  /** Undefined when the next number is above 2^53 - 1, and then it is not taken. */
  nextNumber(): number | undefined {
    const number = this.numberBase + this.sequence + 1;
    if (number > Number.MAX_SAFE_INTEGER) return undefined;
    this.step();
    return number;
  }

  /** Goes to the start of a segment; what is left of the one before is forgotten. */
  begin({ first, last }: Segment): void {
    this.issuedBefore = this.issued;
    this.sequence = -1;
    this.last = -1;
    this.end = Number(last - first);
    this.counter[0] = first - 1n;
    this.numberBase = Number(first);
    this.headTo = -1;
  }

  /** Takes some numbers at once, at most those that are left. */
  pass(count: number): Segment {
    const before = this.counter[0]!;
    this.sequence += count;
    this.counter[0] = before + BigInt(count);
    return { first: before + 1n, last: before + BigInt(count) };
  }

  /** Lets so many of the numbers that are left be taken without a look at anything else. */
  allow(count: number): void {
    this.last = Math.min(this.end, this.sequence + Math.max(0, Math.floor(count)));
  }

  /** Forgets what is left. */
  forget(): void {
    this.end = this.sequence;
    this.last = this.sequence;
  }

  private step(): void {
    this.sequence++;
    this.counter[0] = this.counter[0]! + this.counter[1]!;
  }
}

/** How many numbers are written before the event loop gets a turn. */
const SLICE = 4_096;

/** Numbers that were taken together, as runs without gaps. */
class NumberBatch implements Batch {
  private readonly cursor = new NumberCursor();

  constructor(private readonly runs: Segment[]) {}

  write<Target>({ batch, writer }: BatchRequest<Target>, from: number, end: number): void {
    const { cursor } = this;
    for (let done = from; done < end;) {
      if (cursor.left === 0) cursor.begin(this.runs.shift()!);
      const next = Math.min(end, done + cursor.left);
      writer.writeRun(cursor, 1, batch, done, next);
      done = next;
    }
  }

  sliceOf(): number {
    return SLICE;
  }
}
