import type { RaindropError } from '../raindrop-error.js';
import { InvalidBatchError, ReservationExhaustedError, UnsafeIntegerError } from './generator-errors.js';
import type { Waiting, WaitOptions } from './waiting.js';
import { type DecimalMark, decimalText, Sequencer, writeNextTexts } from './tick-cursor.js';
import type { Issuer } from './position-allocator.js';

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

/** One form in which IDs stand in a batch. */
interface BatchForm<Batch> {
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
const CELLS: BatchForm<BigInt64Array> = {
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

/** After so many IDs a batch that waits lets others have a turn of the event loop (well under a millisecond). */
const SLICE = 4_096;

/**
 * Turns positions into what callers ask for.
 *
 * A sync batch that does not fit puts its positions back before anybody has seen one. An async batch that fails midway
 * burns its positions, and so does one that goes on under another grant: it begins anew.
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
    // Inside a window the tick stays what it is: a number that was safe is followed by safe ones.
    if (Number.isNaN(s.numberBase) || !this.issuer.advance(s)) this.stepSafely(s);
    return s.numberBase + s.sequence * this.sequenceStep;
  }

  async idAsync(find: () => Sequencer, wait?: WaitOptions): Promise<bigint> {
    let id = 0n;
    await this.waiting.until(this.waiting.limit(wait), () => {
      // The code may have been evicted while the call waited, and its position must be read before anybody else moves it.
      const s = find();
      const refusal = this.issuer.tryStep(s);
      if (refusal === undefined) id = s.cell[0]!;
      return refusal;
    });
    return id;
  }

  protected write<Batch>(s: Sequencer, { batch, count, form }: BatchOrder<Batch>): void {
    this.before.restore(s);
    let done = 0;
    while (done < count) {
      const refusal = this.issuer.tryStep(s);
      if (refusal !== undefined) {
        if (refusal instanceof ReservationExhaustedError) this.issuer.makeRoom(s, count);
        s.restore(this.before);
        throw refusal;
      }
      done = this.writeRun(s, form, batch, done, count);
    }
  }

  protected async writeAsync<Batch>(
    find: () => Sequencer,
    { batch, count, form }: BatchOrder<Batch>,
    wait?: WaitOptions,
  ): Promise<void> {
    const limit = this.waiting.limit(wait);
    let done = 0;
    let grant = '';
    const attempt = (): RaindropError | undefined => {
      const s = find();
      const refusal = this.issuer.tryStep(s);
      if (refusal !== undefined) return refusal;
      // Looked at after the step, which asks the tenure.
      if (grant !== this.issuer.grant) done = 0;
      grant = this.issuer.grant;
      const end = Math.min(done + SLICE, count);
      done = this.writeRun(s, form, batch, done, end);
      while (done < end && this.issuer.tryStep(s) === undefined) done = this.writeRun(s, form, batch, done, end);
      return undefined;
    };
    while (done < count) {
      await this.waiting.until(limit, attempt);
      if (done < count) await this.waiting.yieldToEventLoop();
    }
  }

  /** Writes the ID of the position just taken, and of those that follow it without a gap. @returns the index after them */
  private writeRun<Batch>(s: Sequencer, form: BatchForm<Batch>, batch: Batch, from: number, end: number): number {
    const next = Math.min(end, from + 1 + this.issuer.runLength(s));
    form.put(batch, from, s.cell[0]!);
    form.follow(s, this.sequenceStep, batch, from + 1, next);
    return next;
  }

  private stepSafely(s: Sequencer): void {
    this.before.restore(s);
    this.issuer.step(s);
    if (!Number.isNaN(s.numberBase)) return;
    s.restore(this.before);
    throw new UnsafeIntegerError(this.issuer.layout.safeUntil);
  }
}
