import { CELLS, IDS, TEXTS, type BatchForm } from './batch-form.js';
import { InvalidBatchError } from './generator-errors.js';
import type { WaitOptions } from './waiting.js';

/** A batch that is to be filled, and how. */
export interface BatchOrder<Batch> {
  readonly batch: Batch;
  readonly count: number;
  readonly form: BatchForm<Batch>;
}

/**
 * What callers ask for, made of the few calls that an engine knows: bigints, texts, numbers, one or many, now or soon.
 * A sync batch is all or nothing.
 *
 * `Code` is what the engine keeps of a code. The async calls are told how to find it: it may make room for others while
 * they wait.
 */
export abstract class Outputs<Code> {
  constructor(protected readonly maxBatch: number) {}

  abstract id(code: Code): bigint;
  abstract text(code: Code): string;
  /** @throws UnsafeIntegerError above 2^53 - 1, before anything is consumed */
  abstract number(code: Code): number;
  abstract idAsync(find: () => Code, wait?: WaitOptions): Promise<bigint>;

  /** Writes IDs, at least one, into a batch; when it throws, none was issued. */
  protected abstract write<Batch>(code: Code, order: BatchOrder<Batch>): void;
  /** As {@link write}, but waits where that helps. */
  protected abstract writeAsync<Batch>(find: () => Code, order: BatchOrder<Batch>, wait?: WaitOptions): Promise<void>;

  ids(code: Code, count: number): bigint[] {
    const batch = new Array<bigint>(this.checked(count));
    this.write(code, { batch, count, form: IDS });
    return batch;
  }

  texts(code: Code, count: number): string[] {
    const batch = new Array<string>(this.checked(count));
    this.write(code, { batch, count, form: TEXTS });
    return batch;
  }

  fill(code: Code, batch: BigInt64Array): BigInt64Array {
    const count = this.sizeOf(batch);
    try {
      if (count > 0) this.write(code, { batch, count, form: CELLS });
    } catch (error) {
      batch.fill(0n);
      throw error;
    }
    return batch;
  }

  async textAsync(find: () => Code, wait?: WaitOptions): Promise<string> {
    return (await this.idAsync(find, wait)).toString();
  }

  async idsAsync(find: () => Code, count: number, wait?: WaitOptions): Promise<bigint[]> {
    const batch = new Array<bigint>(this.checked(count));
    await this.writeAsync(find, { batch, count, form: IDS }, wait);
    return batch;
  }

  async textsAsync(find: () => Code, count: number, wait?: WaitOptions): Promise<string[]> {
    const batch = new Array<string>(this.checked(count));
    await this.writeAsync(find, { batch, count, form: TEXTS }, wait);
    return batch;
  }

  async fillAsync(find: () => Code, batch: BigInt64Array, wait?: WaitOptions): Promise<BigInt64Array> {
    const count = this.sizeOf(batch);
    try {
      if (count > 0) await this.writeAsync(find, { batch, count, form: CELLS }, wait);
    } catch (error) {
      // What an earlier call left in it may not pass for new IDs.
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

  /** By its tag, which arrays of another realm have as well. */
  private sizeOf(batch: BigInt64Array): number {
    if (batch?.[Symbol.toStringTag] !== 'BigInt64Array') throw new InvalidBatchError(batch, this.maxBatch);
    return batch.length === 0 ? 0 : this.checked(batch.length);
  }
}
