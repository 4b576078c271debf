import { MAX_ID } from '../codec/id-codec.js';
import type { RaindropError } from '../raindrop-error.js';
import { AdaptiveStep } from '../prefetch/adaptive-step.js';
import { withDeadline } from '../async.js';
import {
  type Arrival,
  FetchCounters,
  Prefetcher,
  type PrefetcherContext,
  type PrefetcherStatus,
  type PrefetchPolicy,
} from '../prefetch/prefetcher.js';
import type { ResolvedSegmentOptions } from './segment-options.js';
import { type NumberCursor, NumberBuffer, sizeOf } from './number-buffer.js';
import { SegmentNotReadyError, SegmentRegressionError, storeError } from './segment-errors.js';
import type { ReservedSegment, SegmentSource } from './segment-store.js';

/** The state that the codes of one generator share. */
export interface SegmentContext extends PrefetcherContext {
  readonly options: ResolvedSegmentOptions;
  readonly counters: ReservationCounters;
}

/** The status says how the numbers of one key stand. */
export interface SegmentStatus extends PrefetcherStatus {
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
 * Keeps the numbers of one key at hand.
 *
 * Down to the low watermark a number costs one comparison: up to its `last` the cursor goes on by itself. Then the
 * prefetcher looks at everything, and sets `last` anew.
 */
export class SegmentPrefetcher extends Prefetcher<ReservedSegment, NumberBuffer> {
  private readonly cursor: NumberCursor = this.buffer.cursor;

  /** @param code what errors and the status call the key */
  constructor(
    readonly code: string,
    source: SegmentSource,
    ctx: SegmentContext,
  ) {
    super(new SegmentPolicy(code, source, ctx), ctx);
    // Nothing is fetched yet: before the first segment the step is unknown, and the low watermark 0.
    this.keep();
  }

  override next(): bigint {
    const { cursor } = this;
    if (cursor.sequence >= cursor.last) this.need(1);
    return cursor.next();
  }

  override nextText(): string {
    const { cursor } = this;
    if (cursor.sequence >= cursor.last) this.need(1);
    return cursor.nextText();
  }

  override nextNumber(): number {
    const { cursor } = this;
    if (cursor.sequence >= cursor.last) this.need(1);
    return this.safe(cursor.nextNumber());
  }
}

/**
 * Reserves segments of one key, from which the prefetcher hands out numbers.
 *
 * Over all calls the numbers increase strictly. A late answer is a reservation like any other: no other process has its
 * numbers. It is used when it lies above everything that came before, and is a gap otherwise. If it were never used, a
 * source that always takes longer than `opTimeoutMs` would give nothing but gaps.
 */
export class SegmentPolicy implements PrefetchPolicy<ReservedSegment, NumberBuffer> {
  readonly label: string;
  readonly step: AdaptiveStep;
  readonly buffer: NumberBuffer;
  readonly maxAgeMs = undefined;
  readonly usesLateAnswers = true;
  private readonly distance: PrefetchDistance;
  /** The highest number that ever came. */
  private highest = 0n;

  constructor(
    private readonly code: string,
    private readonly source: SegmentSource,
    private readonly ctx: SegmentContext,
  ) {
    const { options, ports } = ctx;
    this.label = `The numbers of '${code}'`;
    this.step = new AdaptiveStep(options.maxStep);
    this.buffer = new NumberBuffer(() => this.step.began(ports.monotonic.now()));
    this.distance = new PrefetchDistance(options);
  }

  lowWatermark(): number {
    return this.distance.numbers(this.step.current);
  }

  /** At the first time the row's own step says how many. */
  fetch(demand: number): Promise<ReservedSegment> {
    const { current } = this.step;
    const request = { above: this.highest };
    return this.source.reserve(current === 0 ? request : { ...request, count: this.countFor(demand) });
  }

