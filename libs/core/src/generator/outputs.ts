import type { RaindropError } from '../raindrop-error.js';
import { InvalidBatchError, UnsafeIntegerError } from './generator-errors.js';
import type { Issuer } from './issuer.js';
import { Sequencer } from './sequencer.js';
import type { Waiting, WaitOptions } from './waiting.js';

/** What takes a batch: an array or a BigInt64Array. */
interface BatchTarget {
  [index: number]: bigint;
}

/** After so many IDs a batch that waits lets others have a turn of the event loop (well under a millisecond). */
const SLICE = 4_096;

/**
 * Turns positions into what callers ask for: bigints, strings, numbers, one or many, now or soon.
 *
 * A sync batch is all or nothing: when it does not fit, its positions are put back before anybody has seen one. An async
 * batch that fails midway burns its positions.
 */
export class Outputs {
  private readonly before = new Sequencer();
  private readonly sequenceStep: number;
  private readonly idStep: bigint;

  constructor(
    private readonly issuer: Issuer,
    private readonly waiting: Waiting,
    private readonly maxBatch: number,
  ) {
    this.sequenceStep = issuer.layout.sequenceStep;
    this.idStep = BigInt(this.sequenceStep);
  }

  id(s: Sequencer): bigint {
    this.issuer.step(s);
    return this.idAt(s);
  }

  string(s: Sequencer): string {
    this.issuer.step(s);
    return this.idAt(s).toString();
  }

  /** @throws UnsafeIntegerError above 2^53 - 1, before a position is consumed */
  number(s: Sequencer): number {
    this.before.restore(s);
    this.issuer.step(s);
    if (s.tick >= this.issuer.layout.safeTicks) {
      s.restore(this.before);
      throw new UnsafeIntegerError(this.issuer.layout.safeUntil);
    }
    return Number(s.idBase) + s.sequence * this.sequenceStep;
  }

  ids(s: Sequencer, count: number): bigint[] {
    const ids = new Array<bigint>(this.checked(count));
    this.fillNow(s, ids, count);
    return ids;
  }

  fill(s: Sequencer, target: BigInt64Array): BigInt64Array {
    const count = this.sizeOf(target);
    if (count > 0) this.fillNow(s, target, count);
    return target;
  }

  async idAsync(current: () => Sequencer, wait?: WaitOptions): Promise<bigint> {
    let id = 0n;
    await this.waiting.until(this.waiting.limit(wait), () => {
      // The code may have been evicted while the call waited, and its position must be read before anybody else moves it.
      const s = current();
      const refusal = this.issuer.tryStep(s);
      if (refusal === undefined) id = this.idAt(s);
      return refusal;
    });
    return id;
  }

  async idsAsync(current: () => Sequencer, count: number, wait?: WaitOptions): Promise<bigint[]> {
    const ids = new Array<bigint>(this.checked(count));
    await this.fillSoon(current, ids, count, wait);
    return ids;
  }

  async fillAsync(current: () => Sequencer, target: BigInt64Array, wait?: WaitOptions): Promise<BigInt64Array> {
    const count = this.sizeOf(target);
    if (count > 0) await this.fillSoon(current, target, count, wait);
    return target;
  }

  private idAt(s: Sequencer): bigint {
    return s.idBase + BigInt(s.sequence * this.sequenceStep);
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

  private fillNow(s: Sequencer, target: BatchTarget, count: number): void {
    this.before.restore(s);
    let done = 0;
    while (done < count) {
      const refusal = this.issuer.tryStep(s);
      if (refusal !== undefined) {
        s.restore(this.before);
        for (let index = 0; index < count; index++) target[index] = 0n;
        throw refusal;
      }
      done = this.writeRun(s, target, done, count);
    }
  }

  private async fillSoon(
    current: () => Sequencer,
    target: BatchTarget,
    count: number,
    wait?: WaitOptions,
  ): Promise<void> {
    const limit = this.waiting.limit(wait);
    let done = 0;
    while (done < count) {
      const end = Math.min(done + SLICE, count);
      await this.waiting.until(limit, () => {
        const start = done;
        let refusal: RaindropError | undefined;
        const s = current();
        while (done < end && (refusal = this.issuer.tryStep(s)) === undefined)
          done = this.writeRun(s, target, done, end);
        return done > start ? undefined : refusal;
      });
      if (done < count) await this.waiting.breathe();
    }
  }

  /** Writes the ID of the position just taken and those that follow it without a gap; answers with the next index. */
  private writeRun(s: Sequencer, target: BatchTarget, from: number, end: number): number {
    let id = this.idAt(s);
    target[from] = id;
    const run = Math.min(this.issuer.runLength(s), end - from - 1);
    for (let index = from + 1; index <= from + run; index++) target[index] = id += this.idStep;
    s.sequence += run;
    return from + 1 + run;
  }
}
