import { backoffMs, DeadlineError } from '../async.js';
import type { PrefetcherPorts, Timer } from '../ports.js';
import type { RaindropError } from '../raindrop-error.js';
import { UnsafeIntegerError } from '../generator/generator-errors.js';
import type { BatchRequest } from '../generator/outputs.js';
import { checkedWait, type WaitOptions } from '../generator/waiting.js';
import { ClosedError } from '../lease/lease-errors.js';
import type { AdaptiveStep } from './adaptive-step.js';
import type { PrefetcherOptions } from './prefetch-options.js';
import { type TakeRequest, WaiterQueue } from './waiter-queue.js';

/** The state that the prefetchers of all codes share. */
export interface PrefetcherContext {
  readonly options: PrefetcherOptions;
  readonly ports: PrefetcherPorts;
  /** Where all of them count together. */
  readonly counters: FetchCounters;
}

/** How the IDs of one code stand. */
export interface PrefetcherStatus {
  /** How many are at hand. */
  readonly left: number;
  /** How many the next fetch takes at least; 0 before the first answer of a source that names its step itself. */
  readonly step: number;
  readonly isFetching: boolean;
  /** Why the last fetch failed; undefined since one succeeded. */
  readonly lastError: RaindropError | undefined;
}

/** Totals of all codes since the start. */
export class FetchCounters {
  /** Fetches that failed or took longer than `opTimeoutMs`. */
  failures = 0;
  /** Calls that found too few IDs at hand. */
  starved = 0;
  /** IDs that were at hand when the process was copied or the service closed, and so never used. */
  forgotten = 0;
}

/**
 * The differences between the engines: the source of IDs, when and how many are fetched, and which answers are used.
 */
export interface PrefetchPolicy<Answer = unknown, B extends IdBuffer = IdBuffer> {
  /** Whose IDs these are, as errors say it: `The numbers of 'orders'`. */
  readonly label: string;
  readonly buffer: B;
  readonly step: AdaptiveStep;
  /** How old an ID may become at hand, ms; undefined for IDs that do not age. They are renewed at half that age. */
  readonly maxAgeMs: number | undefined;
  /** Whether an answer is used that came after its call had been given up. */
  readonly usesLateAnswers: boolean;

  /** With fewer IDs than these at hand the next are fetched. */
  lowWatermark(): number;
  /** Asks the source for IDs. @param demand how many callers want: all that wait, or a refused one if it is more */
  fetch(demand: number): Promise<Answer>;
  /** Looks at an answer when it comes. @throws what makes it unusable: its call has failed then */
  check(answer: Answer): void;
  /** Puts the IDs of an answer into the buffer. */
  accept(answer: Answer, arrival: Arrival): void;
  /** Counts the IDs of an answer that is not used. */
  discard(answer: Answer): void;
  /** Makes a RaindropError of what a call of the source threw. */
  errorOf(reason: unknown): RaindropError;
  /** Whether the prefetcher asks again by itself after this error. */
  isRetried(error: RaindropError): boolean;
  /** The error for a call that finds too few IDs. @param cause why the last fetch failed; undefined when it did not */
  notReady(cause: RaindropError | undefined): RaindropError;
  /** Drops the IDs that have become too old. Left out for IDs that do not age. @returns how many were dropped */
  dropAged?(): number;
  /**
   * Gives the source back what was not used, after the last call. Never rejects. Left out where nothing can be given
   * back: then the answer of a call under way is discarded as well.
   */
  giveBack?(): Promise<void>;
}

/** How an answer came. */
export interface Arrival {
  /** After its call had been given up. */
  readonly isLate: boolean;
  /** A caller has found too few IDs since the answer before, the first answer excepted. */
  readonly afterUnderrun: boolean;
}

