import { FetchCounters, Supply, type SupplyContext, type SupplyStatus } from '../supply/supply.js';
import { MAX_ID } from '../codec/id-codec.js';
import { decimalText } from '../generator/tick-cursor.js';
import { UnsafeIntegerError } from '../generator/generator-errors.js';
import { ClosedError } from '../lease/lease-errors.js';
import { RaindropError } from '../raindrop-error.js';
import { AdaptiveStep, withDeadline } from '../supply/fetcher.js';
import type { ResolvedSegmentOptions } from './segment-options.js';
import { type NumberCursor, SegmentBuffer, sizeOf } from './segment-buffer.js';
import {
  SegmentNotReadyError,
  SegmentRegressionError,
  SegmentStoreUnavailableError,
  UnknownCodeError,
} from './segment-errors.js';
import type { ReservedSegment, SegmentSource } from './segment-store.js';

/** What the supplies of one generator share. */
export interface SegmentContext extends SupplyContext {
  readonly options: ResolvedSegmentOptions;
  readonly counters: ReservationCounters;
}

/** The status says how the numbers of one key stand. */
export interface SegmentStatus extends SupplyStatus {
  readonly code: string;
  /** How many segments wait behind the one in use. */
  readonly buffered: number;
}

/** Counts what was done for all keys together since the start. */
export class ReservationCounters extends FetchCounters {
  /** Segments that came. */
  reservations = 0;
  /** Numbers in them. */
  reserved = 0;
  /** Segments among the reservations that came after their call had been given up. */
  late = 0;
  /** Numbers that came and were never used: too late, or not above those that had come before. */
  dropped = 0;
  /** Numbers that went back to the store at the end. */
  givenBack = 0;
}

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

/** When nobody has starved for so long, a chain gets shorter, ms. */
const CALM_MS = 60_000;

/**
 * How many numbers are to be at hand. Without a chain it is a share of the step. A chain keeps whole segments ahead:
 * twice as many after callers have starved, within its budget of numbers, and half after a minute without.
 *
 * It counts the numbers that are left here. The distance between values says nothing once others draw from the same row.
 * Source of the chain: CosId's SegmentChainId.
 */
export class PrefetchDistance {
  private segments: number;
  private calmSince = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: Pick<ResolvedSegmentOptions, 'prefetchBelow' | 'chain'>) {
    this.segments = options.chain?.safeDistance ?? options.prefetchBelow;
  }

  /** With fewer numbers than these the next are fetched. */
  numbers(step: number): number {
    return Math.min(this.segments * step, this.options.chain?.maxBuffered ?? Number.POSITIVE_INFINITY);
  }

  /** Numbers have come. @param hasStarved whether a caller had found none @param at monotonic ms */
  landed(hasStarved: boolean, step: number, at: number): void {
    const { chain } = this.options;
    if (chain === undefined) return;
    if (hasStarved) {
      if (this.segments * step < chain.maxBuffered) this.segments *= 2;
    } else if (at - this.calmSince > CALM_MS) {
      this.segments = Math.max(chain.safeDistance, Math.floor(this.segments / 2));
    } else return;
    this.calmSince = at;
  }
}
