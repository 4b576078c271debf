import { decimalText } from '../generator/decimal-text.js';
import { InvalidBatchError, UnsafeIntegerError } from '../generator/generator-errors.js';
import type { BoundIdCalls } from '../generator/id-calls.js';
import type { WaitOptions } from '../generator/waiting.js';
import type { RaindropError } from '../raindrop-error.js';
import { writeCells, writeIds, writeRuns, writeRunsInTurns, writeTexts, type WriteNext } from './batch-writer.js';
import type { NumberCursor } from './number-cursor.js';
import type { SegmentContext } from './segment-context.js';
import type { SegmentStatus } from './segment-status.js';
import type { SegmentSource } from './segment-store.js';
import { SegmentSupply } from './segment-supply.js';

/**
 * Hands out the numbers of one key, from segments that it fetches ahead of need.
 *
 * Over all calls they increase strictly. Those without `Async` answer from memory or throw; the async ones queue, first
 * come, first served. An async batch takes all its numbers at once, when enough are at hand: one that gives up has taken
 * none. `SegmentExhaustedError` and `UnknownCodeError` are thrown as soon as memory is used up, and the source is asked
 * again at the next call after `retryMaxMs`; every other failure of the source is retried.
 */
export class SegmentAllocator implements BoundIdCalls {
  /** True when it made room for other codes: whoever still has it must look its code up again. */
  isDropped = false;
  private readonly supply: SegmentSupply;
  private readonly cursor: NumberCursor;

  /** @param code what errors and the status call it */
  constructor(
    readonly code: string,
    source: SegmentSource,
    private readonly ctx: SegmentContext,
  ) {
    this.supply = new SegmentSupply(code, source, ctx);
    this.cursor = this.supply.buffer.cursor;
  }

  /** @throws SegmentNotReadyError; SegmentExhaustedError; UnknownCodeError; ClosedError */
  nextId(): bigint {
    const { cursor } = this;
    if (cursor.sequence >= cursor.last) this.supply.need(1);
    return cursor.next();
  }

  nextString(): string {
    const { cursor } = this;
    if (cursor.sequence >= cursor.last) this.supply.need(1);
    cursor.step();
    return decimalText(cursor, 1);
  }

  /** @throws UnsafeIntegerError above 2^53 - 1, before a number is consumed */
  nextNumber(): number {
    const { cursor } = this;
    if (cursor.sequence >= cursor.last) this.supply.need(1);
    const number = cursor.numberBase + cursor.sequence + 1;
    if (number > Number.MAX_SAFE_INTEGER) throw new UnsafeIntegerError(null, `The numbers of '${this.code}'`);
    cursor.step();
    return number;
  }

  /** @throws InvalidBatchError when `count` is not an integer from 1 to `maxBatch` */
  nextIds(count: number): bigint[] {
    return this.takeNow(new Array<bigint>(this.checked(count)), count, writeIds);
  }

  nextStrings(count: number): string[] {
    return this.takeNow(new Array<string>(this.checked(count)), count, writeTexts);
  }

  /** The array is zeroed when the batch does not fit. */
  fill(target: BigInt64Array): BigInt64Array {
    const count = this.sizeOf(target);
    try {
      return this.takeNow(target, count, writeCells);
    } catch (error) {
      target.fill(0n);
      throw error;
    }
  }

  nextIdAsync(wait?: WaitOptions): Promise<bigint> {
    return this.supply.soon({ count: 1, take: () => this.supply.buffer.take(1)[0]!.first }, wait);
  }

  async nextStringAsync(wait?: WaitOptions): Promise<string> {
    return (await this.nextIdAsync(wait)).toString();
  }

  async nextIdsAsync(count: number, wait?: WaitOptions): Promise<bigint[]> {
    return this.takeSoon(new Array<bigint>(this.checked(count)), { count, writeNext: writeIds }, wait);
  }

  async nextStringsAsync(count: number, wait?: WaitOptions): Promise<string[]> {
    return this.takeSoon(new Array<string>(this.checked(count)), { count, writeNext: writeTexts }, wait);
  }

  async fillAsync(target: BigInt64Array, wait?: WaitOptions): Promise<BigInt64Array> {
    const count = this.sizeOf(target);
    try {
      return count === 0 ? target : await this.takeSoon(target, { count, writeNext: writeCells }, wait);
    } catch (error) {
      target.fill(0n);
      throw error;
    }
  }

  /** Settles when a number is at hand, without taking it. @throws as the async calls do */
  ready(wait?: WaitOptions): Promise<void> {
    return this.supply.soon({ count: 1, take: () => undefined }, wait);
  }

  /** Why a number would be refused at this moment; undefined when it would not be. Nothing is fetched for it. */
  refusal(): RaindropError | undefined {
    return this.supply.refusal();
  }

  /** To be called when this process may be a copy of another: what is at hand or under way is never used. */
  afterRestore(): void {
    this.supply.forget();
  }

  /**
   * Waits for the fetch under way, at most `opTimeoutMs`, and gives back what was not used, as far as it is the last that
   * was reserved. From the first moment on every call throws ClosedError. Never rejects.
   */
  close(): Promise<void> {
    return this.supply.close();
  }

  get status(): SegmentStatus {
    return this.supply.status;
  }

  /** How many numbers were handed out. */
  get issued(): number {
    return this.cursor.issued;
  }

  private takeNow<Batch>(batch: Batch, count: number, writeNext: WriteNext<Batch>): Batch {
    if (count === 0) return batch;
    this.supply.need(count);
    return writeRuns(batch, this.supply.buffer.take(count), writeNext);
  }

  private async takeSoon<Batch>(
    batch: Batch,
    { count, writeNext }: { readonly count: number; readonly writeNext: WriteNext<Batch> },
    wait?: WaitOptions,
  ): Promise<Batch> {
    const runs = await this.supply.soon({ count, take: () => this.supply.buffer.take(count) }, wait);
    return writeRunsInTurns(batch, runs, writeNext, this.ctx.ports.timers);
  }

  private checked(count: number): number {
    const { maxBatch } = this.ctx.options;
    if (!Number.isInteger(count) || count < 1 || count > maxBatch) throw new InvalidBatchError(count, maxBatch);
    return count;
  }

  /** By its tag, which arrays of another realm have as well. */
  private sizeOf(target: BigInt64Array): number {
    if (target?.[Symbol.toStringTag] !== 'BigInt64Array')
      throw new InvalidBatchError(target, this.ctx.options.maxBatch);
    return target.length === 0 ? 0 : this.checked(target.length);
  }
}
