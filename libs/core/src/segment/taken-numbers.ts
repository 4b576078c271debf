import type { BatchOrder } from '../generator/outputs.js';
import type { TakenIds } from '../supply/stock.js';
import { NumberCursor } from './number-cursor.js';
import type { Segment } from './segment-store.js';

/** After so many numbers others get a turn of the event loop. */
const SLICE = 4_096;

/** Numbers that were taken together, as runs without gaps. */
export class TakenNumbers implements TakenIds {
  private readonly cursor = new NumberCursor();

  constructor(private readonly runs: Segment[]) {}

  write<Batch>({ batch, form }: BatchOrder<Batch>, from: number, end: number): void {
    const { cursor } = this;
    for (let done = from; done < end;) {
      if (cursor.left === 0) cursor.begin(this.runs.shift()!);
      const next = Math.min(end, done + cursor.left);
      form.follow(cursor, 1, batch, done, next);
      done = next;
    }
  }

  turnAfter(): number {
    return SLICE;
  }
}