/** The IDs at hand. */
export interface IdBuffer {
  readonly left: number;
  /** How many were handed out. */
  readonly issued: number;
  /** Puts the next part into use when the one before is used up. */
  turn(): void;
  /** Takes the next ID, which must be at hand. */
  next(): bigint;
  /** As {@link next}; undefined when the ID is above 2^53 - 1, and then it is not taken. */
  nextNumber(): number | undefined;
  /** Takes as many, which must be at hand. */
  take(count: number): Batch;
  /** Lets so many be taken without a look at anything else; with 0 or fewer, none. Left out for IDs that age. */
  allow?(count: number): void;
  /** Forgets everything. */
  clear(): void;
}

/** IDs that were taken together. */
export interface Batch {
  /** Writes those from one index to another into the places of an order; each part once, in order. */
  write<Target>(order: BatchRequest<Target>, from: number, end: number): void;
  /** How many are written before the event loop gets a turn (well under a millisecond). */
  sliceOf(order: BatchRequest<unknown>): number;
}

/**
 * Keeps the IDs of one code at hand. It decides when to fetch and which caller gets which IDs; its policy knows the
 * source.
 *
 * A call takes from the buffer. When less than the policy's low watermark is left, the next IDs are fetched in the
 * background. A sync call that finds too few is refused; an async one waits in line.
 */
export class Prefetcher<Answer = unknown, B extends IdBuffer = IdBuffer> {
  /** True when the code made room for others: a caller that still has this must look the code up again. */
  isDropped = false;
  /** Rises when this process may be a copy of another: no caller gets IDs that were taken in an earlier generation. */
  generation = 0;
  readonly buffer: B;
  private readonly waiters: WaiterQueue;
  private readonly fetcher: Fetcher<Answer>;
  /** IDs are kept at hand although no caller asks for them. */
  private isKept = false;
  /** A caller has the calls of this code, and uses them without a look-up. */
  private isBound = false;
  /** A caller has asked since the last IDs came. */
  private wasUsed = false;
  private isClosed = false;
  private closing: Promise<void> | undefined;
  /** The most that a refused sync call wanted: so many are fetched, for its next try. */
  private unmetDemand = 0;
  private hasUnderrun = false;
  /** The IDs at hand are half as old as they may become, and younger ones are fetched, even if these are enough. */
  private isRenewing = false;
  private renewal: Timer | undefined;

  constructor(
    private readonly policy: PrefetchPolicy<Answer, B>,
    private readonly ctx: PrefetcherContext,
  ) {
    this.buffer = policy.buffer;
    this.waiters = new WaiterQueue(
      ctx.ports,
      () => this.left,
      () => this.shortage(),
    );
    this.fetcher = new Fetcher(ctx, policy, {
      landed: (answer, isLate) => this.landed(answer, isLate),
      failed: (error) => this.failed(error),
      recovered: () => this.recovered(),
    });
  }

  /** Takes the next ID, and fetches in time. @throws RaindropError when there is none */
  next(): bigint {
    this.need(1);
    return this.buffer.next();
  }

  /** As {@link next}, as decimal text. */
  nextText(): string {
    return this.next().toString();
  }

  /** As {@link next}, as a number. @throws UnsafeIntegerError above 2^53 - 1; the ID is not taken then */
  nextNumber(): number {
    this.need(1);
    return this.safe(this.buffer.nextNumber());
  }

  /** Takes as many at once. @throws RaindropError when there are fewer */
  take(count: number): Batch {
    this.need(count);
    return this.buffer.take(count);
  }

  /**
   * Settles with what `take` takes, once so many are at hand and it is this caller's turn, and with the generation then.
   * @throws RaindropError, or rejects with it; the signal's reason
   */
  takeSoon<Taken>(
    count: number,
    take: (buffer: IdBuffer) => Taken,
    wait?: WaitOptions,
  ): Promise<{ readonly taken: Taken; readonly generation: number }> {
    return this.soon({ count, take: () => ({ taken: take(this.buffer), generation: this.generation }) }, wait);
  }

  /** Settles when an ID is at hand, without taking it. @throws as {@link takeSoon} */
  async ready(wait?: WaitOptions): Promise<void> {
    await this.soon({ count: 1, take: () => undefined }, wait);
  }

