import type { RaindropError } from '../raindrop-error.js';
import { decimalText, writeNextTexts } from './decimal-text.js';
import { InvalidBatchError, ReservationExhaustedError, UnsafeIntegerError } from './generator-errors.js';
import type { Issuer } from './issuer.js';
import { Sequencer } from './sequencer.js';
import type { Waiting, WaitOptions } from './waiting.js';

/**
 * Writes the ID of the position just taken, and of those that follow it without a gap, into a batch; answers with the
 * index after them.
 */
type WriteRun<Batch> = (s: Sequencer, batch: Batch, from: number, end: number) => number;

/** After so many IDs a batch that waits lets others have a turn of the event loop (well under a millisecond). */
const SLICE = 4_096;

/**
 * Turns positions into what callers ask for: bigints, strings, numbers, one or many, now or soon.
 *
 * A sync batch is all or nothing: when it does not fit, its positions are put back before anybody has seen one. An async
 * batch that fails midway burns its positions, and so does one that goes on under another grant: it begins anew.
 */
export class Outputs {
  private readonly before = new Sequencer();
  private readonly sequenceStep: number;

  constructor(
    private readonly issuer: Issuer,
    private readonly waiting: Waiting,
    private readonly maxBatch: number,
  ) {
    this.sequenceStep = issuer.layout.sequenceStep;
  }

  id(s: Sequencer): bigint {
    return this.issuer.next(s);
  }

  string(s: Sequencer): string {
    this.issuer.step(s);
    return decimalText(s, this.sequenceStep);
  }

  /** @throws UnsafeIntegerError above 2^53 - 1, before a position is consumed */
  number(s: Sequencer): number {
    // Inside a window the tick stays what it is: a number that was safe is followed by safe ones.
    if (Number.isNaN(s.numberBase) || !this.issuer.advance(s)) this.stepSafely(s);
    return s.numberBase + s.sequence * this.sequenceStep;
  }

  ids(s: Sequencer, count: number): bigint[] {
    const ids = new Array<bigint>(this.checked(count));
    this.takeNow(s, ids, count, this.writeIds);
    return ids;
  }

  strings(s: Sequencer, count: number): string[] {
    const texts = new Array<string>(this.checked(count));
    this.takeNow(s, texts, count, this.writeTexts);
    return texts;
  }

  fill(s: Sequencer, target: BigInt64Array): BigInt64Array {
    const count = this.sizeOf(target);
    try {
      this.takeNow(s, target, count, this.writeCells);
    } catch (error) {
      target.fill(0n);
      throw error;
    }
    return target;
  }

  async idAsync(current: () => Sequencer, wait?: WaitOptions): Promise<bigint> {
    let id = 0n;
    await this.waiting.until(this.waiting.limit(wait), () => {
      // The code may have been evicted while the call waited, and its position must be read before anybody else moves it.
      const s = current();
      const refusal = this.issuer.tryStep(s);
      if (refusal === undefined) id = s.cell[0]!;
      return refusal;
    });
    return id;
  }

  async idsAsync(current: () => Sequencer, count: number, wait?: WaitOptions): Promise<bigint[]> {
    const ids = new Array<bigint>(this.checked(count));
    await this.takeSoon(current, { batch: ids, count, writeRun: this.writeIds }, wait);
    return ids;
  }

  async stringsAsync(current: () => Sequencer, count: number, wait?: WaitOptions): Promise<string[]> {
    const texts = new Array<string>(this.checked(count));
    await this.takeSoon(current, { batch: texts, count, writeRun: this.writeTexts }, wait);
    return texts;
  }

  async fillAsync(current: () => Sequencer, target: BigInt64Array, wait?: WaitOptions): Promise<BigInt64Array> {
    const count = this.sizeOf(target);
    try {
      if (count > 0) await this.takeSoon(current, { batch: target, count, writeRun: this.writeCells }, wait);
    } catch (error) {
      target.fill(0n);
      throw error;
    }
    return target;
  }

  private stepSafely(s: Sequencer): void {
    this.before.restore(s);
    this.issuer.step(s);
    if (!Number.isNaN(s.numberBase)) return;
    s.restore(this.before);
    throw new UnsafeIntegerError(this.issuer.layout.safeUntil);
  }

  private checked(count: number): number {
    if (!Number.isInteger(count) || count < 1 || count > this.maxBatch)
      throw new InvalidBatchError(count, this.maxBatch);
    return count;
  }

  /** By its tag, which arrays of another realm have as well. */
  private sizeOf(target: BigInt64Array): number {
    if (target?.[Symbol.toStringTag] !== 'BigInt64Array') throw new InvalidBatchError(target, this.maxBatch);
    return target.length === 0 ? 0 : this.checked(target.length);
  }

  private takeNow<Batch>(s: Sequencer, batch: Batch, count: number, writeRun: WriteRun<Batch>): void {
    this.before.restore(s);
    let done = 0;
    while (done < count) {
      const refusal = this.issuer.tryStep(s);
      if (refusal !== undefined) {
        if (refusal instanceof ReservationExhaustedError) this.issuer.makeRoom(s, count);
        s.restore(this.before);
        throw refusal;
      }
      done = writeRun(s, batch, done, count);
    }
  }

  private async takeSoon<Batch>(
    current: () => Sequencer,
    { batch, count, writeRun }: { batch: Batch; count: number; writeRun: WriteRun<Batch> },
    wait?: WaitOptions,
  ): Promise<void> {
    const limit = this.waiting.limit(wait);
    let done = 0;
    let grant = '';
    const attempt = (): RaindropError | undefined => {
      const s = current();
      const refusal = this.issuer.tryStep(s);
      if (refusal !== undefined) return refusal;
      // Looked at after the step, which asks the tenure.
      if (grant !== this.issuer.grant) done = 0;
      grant = this.issuer.grant;
      const end = Math.min(done + SLICE, count);
      done = writeRun(s, batch, done, end);
      while (done < end && this.issuer.tryStep(s) === undefined) done = writeRun(s, batch, done, end);
      return undefined;
    };
    while (done < count) {
      await this.waiting.until(limit, attempt);
      if (done < count) await this.waiting.breathe();
    }
  }

  private readonly writeIds: WriteRun<bigint[]> = (s, batch, from, end) => {
    const { cell } = s;
    const run = Math.min(this.issuer.runLength(s), end - from - 1);
    batch[from] = cell[0]!;
    for (let index = from + 1; index <= from + run; index++) {
      cell[0] = cell[0]! + cell[1]!;
      batch[index] = cell[0]!;
    }
    s.sequence += run;
    return from + 1 + run;
  };

  /** As {@link writeIds}, apart from it: a loop that has seen both kinds of array takes twice the time for this one. */
  private readonly writeCells: WriteRun<BigInt64Array> = (s, batch, from, end) => {
    const { cell } = s;
    const run = Math.min(this.issuer.runLength(s), end - from - 1);
    batch[from] = cell[0]!;
    for (let index = from + 1; index <= from + run; index++) {
      cell[0] = cell[0]! + cell[1]!;
      batch[index] = cell[0]!;
    }
    s.sequence += run;
    return from + 1 + run;
  };

  private readonly writeTexts: WriteRun<string[]> = (s, batch, from, end) => {
    const run = Math.min(this.issuer.runLength(s), end - from - 1);
    batch[from] = decimalText(s, this.sequenceStep);
    writeNextTexts(s, this.sequenceStep, { batch, from: from + 1, end: from + 1 + run });
    return from + 1 + run;
  };
}
