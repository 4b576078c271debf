import { writeNextTexts, type DecimalMark } from './decimal-text.js';

/** One form in which IDs stand in a batch. */
export interface BatchForm<Batch> {
  /** Writes the IDs that follow a mark into a part of a batch, and moves the mark to the last one. */
  follow(mark: DecimalMark, step: number, batch: Batch, from: number, end: number): void;
  /** Writes one ID into a place of a batch. */
  put(batch: Batch, index: number, id: bigint): void;
}

export const IDS: BatchForm<bigint[]> = {
  follow(mark, _step, batch, from, end) {
    const { cell } = mark;
    mark.sequence += end - from;
    for (let index = from; index < end; index++) {
      cell[0] = cell[0]! + cell[1]!;
      batch[index] = cell[0]!;
    }
  },
  put(batch, index, id) {
    batch[index] = id;
  },
};

/** As {@link IDS}, apart from it: a loop that has seen both kinds of array takes twice the time for this one. */
export const CELLS: BatchForm<BigInt64Array> = {
  follow(mark, _step, batch, from, end) {
    const { cell } = mark;
    mark.sequence += end - from;
    cell[0] = cell[0]! + cell[1]!;
    // Written first and counted up after it: the next one is ready when the loop comes round.
    for (let index = from; index < end; index++) {
      batch[index] = cell[0]!;
      cell[0] = cell[0] + cell[1]!;
    }
    cell[0] = cell[0] - cell[1]!;
  },
  put(batch, index, id) {
    batch[index] = id;
  },
};

export const TEXTS: BatchForm<string[]> = {
  follow: writeNextTexts,
  put(batch, index, id) {
    batch[index] = id.toString();
  },
};