  /** Why no ID can be had at this moment; undefined when one can. Nothing is fetched for it. */
  refusal(): RaindropError | undefined {
    return this.left > 0 ? undefined : this.shortage();
  }

  /** How many IDs could be handed out at this moment. */
  get left(): number {
    if (this.isClosed) return 0;
    // The caller that wanted many may not come back: without this its demand would be gathered again and again.
    if ((this.policy.dropAged?.() ?? 0) > 0) this.unmetDemand = 0;
    return this.buffer.left;
  }

  get issued(): number {
    return this.buffer.issued;
  }

  /** Why the last fetch failed; undefined since one succeeded. */
  get lastError(): RaindropError | undefined {
    return this.fetcher.lastError;
  }

  get status(): PrefetcherStatus {
    const { isFetching, lastError } = this.fetcher;
    return { left: this.left, step: this.policy.step.current, isFetching, lastError };
  }

  /** No ID is at hand, under way or waited for, no fetch is tried again, and no caller keeps the calls. */
  get isUnused(): boolean {
    const { fetcher } = this;
    const isBusy = this.isBound || this.isKept || fetcher.isFetching || fetcher.lastError !== undefined;
    // A timer drops old IDs as well. So no clock is read here, where many codes may be looked at.
    return !isBusy && this.waiters.size === 0 && this.buffer.left === 0;
  }

  /** Keeps some at hand from now on. */
  keep(): void {
    this.isKept = true;
    this.refill();
  }

  /** Makes {@link isUnused} false for good. */
  bind(): void {
    this.isBound = true;
  }

  /** Forgets the IDs at hand and under way: a copy of this process has them, too. */
  forget(): void {
    this.generation++;
    this.clear();
    this.policy.step.restart();
    this.fetcher.forget();
    if (this.isKept || this.waiters.size > 0) this.refill();
  }

  /** Refuses every call from now on, those that wait included, and gives back what can be given back. Never rejects. */
  close(): Promise<void> {
    return (this.closing ??= this.shutDown());
  }

  private async shutDown(): Promise<void> {
    this.isClosed = true;
    this.buffer.allow?.(0);
    this.renewal?.cancel();
    this.waiters.refuse(new ClosedError());
    const stopped = this.fetcher.stop();
    if (this.policy.giveBack === undefined) {
      this.fetcher.forget();
      this.clear();
    }
    await stopped;
    await this.policy.giveBack?.();
  }

  /** @throws UnsafeIntegerError for undefined, which stands for an ID above 2^53 - 1 */
  protected safe(number: number | undefined): number {
    if (number === undefined) throw new UnsafeIntegerError(null, this.policy.label);
    return number;
  }

  /** Makes sure that `count` IDs are at hand. @throws RaindropError when there are fewer */
  protected need(count: number): void {
    this.buffer.turn();
    this.wasUsed = true;
    const isShort = this.left < count;
    if (isShort) {
      this.underrun();
      this.unmetDemand = Math.max(this.unmetDemand, count);
    }
    this.refill(count);
    if (isShort) throw this.shortage();
  }

  /** Not async: a caller that waited gets its IDs before callers that came later and are served at once. */
  private soon<T>(request: TakeRequest<T>, wait?: WaitOptions): Promise<T> {
    const limit = checkedWait(wait, this.ctx.options.asyncTimeoutMs);
    if (limit.signal?.aborted) throw limit.signal.reason;
    if (this.isClosed) throw new ClosedError();
    this.wasUsed = true;
    if (this.waiters.size === 0 && this.left >= request.count) {
      this.refill(request.count);
      return Promise.resolve(request.take());
    }
    this.underrun();
    const served = this.waiters.wait(request, limit);
    this.refill();
    if (this.finalRefusal !== undefined && !this.fetcher.isFetching) this.waiters.refuse(this.finalRefusal);
    return served;
  }

