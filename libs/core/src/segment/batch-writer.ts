import { writeNextTexts } from '../generator/decimal-text.js';
import type { Timers } from '../time/timers.js';
import { NumberCursor } from './number-cursor.js';
import { sizeOf } from './segment-buffer.js';
import type { Segment } from './segment-store.js';

/** Writes the numbers that follow the cursor into a part of a batch, and moves the cursor over them. */
export type WriteNext<Batch> = (cursor: NumberCursor, batch: Batch, from: number, end: number) => void;

/** After so many numbers an async batch lets others have a turn of the event loop (well under a millisecond). */
const SLICE = 4_096;

/** Writes runs of numbers that were taken into a batch that has room for them. */
export function writeRuns<Batch>(batch: Batch, runs: readonly Segment[], writeNext: WriteNext<Batch>): Batch {
  const cursor = new NumberCursor();
  let done = 0;
  for (const run of runs) {
    cursor.begin(run);
    writeNext(cursor, batch, done, (done += sizeOf(run)));
  }
  return batch;
}

/** As {@link writeRuns}, with turns of the event loop in between when they are many. */
export async function writeRunsInTurns<Batch>(
  batch: Batch,
  runs: readonly Segment[],
  writeNext: WriteNext<Batch>,
  timers: Timers,
): Promise<Batch> {
  const cursor = new NumberCursor();
  let done = 0;
  let untilTurn = SLICE;
  for (const run of runs) {
    cursor.begin(run);
    while (cursor.left > 0) {
      const count = Math.min(cursor.left, untilTurn);
      writeNext(cursor, batch, done, (done += count));
      untilTurn -= count;
      if (untilTurn > 0) continue;
      await new Promise<void>((resolve) => void timers.setTimer(resolve, 0, 'foreground'));
      untilTurn = SLICE;
    }
  }
  return batch;
}

export const writeIds: WriteNext<bigint[]> = (cursor, batch, from, end) => {
  const { cell } = cursor;
  for (let index = from; index < end; index++) {
    cell[0] = cell[0]! + cell[1]!;
    batch[index] = cell[0]!;
  }
  cursor.sequence += end - from;
};

/** As {@link writeIds}, apart from it: a loop that has seen both kinds of array takes twice the time for this one. */
export const writeCells: WriteNext<BigInt64Array> = (cursor, batch, from, end) => {
  const { cell } = cursor;
  for (let index = from; index < end; index++) {
    cell[0] = cell[0]! + cell[1]!;
    batch[index] = cell[0]!;
  }
  cursor.sequence += end - from;
};

export const writeTexts: WriteNext<string[]> = (cursor, batch, from, end) => {
  writeNextTexts(cursor, 1, { batch, from, end });
};