  /**
   * The largest of three: the step, what is missing up to the low watermark, and all that waiting callers want together.
   * Numbers at hand do not count for those callers, because sync calls may take them before the segment comes.
   *
   * Example: step 1,000, watermark 900, 200 at hand, a caller waits for 5,000: 5,000 are fetched.
   */
  private countFor(demand: number): number {
    const { maxStep, maxBatch } = this.ctx.options;
    const missing = Math.ceil(this.lowWatermark() - this.buffer.left);
    return Math.max(this.step.current, missing, Math.min(demand, Math.max(maxStep, maxBatch)));
  }

  /** @throws SegmentRegressionError when the numbers are not above those that came before */
  check(segment: ReservedSegment): void {
    const { first, last } = segment;
    if (first > this.highest && first <= last && last <= MAX_ID) return;
    if (first <= last) this.discard(segment);
    throw new SegmentRegressionError(this.code, this.highest, segment);
  }

  accept(segment: ReservedSegment, { isLate, afterUnderrun }: Arrival): void {
    const { counters, ports } = this.ctx;
    this.highest = segment.last;
    counters.reservations++;
    counters.reserved += sizeOf(segment);
    if (isLate) counters.late++;
    this.step.learn(segment.step);
    this.buffer.add(segment);
    this.distance.landed(afterUnderrun, this.step.current, ports.monotonic.now());
  }

  discard(segment: ReservedSegment): void {
    this.ctx.counters.dropped += sizeOf(segment);
  }

  errorOf(reason: unknown): RaindropError {
    return storeError('reserving', reason);
  }

  /** An error that only a change of the table ends is retried while numbers are left, and then at the next call. */
  isRetried({ retryable }: RaindropError): boolean {
    return retryable || this.buffer.left > 0;
  }

  notReady(cause: RaindropError | undefined): RaindropError {
    return new SegmentNotReadyError(this.code, cause);
  }

  /** The store takes them back when they are the last that it has reserved. */
  async giveBack(): Promise<void> {
    const unused = this.buffer.takeTail();
    if (unused === undefined) return;
    const { options, ports, counters } = this.ctx;
    const giveBack = (): Promise<boolean> => this.source.giveBack(unused);
    const wentBack = await withDeadline(giveBack, options.opTimeoutMs, ports.timers).catch(() => false);
    if (wentBack) counters.givenBack += sizeOf(unused);
  }
}

/** After so long without an underrun a chain gets shorter, ms. */
const CALM_MS = 60_000;

/**
 * How many numbers are to be at hand. Without a chain it is a share of the step. A chain keeps whole segments ahead:
 * twice as many after an underrun, within its budget of numbers, and half after a minute without.
 *
 * It counts the numbers that are left in this process: the difference of two numbers says nothing when other processes
 * reserve from the same row in between.
 * Source of the chain: CosId's SegmentChainId.
 */
export class PrefetchDistance {
  /** How many steps are kept ahead; without a chain a fraction of one. */
  private stepsAhead: number;
  private calmSince = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: Pick<ResolvedSegmentOptions, 'prefetchBelow' | 'chain'>) {
    this.stepsAhead = options.chain?.safeDistance ?? options.prefetchBelow;
  }

  /** With fewer numbers than these the next are fetched. */
  numbers(step: number): number {
    return Math.min(this.stepsAhead * step, this.options.chain?.maxBuffered ?? Number.POSITIVE_INFINITY);
  }

  /** Numbers have come. @param afterUnderrun whether a caller had found too few @param at monotonic ms */
  landed(afterUnderrun: boolean, step: number, at: number): void {
    const { chain } = this.options;
    if (chain === undefined) return;
    if (afterUnderrun) {
      if (this.stepsAhead * step < chain.maxBuffered) this.stepsAhead *= 2;
    } else if (at - this.calmSince > CALM_MS) {
      this.stepsAhead = Math.max(chain.safeDistance, Math.floor(this.stepsAhead / 2));
    } else return;
    this.calmSince = at;
  }
}
