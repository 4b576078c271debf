import { checkedWait, type WaitOptions } from '../generator/waiting.js';
import { ClosedError } from '../lease/lease-errors.js';
import { RaindropError } from '../raindrop-error.js';
import { AdaptiveStep } from '../segment/adaptive-step.js';
import { WaiterQueue } from '../segment/waiter-queue.js';
import type { Order } from '../segment/waiter.js';
import type { Timer } from '../time/timers.js';
import { IdQueue } from './id-queue.js';
import type { PrefetchContext } from './prefetch-context.js';
import { IdSourceUnavailableError, IdsNotReadyError } from './prefetch-errors.js';
import { PACE } from './prefetch-pace.js';
import type { PrefetchStatus } from './prefetch-status.js';
import { RetriedCall, type AskedAt } from './retried-call.js';
import { takeBatch } from './take-batch.js';

/** Keeps the IDs of one code at hand: decides when to fetch, how many, and who gets them. */
export class IdSupply {
  readonly queue: IdQueue;
  private readonly step: AdaptiveStep;
  private readonly waiters: WaiterQueue;
  private readonly fetching: RetriedCall<readonly bigint[]>;
  /** The most that sync calls wanted and did not get, so that they find it the next time. */
  private missed = 0;
  /** Some are kept at hand although nobody uses them. */
  private isKept = false;
  private wasUsed = false;
  /** What is at hand is about to be too old, although it may be enough. */
  private isRenewing = false;
  private isClosed = false;
  private renewal: Timer | undefined;

  constructor(
    /** Undefined for IDs without one. */
    readonly idCode: string | undefined,
    private readonly ctx: PrefetchContext,
  ) {
    const { options, ports, source } = ctx;
    this.step = new AdaptiveStep(options.maxStep);
    this.step.learn(options.minStep);
    this.queue = new IdQueue(() => this.paced());
    const shortage = (): RaindropError => this.shortage();
    this.waiters = new WaiterQueue(ports, () => this.left, shortage);
    this.fetching = new RetriedCall(options, ports, {
      landed: (ids, askedAt) => this.landed(ids, askedAt),
      late: (ids) => void (ctx.tally.late += ids.length),
      failed: (error) => this.failed(error),
      recovered: () => (this.isRenewing ? this.fetch() : this.refill()),
      typed: (reason) => (reason instanceof RaindropError ? reason : new IdSourceUnavailableError(source.name, reason)),
    });
  }

  /** How many IDs could be handed out at this moment. */
  get left(): number {
    const { monotonic, clock } = this.ctx.ports;
    const aged = this.queue.left > 0 ? this.queue.dropOld(monotonic.now(), clock.refresh()) : 0;
    if (aged > 0) {
      this.ctx.tally.aged += aged;
      // Who wanted many at once may not come back: gathering them again and again would never end.
      this.missed = 0;
    }
    return this.queue.left;
  }

  get status(): PrefetchStatus {
    const { idCode, left, fetching } = this;
    return { idCode, left, step: this.step.current, isFetching: fetching.isUnderWay, lastError: fetching.lastError };
  }

  /** Nothing is at hand, under way, waited for or tried again: another supply could take its place. */
  get isIdle(): boolean {
    const { fetching } = this;
    const isBusy = this.isKept || fetching.isUnderWay || fetching.lastError !== undefined;
    // What is old is dropped by a timer as well: no look at the clocks for each of many codes.
    return !isBusy && this.waiters.size === 0 && this.queue.left === 0;
  }

  /** Why no ID can be had at this moment; undefined when one can. */
  refusal(): RaindropError | undefined {
    return this.left > 0 ? undefined : this.shortage();
  }

  /** Keeps some at hand from now on. */
  keep(): void {
    this.isKept = true;
    this.refill();
  }

  /** Has `count` IDs in the queue. @throws RaindropError when there are fewer */
  need(count: number): void {
    this.wasUsed = true;
    const isShort = this.left < count;
    if (isShort) {
      this.ctx.tally.starved++;
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
    this.wasUsed = true;
    if (this.waiters.size === 0 && this.left >= order.count) {
      this.refill(order.count);
      return order.take();
    }
    this.ctx.tally.starved++;
    const served = this.waiters.wait(order, limit);
    this.refill();
    if (this.finalRefusal !== undefined && !this.fetching.isUnderWay) this.waiters.refuse(this.finalRefusal);
    return served;
  }

  /** Forgets what is at hand and under way: a copy of this process has it, too. */
  forget(): void {
    this.ctx.tally.forgotten += this.queue.clear();
    this.step.restart();
    this.fetching.forget();
    if (this.isKept || this.waiters.size > 0) this.refill();
  }

  /** Leaves no timer behind. To be called when it is {@link isIdle} and is not going to be used again. */
  retire(): void {
    this.renewal?.cancel();
  }

  /** Hands out nothing any more, and fetches nothing. */
  close(): void {
    this.isClosed = true;
    this.renewal?.cancel();
    this.fetching.stop();
    this.ctx.tally.forgotten += this.queue.clear();
    this.waiters.refuse(new ClosedError());
  }

  private landed(ids: readonly bigint[], { monotonicMs, wallMs }: AskedAt): void {
    const { options, ports, tally } = this.ctx;
    tally.batches++;
    tally.received += ids.length;
    // Issued after it was asked for: counted from then, nothing is ever older than it is taken to be.
    this.queue.add(ids, monotonicMs + options.maxAgeMs, wallMs + options.maxAgeMs);
    if (this.left >= this.missed) this.missed = 0;
    this.wasUsed = this.waiters.size > 0;
    this.isRenewing = false;
    this.waiters.serve();
    this.renewal?.cancel();
    // Clients that were started together do not come back together.
    const renewMs = options.maxAgeMs * (0.5 - ports.randomness.fraction() / 8);
    this.renewal = ports.timers.setTimer(() => this.renew(), renewMs, 'background');
    this.refill();
  }

  private failed(error: RaindropError): void {
    this.ctx.tally.failures++;
    if (error.retryable) return;
    this.missed = 0;
    this.waiters.refuse(error);
  }

  /** The last batch is half as old as it may become: who uses the code is to find younger ones when it is dropped. */
  private renew(): void {
    this.paced();
    this.isRenewing = this.isKept || this.wasUsed;
    if (this.isRenewing) this.fetch();
    // Nobody may come by to drop them.
    else this.renewal = this.ctx.ports.timers.setTimer(() => void this.left, this.ctx.options.maxAgeMs, 'background');
  }

  private paced(): void {
    this.step.segmentBegan(this.ctx.ports.monotonic.now() * PACE);
  }

  /** Fetches when there are too few. @param taking how many are about to be taken */
  private refill(taking = 0): void {
    if (this.isClosed) return;
    const wanted = Math.max(this.ctx.options.prefetchBelow * this.step.current, this.waiters.demand, this.missed, 1);
    if (this.queue.left - taking < wanted) this.fetch();
  }

  private fetch(): void {
    const { maxStep } = this.ctx.options;
    const demand = Math.max(this.waiters.demand, this.missed) - this.queue.left;
    const count = Math.min(Math.max(this.step.current, demand), maxStep);
    this.fetching.begin(() => takeBatch(this.ctx.source, count, this.idCode));
  }

  private shortage(): RaindropError {
    if (this.isClosed) return new ClosedError();
    return this.finalRefusal ?? new IdsNotReadyError(this.idCode, this.fetching.lastError);
  }

  /** That there will be no more unless somebody changes something. */
  private get finalRefusal(): RaindropError | undefined {
    const { lastError } = this.fetching;
    return lastError?.retryable === false ? lastError : undefined;
  }
}
