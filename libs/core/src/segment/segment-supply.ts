import { MAX_ID } from '../codec/max-id.js';
import { decimalText } from '../generator/decimal-text.js';
import { UnsafeIntegerError } from '../generator/generator-errors.js';
import { ClosedError } from '../lease/lease-errors.js';
import { RaindropError } from '../raindrop-error.js';
import { AdaptiveStep } from '../supply/adaptive-step.js';
import { withDeadline } from '../supply/deadline.js';
import { Supply } from '../supply/supply.js';
import type { NumberCursor } from './number-cursor.js';
import { PrefetchDistance } from './prefetch-distance.js';
import { SegmentBuffer, sizeOf } from './segment-buffer.js';
import type { SegmentContext } from './segment-context.js';
import {
  SegmentNotReadyError,
  SegmentRegressionError,
  SegmentStoreUnavailableError,
  UnknownCodeError,
} from './segment-errors.js';
import type { SegmentStatus } from './segment-status.js';
import type { ReservedSegment, SegmentSource } from './segment-store.js';

/**
 * Keeps the numbers of one key at hand, from segments.
 *
 * Over all calls they increase strictly. A late answer is a reservation like any other, which nobody else can have, and so
 * it is used, provided that it lies above everything that came before; otherwise it is left a gap. A source that is always
 * too slow would else give nothing but gaps.
 */
export class SegmentSupply extends Supply<ReservedSegment> {
  protected override readonly stock = new SegmentBuffer(() => this.step.began(this.ctx.ports.monotonic.now()));
  private readonly cursor: NumberCursor = this.stock.cursor;
  private readonly distance: PrefetchDistance;
  /** The highest number that ever came. */
  private highest = 0n;
  private hasStarved = false;
  private closing: Promise<void> | undefined;

  /** @param code what errors and the status call it */
  constructor(
    readonly code: string,
    private readonly source: SegmentSource,
    protected override readonly ctx: SegmentContext,
  ) {
    super(ctx, new AdaptiveStep(ctx.options.maxStep));
    this.distance = new PrefetchDistance(ctx.options);
    this.isKept = true;
  }

  get left(): number {
    return this.isClosed ? 0 : this.stock.left;
  }

  /** There is no row, and there never was a number of it. */
  get isIdle(): boolean {
    return this.fetcher.lastError instanceof UnknownCodeError && this.issued === 0;
  }

  override get status(): SegmentStatus {
    return { code: this.code, ...super.status, buffered: this.stock.segments };
  }

  next(): bigint {
    const { cursor } = this;
    if (cursor.sequence >= cursor.last) this.need(1);
    return cursor.next();
  }

  nextText(): string {
    const { cursor } = this;
    if (cursor.sequence >= cursor.last) this.need(1);
    cursor.step();
    return decimalText(cursor, 1);
  }

  nextNumber(): number {
    const { cursor } = this;
    if (cursor.sequence >= cursor.last) this.need(1);
    const number = cursor.numberBase + cursor.sequence + 1;
    if (number > Number.MAX_SAFE_INTEGER) throw new UnsafeIntegerError(null, `The numbers of '${this.code}'`);
    cursor.step();
    return number;
  }

  /** Fetches no more, and gives back what was not used, as far as it is the last that was reserved. Never rejects. */
  close(): Promise<void> {
    this.isClosed = true;
    return (this.closing ??= this.wind());
  }

  /** @throws SegmentRegressionError when the numbers are not above those that came before */
  check(segment: ReservedSegment): void {
    const { first, last } = segment;
    if (first > this.highest && first <= last && last <= MAX_ID) return;
    if (first <= last) this.lost(segment);
    throw new SegmentRegressionError(this.code, this.highest, segment);
  }

  landed(segment: ReservedSegment): void {
    const { counters, ports } = this.ctx;
    this.highest = segment.last;
    counters.reservations++;
    counters.reserved += sizeOf(segment);
    this.step.learn(segment.step);
    this.stock.add(segment);
    this.distance.landed(this.hasStarved, this.step.current, ports.monotonic.now());
    this.hasStarved = false;
    this.serve();
  }

  late(segment: ReservedSegment): void {
    if (this.isClosed) return this.lost(segment);
    this.ctx.counters.late++;
    this.landed(segment);
  }

  lost(segment: ReservedSegment): void {
    this.ctx.counters.dropped += sizeOf(segment);
  }

  recovered(): void {
    this.refill();
  }

  typed(reason: unknown): RaindropError {
    return reason instanceof RaindropError ? reason : new SegmentStoreUnavailableError('reserving', reason);
  }

  /** What only a change of the table can help is asked for again before numbers run out, or when a caller wants it. */
  isRetried({ retryable }: RaindropError): boolean {
    return retryable || this.stock.left > 0;
  }

  protected get goal(): number {
    return this.distance.numbers(this.step.current);
  }

  protected override need(count: number): void {
    this.stock.turn();
    super.need(count);
  }

  protected override starve(): void {
    super.starve();
    // The very first numbers come as fast as they can, whatever the distance.
    this.hasStarved = this.step.current > 0;
  }

  /** Notes as well how many may be taken without another look. */
  protected override refill(taking = 0): number {
    const wanted = super.refill(taking);
    const { cursor, fetcher, stock } = this;
    if (!this.isClosed) cursor.allow(fetcher.isReady ? stock.left - wanted : Number.POSITIVE_INFINITY);
    return wanted;
  }

  protected fetch(): void {
    const count = this.nextCount();
    this.fetcher.begin(() => {
      return this.source.reserve({ above: this.highest, ...(count !== undefined && { count }) });
    });
  }

  protected notReady(cause: RaindropError | undefined): RaindropError {
    return new SegmentNotReadyError(this.code, cause);
  }

  /** All that callers wait for at once: others may take what is at hand before it comes. */
  private nextCount(): number | undefined {
    const { maxStep, maxBatch } = this.ctx.options;
    const { current } = this.step;
    if (current === 0) return undefined;
    const demand = Math.min(Math.max(this.waiters.demand, this.missed), Math.max(maxStep, maxBatch));
    return Math.max(current, Math.ceil(this.goal - this.stock.left), demand);
  }

  private async wind(): Promise<void> {
    this.cursor.stop();
    this.waiters.refuse(new ClosedError());
    await this.fetcher.stop();
    const unused = this.stock.takeTail();
    if (unused === undefined) return;
    const { opTimeoutMs } = this.ctx.options;
    const giveBack = (): Promise<boolean> => this.source.giveBack(unused);
    const wentBack = await withDeadline(giveBack, opTimeoutMs, this.ctx.ports.timers).catch(() => false);
    if (wentBack) this.ctx.counters.givenBack += sizeOf(unused);
  }
}
