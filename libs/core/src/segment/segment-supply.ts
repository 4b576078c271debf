import { checkedWait, type WaitOptions } from '../generator/waiting.js';
import { ClosedError } from '../lease/lease-errors.js';
import type { RaindropError } from '../raindrop-error.js';
import { AdaptiveStep } from './adaptive-step.js';
import { withDeadline } from './deadline.js';
import { PrefetchDistance } from './prefetch-distance.js';
import { SegmentBuffer, sizeOf } from './segment-buffer.js';
import type { SegmentContext } from './segment-context.js';
import { SegmentNotReadyError } from './segment-errors.js';
import { SegmentFetcher } from './segment-fetcher.js';
import type { SegmentStatus } from './segment-status.js';
import type { ReservedSegment, SegmentSource } from './segment-store.js';
import { WaiterQueue } from './waiter-queue.js';
import type { Order } from './waiter.js';

/** Keeps the numbers of one key at hand: decides when to fetch, how many, and who gets them. */
export class SegmentSupply {
  readonly buffer: SegmentBuffer;
  readonly fetcher: SegmentFetcher;
  private readonly step: AdaptiveStep;
  private readonly distance: PrefetchDistance;
  private readonly waiters: WaiterQueue;
  /** The most that sync calls wanted and did not get, so that they find it the next time. */
  private missed = 0;
  private hasStarved = false;
  private isClosed = false;
  private closing: Promise<void> | undefined;

  constructor(
    readonly idCode: string,
    private readonly source: SegmentSource,
    private readonly ctx: SegmentContext,
  ) {
    const { options, ports } = ctx;
    this.step = new AdaptiveStep(options.maxStep);
    this.distance = new PrefetchDistance(options);
    this.buffer = new SegmentBuffer(() => this.step.segmentBegan(ports.monotonic.now()));
    const shortage = (): RaindropError => this.shortage();
    this.waiters = new WaiterQueue(ports, () => this.left, shortage);
    this.fetcher = new SegmentFetcher(idCode, source, ctx, {
      landed: (segment) => this.landed(segment),
      failed: (error) => this.failed(error),
      recovered: () => this.refill(),
      hasNumbers: () => this.buffer.left > 0,
    });
  }

  /** How many numbers could be handed out at this moment. */
  get left(): number {
    return this.isClosed ? 0 : this.buffer.left;
  }

  get status(): SegmentStatus {
    const { idCode, left, buffer, fetcher } = this;
    const { isFetching, lastError } = fetcher;
    return { idCode, left, step: this.step.current, buffered: buffer.segments, isFetching, lastError };
  }

  /** Why no number can be had at this moment; undefined when one can. */
  refusal(): RaindropError | undefined {
    return this.left > 0 ? undefined : this.shortage();
  }

  /** Has `count` numbers at hand, the next one in the cursor. @throws RaindropError when there are fewer */
  need(count: number): void {
    this.buffer.turn();
    const isShort = this.left < count;
    if (isShort) {
      this.starve();
      this.missed = Math.max(this.missed, count);
    }
    this.refill(count);
    if (isShort) throw this.shortage();
  }

  /** Settles with what `take` answers, called when it is this one's turn. @throws RaindropError; the signal's reason */
  async soon<T>(order: Order<T>, wait?: WaitOptions): Promise<T> {
    const limit = checkedWait(wait, this.ctx.options.asyncTimeoutMs);
    if (limit.signal?.aborted) throw limit.signal.reason;
    if (this.isClosed) throw new ClosedError();
    if (this.waiters.size === 0 && this.left >= order.count) {
      this.refill(order.count);
      return order.take();
    }
    this.starve();
    const served = this.waiters.wait(order, limit);
    this.refill();
    if (this.finalRefusal !== undefined && !this.fetcher.isFetching) this.waiters.refuse(this.finalRefusal);
    return served;
  }

  /** Forgets what is at hand and under way: a copy of this process has it, too. */
  forget(): void {
    this.ctx.tally.forgotten += this.buffer.left;
    this.buffer.clear();
    this.step.restart();
    this.fetcher.forget();
    this.refill();
  }

  /** Fetches no more, and gives back what was not used. Never rejects. */
  close(): Promise<void> {
    this.isClosed = true;
    return (this.closing ??= this.wind());
  }

  private async wind(): Promise<void> {
    this.buffer.cursor.stop();
    this.waiters.refuse(new ClosedError());
    await this.fetcher.stop();
    const unused = this.buffer.takeTail();
    if (unused === undefined) return;
    const { opTimeoutMs } = this.ctx.options;
    const giveBack = (): Promise<boolean> => this.source.giveBack(unused);
    const wentBack = await withDeadline(giveBack, opTimeoutMs, this.ctx.ports.timers).catch(() => false);
    if (wentBack) this.ctx.tally.givenBack += sizeOf(unused);
  }

  private landed(segment: ReservedSegment): void {
    this.step.learn(segment.step);
    this.buffer.add(segment);
    this.distance.landed(this.hasStarved, this.step.current, this.ctx.ports.monotonic.now());
    this.hasStarved = false;
    if (this.buffer.left >= this.missed) this.missed = 0;
    if (!this.isClosed) this.waiters.serve();
    this.refill();
  }

  private failed(error: RaindropError): void {
    if (error.retryable) return;
    this.missed = 0;
    this.waiters.refuse(error);
  }

  private starve(): void {
    this.ctx.tally.starved++;
    // The very first numbers come as fast as they can, whatever the distance.
    this.hasStarved = this.step.current > 0;
  }

  /** Fetches when there are too few, and notes how many may be taken without another look. */
  private refill(taking = 0): void {
    if (this.isClosed) return;
    const { buffer, fetcher } = this;
    const wanted = Math.max(this.distance.numbers(this.step.current), this.waiters.demand, this.missed);
    if (buffer.left - taking < wanted) fetcher.fetch(this.nextCount());
    buffer.cursor.allow(fetcher.isReady ? buffer.left - wanted : Number.POSITIVE_INFINITY);
  }

  /** All that callers wait for at once: others may take what is at hand before it comes. */
  private nextCount(): number | undefined {
    const { maxStep, maxBatch } = this.ctx.options;
    const { current } = this.step;
    if (current === 0) return undefined;
    const demand = Math.min(Math.max(this.waiters.demand, this.missed), Math.max(maxStep, maxBatch));
    return Math.max(current, Math.ceil(this.distance.numbers(current) - this.buffer.left), demand);
  }

  private shortage(): RaindropError {
    if (this.isClosed) return new ClosedError();
    return this.finalRefusal ?? new SegmentNotReadyError(this.idCode, this.fetcher.lastError);
  }

  /** That there will be no more until somebody changes the table. */
  private get finalRefusal(): RaindropError | undefined {
    const { lastError } = this.fetcher;
    return lastError?.retryable === false ? lastError : undefined;
  }
}
