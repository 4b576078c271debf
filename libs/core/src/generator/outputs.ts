import { InvalidBatchError } from './generator-errors.js';
import { type DecimalCursor, writeNextTexts } from './tick-cursor.js';
import type { WaitOptions } from './waiting.js';

/** Asks for `count` IDs in the places of `batch`. */
export interface BatchRequest<Batch> {
  readonly batch: Batch;
  readonly count: number;
  readonly writer: BatchWriter<Batch>;
}

/**
 * One ID or many, as bigints, texts or numbers, at once or after waiting: made of the six calls that an engine defines.
 * A sync batch is all or nothing.
 *
 * `Code` is the state that the engine keeps of a code. The async calls take a function that finds it, and call it again
 * after a wait: the code may have been evicted meanwhile.
 */
export abstract class Outputs<Code> {
  constructor(private readonly maxBatch: number) {}

  abstract id(code: Code): bigint;
  abstract text(code: Code): string;
  /** @throws UnsafeIntegerError above 2^53 - 1, before anything is consumed */
  abstract number(code: Code): number;
  abstract idAsync(find: () => Code, wait?: WaitOptions): Promise<bigint>;
  /** Writes IDs, at least one, into a batch; when it throws, none was issued. */
  protected abstract write<Batch>(code: Code, request: BatchRequest<Batch>): void;
  /** As {@link write}, but waits where that helps. */
  protected abstract writeAsync<Batch>(
    find: () => Code,
    request: BatchRequest<Batch>,
    wait?: WaitOptions,
  ): Promise<void>;

  batch<Item>(code: Code, count: number, writer: BatchWriter<Item[]>): Item[] {
    const batch = new Array<Item>(this.checked(count));
    this.write(code, { batch, count, writer });
    return batch;
  }

  async batchAsync<Item>(
    find: () => Code,
    count: number,
    writer: BatchWriter<Item[]>,
    wait?: WaitOptions,
  ): Promise<Item[]> {
    const batch = new Array<Item>(this.checked(count));
    await this.writeAsync(find, { batch, count, writer }, wait);
    return batch;
  }

  fill(code: Code, batch: BigInt64Array): BigInt64Array {
    const count = this.sizeOf(batch);
    try {
      if (count > 0) this.write(code, { batch, count, writer: bigint64Writer });
    } catch (error) {
      batch.fill(0n);
      throw error;
    }
    return batch;
  }

  async fillAsync(find: () => Code, batch: BigInt64Array, wait?: WaitOptions): Promise<BigInt64Array> {
    const count = this.sizeOf(batch);
    try {
      if (count > 0) await this.writeAsync(find, { batch, count, writer: bigint64Writer }, wait);
    } catch (error) {
      // The caller must not take the IDs that an earlier call left in the array for new ones.
      batch.fill(0n);
      throw error;
    }
    return batch;
  }

  private checked(count: number): number {
    if (!Number.isInteger(count) || count < 1 || count > this.maxBatch) {
      throw new InvalidBatchError(count, this.maxBatch);
    }
    return count;
  }

  /** Checks the array's tag: `instanceof` would refuse an array of another realm. */
  private sizeOf(batch: BigInt64Array): number {
    if (batch?.[Symbol.toStringTag] !== 'BigInt64Array') throw new InvalidBatchError(batch, this.maxBatch);
    return batch.length === 0 ? 0 : this.checked(batch.length);
  }
}

/** Writes IDs into one kind of batch. */
export interface BatchWriter<Batch> {
  /**
   * Writes the IDs after the cursor's into the places `from` to `end - 1`, and moves the cursor to the last one.
   * @param step between two neighbouring IDs
   */
  writeRun(cursor: DecimalCursor, step: number, batch: Batch, from: number, end: number): void;
  /** Writes one ID into a place of a batch. */
  writeOne(batch: Batch, index: number, id: bigint): void;
}

export const bigintWriter: BatchWriter<bigint[]> = {
  writeRun(cursor, _step, batch, from, end) {
    const { counter } = cursor;
    cursor.sequence += end - from;
    for (let index = from; index < end; index++) {
      counter[0] = counter[0]! + counter[1]!;
      batch[index] = counter[0]!;
    }
  },
  writeOne(batch, index, id) {
    batch[index] = id;
  },
};

/** How far the next 1 to 8 IDs of a run are from the one before them. All runs share it: none is left half written. */
const strides = new BigInt64Array(8);

/** Has a loop of its own: one loop for both kinds of array would take twice the time for this kind. */
const bigint64Writer: BatchWriter<BigInt64Array> = {
  writeRun(cursor, _step, batch, from, end) {
    const { counter } = cursor;
    cursor.sequence += end - from;
    strides[0] = counter[1]!;
    for (let next = 1; next < 8; next++) strides[next] = strides[next - 1]! + counter[1]!;
    let index = from;
    // Eight IDs a round take half the time of one: each round waits for the counter that the round before has written.
    for (; index + 8 <= end; index += 8) {
      batch[index] = counter[0]! + strides[0];
      batch[index + 1] = counter[0]! + strides[1]!;
      batch[index + 2] = counter[0]! + strides[2]!;
      batch[index + 3] = counter[0]! + strides[3]!;
      batch[index + 4] = counter[0]! + strides[4]!;
      batch[index + 5] = counter[0]! + strides[5]!;
      batch[index + 6] = counter[0]! + strides[6]!;
      counter[0] = counter[0]! + strides[7]!;
      batch[index + 7] = counter[0];
    }
    for (; index < end; index++) {
      counter[0] = counter[0]! + counter[1]!;
      batch[index] = counter[0];
    }
  },
  writeOne(batch, index, id) {
    batch[index] = id;
  },
};

export const textWriter: BatchWriter<string[]> = {
  writeRun: writeNextTexts,
  writeOne(batch, index, id) {
    batch[index] = id.toString();
  },
};
