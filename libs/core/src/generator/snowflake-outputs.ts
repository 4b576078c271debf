import type { RaindropError } from '../raindrop-error.js';
import type { BatchForm } from './batch-form.js';
import { decimalText } from './decimal-text.js';
import { ReservationExhaustedError, UnsafeIntegerError } from './generator-errors.js';
import type { Issuer } from './issuer.js';
import { Outputs, type BatchOrder } from './outputs.js';
import { Sequencer } from './sequencer.js';
import type { Waiting, WaitOptions } from './waiting.js';

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
      if (done < count) await this.waiting.breathe();
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
