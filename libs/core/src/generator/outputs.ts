import type { RaindropError } from '../raindrop-error.js';
import { InvalidBatchError, ReservationExhaustedError, UnsafeIntegerError } from './generator-errors.js';
import type { Issuer } from './position-allocator.js';
import { type DecimalCursor, decimalText, Sequencer, writeNextTexts } from './tick-cursor.js';
import type { Waiting, WaitOptions } from './waiting.js';

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
interface BatchWriter<Batch> {
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

/** Has a loop of its own: one loop for both kinds of array would take twice the time for this kind. */
const bigint64Writer: BatchWriter<BigInt64Array> = {
  writeRun(cursor, _step, batch, from, end) {
    const { counter } = cursor;
    cursor.sequence += end - from;
    counter[0] = counter[0]! + counter[1]!;
    // Writes first and adds after it: the next ID is ready when the loop comes round.
    for (let index = from; index < end; index++) {
      batch[index] = counter[0]!;
      counter[0] = counter[0] + counter[1]!;
    }
    counter[0] = counter[0] - counter[1]!;
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

/** An async batch yields to the event loop after this many IDs: well under a millisecond of work. */
const SLICE = 4_096;

/**
 * The outputs of snowflakes: turns positions into bigints, texts and numbers.
 *
 * A sync batch that does not fit takes its positions back; no caller has seen an ID of them. An async batch that fails
 * midway burns its positions. So does an async batch that sees the grant change: it begins anew under the new one.
 */
export class SnowflakeOutputs extends Outputs<Sequencer> {
  private readonly before = new Sequencer();
  private readonly sequenceStep: number;

  constructor(
    private readonly issuer: Issuer,
    private readonly waiting: Waiting,
    maxBatch: number,
  ) {
    super(maxBatch);
    this.sequenceStep = issuer.layout.sequenceStep;
  }

  id(s: Sequencer): bigint {
    return this.issuer.next(s);
  }

  text(s: Sequencer): string {
    this.issuer.step(s);
    return decimalText(s, this.sequenceStep);
  }

  number(s: Sequencer): number {
    // The tick does not change inside a window: after a safe number follow safe ones.
    if (Number.isNaN(s.numberBase) || !this.issuer.advance(s)) this.stepSafely(s);
    return s.numberBase + s.sequence * this.sequenceStep;
  }

  async idAsync(find: () => Sequencer, wait?: WaitOptions): Promise<bigint> {
    let id = 0n;
    await this.waiting.until(this.waiting.limit(wait), () => {
      // The code may have been evicted while the call waited. The ID is read here, before another call moves the
      // sequencer.
      const s = find();
      const refusal = this.issuer.tryStep(s);
      if (refusal === undefined) id = s.counter[0]!;
      return refusal;
    });
    return id;
  }

  protected write<Batch>(s: Sequencer, { batch, count, writer }: BatchRequest<Batch>): void {
    this.before.restore(s);
    let done = 0;
    while (done < count) {
      const refusal = this.issuer.tryStep(s);
      if (refusal !== undefined) {
        if (refusal instanceof ReservationExhaustedError) this.issuer.requestRoom(s, count);
        s.restore(this.before);
        throw refusal;
      }
      done = this.writeRun(s, writer, batch, done, count);
    }
  }

  protected async writeAsync<Batch>(
    find: () => Sequencer,
    { batch, count, writer }: BatchRequest<Batch>,
    wait?: WaitOptions,
  ): Promise<void> {
    const limit = this.waiting.limit(wait);
    let done = 0;
    let grant = '';
    const attempt = (): RaindropError | undefined => {
      const s = find();
      const refusal = this.issuer.tryStep(s);
      if (refusal !== undefined) return refusal;
      // Read after the step: the step asks the tenure, which may change in it.
      if (grant !== this.issuer.grantKey) done = 0;
      grant = this.issuer.grantKey;
      const end = Math.min(done + SLICE, count);
      done = this.writeRun(s, writer, batch, done, end);
      while (done < end && this.issuer.tryStep(s) === undefined) done = this.writeRun(s, writer, batch, done, end);
      return undefined;
    };
    while (done < count) {
      await this.waiting.until(limit, attempt);
      if (done < count) await this.waiting.yieldToEventLoop();
    }
  }

  /** Writes the ID just taken and the run after it. @returns the index after the last one */
  private writeRun<Batch>(s: Sequencer, writer: BatchWriter<Batch>, batch: Batch, from: number, end: number): number {
    const next = Math.min(end, from + 1 + this.issuer.runLength(s));
    writer.writeOne(batch, from, s.counter[0]!);
    writer.writeRun(s, this.sequenceStep, batch, from + 1, next);
    return next;
  }

  /** Moves on; takes the step back when the new ID does not fit a number. */
  private stepSafely(s: Sequencer): void {
    this.before.restore(s);
    this.issuer.step(s);
    if (!Number.isNaN(s.numberBase)) return;
    s.restore(this.before);
    throw new UnsafeIntegerError(this.issuer.layout.safeUntil);
  }
}