  /** A caller has found too few IDs. */
  private underrun(): void {
    this.ctx.counters.starved++;
    // Before the first answer the step is 0 where the source names it: those IDs come as fast as they can in any case.
    this.hasUnderrun = this.policy.step.current > 0;
  }

  /**
   * Fetches when there are too few, and notes how many may be taken without another look.
   * @param taking how many the caller is about to take
   */
  private refill(taking = 0): void {
    if (this.isClosed) return;
    const { buffer, fetcher } = this;
    const wanted = Math.max(this.policy.lowWatermark(), this.waiters.demand, this.unmetDemand);
    if (buffer.left - taking < wanted) this.fetch();
    // Callers may take IDs down to the watermark without coming back here. While a fetch or a pause is under way they may
    // take all: its end calls refill() again.
    buffer.allow?.(fetcher.isReady ? buffer.left - wanted : Number.POSITIVE_INFINITY);
  }

  private fetch(): void {
    this.fetcher.begin(() => this.policy.fetch(Math.max(this.waiters.demand, this.unmetDemand)));
  }

  private landed(answer: Answer, isLate: boolean): void {
    if (isLate && (this.isClosed || !this.policy.usesLateAnswers)) return this.policy.discard(answer);
    this.policy.accept(answer, { isLate, afterUnderrun: this.hasUnderrun });
    this.hasUnderrun = false;
    this.renewInTime();
    this.serve();
  }

  private failed(error: RaindropError): void {
    this.ctx.counters.failures++;
    if (error.retryable) return;
    this.unmetDemand = 0;
    this.waiters.refuse(error);
  }

  private recovered(): void {
    if (this.isRenewing) this.fetch();
    else this.refill();
  }

  /** IDs have come: serves the callers that wait, and fetches more if these are too few. */
  private serve(): void {
    if (this.isClosed) return;
    if (this.left >= this.unmetDemand) this.unmetDemand = 0;
    this.wasUsed = this.waiters.size > 0;
    this.waiters.serve();
    this.refill();
  }

  private renewInTime(): void {
    const { maxAgeMs } = this.policy;
    if (maxAgeMs === undefined) return;
    const { timers, randomness } = this.ctx.ports;
    this.isRenewing = false;
    this.renewal?.cancel();
    // Between 3/8 and 1/2 of the age: clients that were started together do not come back together.
    const renewMs = maxAgeMs * (0.5 - randomness.fraction() / 8);
    this.renewal = timers.setTimer(() => this.renew(maxAgeMs), renewMs, 'background');
  }

  /** A caller that uses the code is to find younger IDs when these are dropped. */
  private renew(maxAgeMs: number): void {
    const { timers, monotonic } = this.ctx.ports;
    this.policy.step.began(monotonic.now());
    this.isRenewing = this.isKept || this.wasUsed;
    if (this.isRenewing) this.fetch();
    // Without a call nothing else would drop them.
    else this.renewal = timers.setTimer(() => void this.left, maxAgeMs, 'background');
  }

  private clear(): void {
    this.ctx.counters.forgotten += this.buffer.left;
    this.buffer.clear();
  }

  private shortage(): RaindropError {
    if (this.isClosed) return new ClosedError();
    return this.finalRefusal ?? this.policy.notReady(this.fetcher.lastError);
  }

  /** The last failure, when it stays until the table or the configuration is changed. */
  private get finalRefusal(): RaindropError | undefined {
    const { lastError } = this.fetcher;
    return lastError?.retryable === false ? lastError : undefined;
  }
}

/** Is told how calls of the source end. */
interface FetchListener<Answer> {
  /** An answer came, and was found usable. @param isLate after its call had been given up */
  landed(answer: Answer, isLate: boolean): void;
  /** The call under way has failed, and a pause begins. */
  failed(error: RaindropError): void;
  /** The pause is over. */
  recovered(): void;
}

/** A call of the source. Its answer is discarded when the fetcher was told to forget since, which begins a new round. */
interface Call {
  readonly round: number;
}

