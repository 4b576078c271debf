import { MAX_ID } from '../codec/max-id.js';
import { RaindropError } from '../raindrop-error.js';
import { sizeOf } from './segment-buffer.js';
import type { SegmentContext } from './segment-context.js';
import { SegmentRegressionError, SegmentStoreUnavailableError } from './segment-errors.js';
import type { ReservedSegment, SegmentSource } from './segment-store.js';

/** Is told how fetches end. */
export interface FetchListener {
  /** Numbers have come, all above those that came before. */
  landed(segment: ReservedSegment): void;
  /** A fetch failed, and a pause begins. @param error not retryable when only a change of the table can help */
  failed(error: RaindropError): void;
  /** The pause after failures that may pass by themselves is over. */
  recovered(): void;
  /** Whether callers can still be served. */
  hasNumbers(): boolean;
}

/** A call under way; its answer counts while the epoch lasts. */
interface Call {
  readonly epoch: number;
}

/**
 * Fetches segments, one call at a time, with pauses after failures.
 *
 * A call that takes too long has failed: the next one may begin. If its answer still comes, it is a reservation like any
 * other, which nobody else can have, and so it is used, provided that it lies above everything that came before;
 * otherwise it is left a gap. A source that is always too slow would else give nothing but gaps.
 */
export class SegmentFetcher {
  /** Why the last call failed; undefined since one succeeded. */
  lastError: RaindropError | undefined;
  /** The highest number that ever came. */
  private highest = 0n;
  private current: Call | undefined;
  private epoch = 0;
  private isStopped = false;
  private failuresInARow = 0;
  private pauseUntil = Number.NEGATIVE_INFINITY;
  private cancelPause: () => void = () => {};
  private whenIdle: () => void = () => {};

  constructor(
    private readonly idCode: string,
    private readonly source: SegmentSource,
    private readonly ctx: SegmentContext,
    private readonly listener: FetchListener,
  ) {}

  get isFetching(): boolean {
    return this.current !== undefined;
  }

  /** Whether {@link fetch} would begin a call now. */
  get isReady(): boolean {
    return !this.isFetching && !this.isStopped && this.ctx.ports.monotonic.now() >= this.pauseUntil;
  }

  /** Begins a call unless one is under way, or it is too early. @param count the row's own step when undefined */
  fetch(count: number | undefined): void {
    if (!this.isReady) return;
    const call: Call = { epoch: this.epoch };
    this.current = call;
    void this.run(call, count);
  }

  /** No further call; settles when the one under way has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.cancelPause();
    if (this.isFetching) await new Promise<void>((resolve) => (this.whenIdle = resolve));
  }

  /** The answers of all calls under way are gaps. */
  forget(): void {
    this.epoch++;
    this.end();
  }

  private async run(call: Call, count: number | undefined): Promise<void> {
    const { opTimeoutMs } = this.ctx.options;
    const giveUp = (): void => this.fail(call, new Error(`no answer within ${opTimeoutMs} ms`));
    const timer = this.ctx.ports.timers.setTimer(giveUp, opTimeoutMs, 'background');
    let segment: ReservedSegment;
    try {
      const request = { above: this.highest, ...(count !== undefined && { count }) };
      segment = this.checked(await this.source.reserve(request));
    } catch (error) {
      this.fail(call, error);
      return;
    } finally {
      timer.cancel();
    }
    this.land(call, segment);
  }

  /** @throws SegmentRegressionError when the numbers are not above those that came before */
  private checked(segment: ReservedSegment): ReservedSegment {
    const { first, last } = segment;
    if (first > this.highest && first <= last && last <= MAX_ID) return segment;
    if (first <= last) this.ctx.tally.dropped += sizeOf(segment);
    throw new SegmentRegressionError(this.idCode, this.highest, segment);
  }

  private land(call: Call, segment: ReservedSegment): void {
    const { tally } = this.ctx;
    const isLate = call !== this.current;
    if (call.epoch !== this.epoch || (isLate && this.isStopped)) {
      tally.dropped += sizeOf(segment);
      return;
    }
    this.highest = segment.last;
    tally.reservations++;
    tally.reserved += sizeOf(segment);
    if (isLate) tally.late++;
    else this.succeed();
    this.listener.landed(segment);
  }

  private succeed(): void {
    this.lastError = undefined;
    this.failuresInARow = 0;
    this.pauseUntil = Number.NEGATIVE_INFINITY;
    this.end();
  }

  private fail(call: Call, reason: unknown): void {
    if (call !== this.current) return;
    const error = typed(reason);
    this.ctx.tally.failures++;
    this.lastError = error;
    this.pause(error.retryable);
    this.end();
    this.listener.failed(error);
  }

  /** What only a change of the table can help is asked for again before numbers run out, or when a caller wants it. */
  private pause(mayPass: boolean): void {
    const { retryBaseMs, retryMaxMs } = this.ctx.options;
    const { monotonic, timers, randomness } = this.ctx.ports;
    const longest = mayPass ? Math.min(retryMaxMs, retryBaseMs * 2 ** this.failuresInARow++) : retryMaxMs;
    const ms = longest * (1 - randomness.fraction() / 2);
    this.pauseUntil = monotonic.now() + ms;
    this.cancelPause();
    if (this.isStopped || !(mayPass || this.listener.hasNumbers())) return;
    const timer = timers.setTimer(() => this.recover(), ms, 'background');
    this.cancelPause = () => timer.cancel();
  }

  /** Timers may be a little early. */
  private recover(): void {
    this.pauseUntil = Number.NEGATIVE_INFINITY;
    this.listener.recovered();
  }

  private end(): void {
    this.current = undefined;
    this.whenIdle();
  }
}

function typed(reason: unknown): RaindropError {
  return reason instanceof RaindropError ? reason : new SegmentStoreUnavailableError('reserving', reason);
}