/**
 * Makes one call of the source at a time, each with a time limit, and pauses after failures: with jitter, so that many
 * clients do not come back together. A call that takes too long has failed, and the next one may begin.
 */
export class Fetcher<Answer> {
  /** Why the last call failed; undefined since one succeeded. */
  lastError: RaindropError | undefined;
  private current: Call | undefined;
  private round = 0;
  private isStopped = false;
  private failuresInARow = 0;
  private pauseUntil = Number.NEGATIVE_INFINITY;
  private pause: Timer | undefined;
  private whenIdle: () => void = () => {};

  constructor(
    private readonly ctx: Pick<PrefetcherContext, 'options' | 'ports'>,
    private readonly policy: Pick<PrefetchPolicy<Answer>, 'check' | 'discard' | 'errorOf' | 'isRetried'>,
    private readonly listener: FetchListener<Answer>,
  ) {}

  get isFetching(): boolean {
    return this.current !== undefined;
  }

  /** Whether {@link begin} would begin a call now. */
  get isReady(): boolean {
    return !this.isFetching && !this.isStopped && this.ctx.ports.monotonic.now() >= this.pauseUntil;
  }

  /** Begins a call unless one is under way, or it is too early. */
  begin(fetch: () => Promise<Answer>): void {
    if (!this.isReady) return;
    this.current = { round: this.round };
    void this.run(this.current, fetch);
  }

  /** Discards the answers of all calls under way. */
  forget(): void {
    this.round++;
    this.end();
  }

  /** Begins no further call; settles when the one under way has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.pause?.cancel();
    if (this.isFetching) await new Promise<void>((resolve) => (this.whenIdle = resolve));
  }

  private async run(call: Call, fetch: () => Promise<Answer>): Promise<void> {
    const { opTimeoutMs } = this.ctx.options;
    // Not a `Deadline`, which would lose a late answer: segments in it can still be used.
    const giveUp = (): void => this.fail(call, new DeadlineError(opTimeoutMs));
    const timer = this.ctx.ports.timers.setTimer(giveUp, opTimeoutMs, 'background');
    let answer: Answer;
    try {
      answer = await fetch();
      // Without an await up to `landed`: another answer in between may change the verdict.
      this.policy.check(answer);
    } catch (error) {
      return this.fail(call, error);
    } finally {
      timer.cancel();
    }
    this.land(call, answer);
  }

  private land(call: Call, answer: Answer): void {
    if (call.round !== this.round) return this.policy.discard(answer);
    const isLate = call !== this.current;
    if (!isLate) {
      this.lastError = undefined;
      this.failuresInARow = 0;
      this.end();
    }
    this.listener.landed(answer, isLate);
  }

  private fail(call: Call, reason: unknown): void {
    if (call !== this.current) return;
    const error = this.policy.errorOf(reason);
    this.lastError = error;
    this.beginPause(error);
    this.end();
    this.listener.failed(error);
  }

  /** The pause doubles with each retryable failure, from `retryBaseMs` on; after any other it is `retryMaxMs`. */
  private beginPause(error: RaindropError): void {
    const { retryBaseMs, retryMaxMs } = this.ctx.options;
    const { monotonic, timers, randomness } = this.ctx.ports;
    const baseMs = error.retryable ? retryBaseMs : retryMaxMs;
    const ms = backoffMs(error.retryable ? this.failuresInARow++ : 0, baseMs, retryMaxMs, randomness);
    this.pauseUntil = monotonic.now() + ms;
    this.pause?.cancel();
    if (this.isStopped || !this.policy.isRetried(error)) return;
    this.pause = timers.setTimer(() => this.recover(), ms, 'background');
  }

  /** The timer ends the pause, not the clock: a timer may fire a little early. */
  private recover(): void {
    this.pauseUntil = Number.NEGATIVE_INFINITY;
    this.listener.recovered();
  }

  private end(): void {
    this.current = undefined;
    this.whenIdle();
  }
}
