import type { SupplyPorts } from '../ports.js';
import type { OptionReader } from '../config/option-reader.js';
import type { RaindropError } from '../raindrop-error.js';
import type { BatchRequest } from '../generator/outputs.js';
import { checkedWait, type WaitOptions } from '../generator/waiting.js';
import { ClosedError } from '../lease/lease-errors.js';
import { type AdaptiveStep, Fetcher, type FetchListener } from './fetcher.js';
import { type Order, WaiterQueue } from './waiter-queue.js';

/** What the supplies of all codes share. */
export interface SupplyContext {
  readonly options: ResolvedSupplyOptions;
  readonly ports: SupplyPorts;
  /** Where all of them count together. */
  readonly counters: FetchCounters;
}

/** The options of every supply, checked and complete. */
export interface ResolvedSupplyOptions {
  /** The next IDs are fetched when less than this share of a fetch is left, 0-1. */
  readonly prefetchBelow: number;
  readonly maxBatch: number;
  readonly asyncTimeoutMs: number;
  readonly opTimeoutMs: number;
  readonly retryBaseMs: number;
  readonly retryMaxMs: number;
}

/** Reads the options of a supply. @param share the default of `prefetchBelow`, and of what it is a share */
export function readSupplyOptions(
  reader: OptionReader,
  share: { readonly default: number; readonly of: string },
): ResolvedSupplyOptions {
  const retryBaseMs = reader.integer('retryBaseMs', { min: 1, max: 60_000, default: 50 });
  return {
    prefetchBelow: reader.share('prefetchBelow', share),
    maxBatch: reader.integer('maxBatch', { min: 1, max: 10_000_000, default: 100_000 }),
    asyncTimeoutMs: reader.integer('asyncTimeoutMs', { min: 1, max: 86_400_000, default: 3_000 }),
    opTimeoutMs: reader.integer('opTimeoutMs', { min: 10, max: 60_000, default: 3_000 }),
    retryBaseMs,
    retryMaxMs: reader.integer('retryMaxMs', {
      min: retryBaseMs,
      max: 600_000,
      default: Math.max(retryBaseMs, 5_000),
      hint: 'at least retryBaseMs',
    }),
  };
}

/** How the IDs of one code stand. */
export interface SupplyStatus {
  /** How many are at hand. */
  readonly left: number;
  /** How many the next fetch takes at least; 0 before the first one of a source that says it itself. */
  readonly step: number;
  readonly isFetching: boolean;
  /** Why the last fetch failed; undefined since one succeeded. */
  readonly lastError: RaindropError | undefined;
}

/** What was done for all codes together since the start. */
export class FetchCounters {
  /** Fetches that failed or took longer than `opTimeoutMs`. */
  failures = 0;
  /** Calls that found too few IDs at hand. */
  starved = 0;
  /** IDs that were at hand when the process was copied or the service closed, and so never used. */
  forgotten = 0;
}

/** IDs that were taken together. */
export interface TakenIds {
  /** Writes those from one index to another into the places of a batch; each part once, in order. */
  write<Batch>(order: BatchRequest<Batch>, from: number, end: number): void;
  /** After so many of them others are to have a turn of the event loop (well under a millisecond). */
  turnAfter(order: BatchRequest<unknown>): number;
}

/** The IDs at hand. */
export interface Stock {
  readonly left: number;
  /** How many were handed out. */
  readonly issued: number;
  /** Takes the next one, which must be at hand. */
  next(): bigint;
  /** Takes as many, which must be at hand. */
  take(count: number): TakenIds;
  /** Forgets everything. */
  clear(): void;
}

/** Keeps the IDs of one code at hand: decides when to fetch, how many, and who gets them. */
export abstract class Supply<Answer = unknown> implements FetchListener<Answer> {
  /** True when it made room for other codes: whoever still has it must look its code up again. */
  isDropped = false;
  /** Counts how often all that was taken before became that of a copy of this process. */
  epoch = 0;
  protected abstract readonly stock: Stock;
  protected readonly waiters: WaiterQueue;
  protected readonly fetcher: Fetcher<Answer>;
  /** Some are kept at hand although nobody uses them. */
  protected isKept = false;
  /** Somebody has asked since the last IDs came. */
  protected wasUsed = false;
  protected isClosed = false;
  /** The most that sync calls wanted and did not get, so that they find it the next time. */
  protected missed = 0;

  constructor(
    protected readonly ctx: SupplyContext,
    protected readonly step: AdaptiveStep,
  ) {
    const { options, ports } = ctx;
    const shortage = (): RaindropError => this.shortage();
    this.waiters = new WaiterQueue(ports, () => this.left, shortage);
    this.fetcher = new Fetcher(options, ports, this);
  }

  /** How many IDs could be handed out at this moment. */
  abstract get left(): number;
  /** Whether the code can make room for another one. */
  abstract get isIdle(): boolean;
  /** Takes the next ID, and fetches in time. @throws RaindropError when there is none */
  abstract next(): bigint;
  abstract nextText(): string;
  /** @throws UnsafeIntegerError above 2^53 - 1, before it is consumed */
  abstract nextNumber(): number;
  /** Ends it. Never rejects. */
  abstract close(): Promise<void>;

  /** With fewer than these the next are fetched. */
  protected abstract get goal(): number;
  protected abstract fetch(): void;
  protected abstract notReady(cause: RaindropError | undefined): RaindropError;

  abstract check(answer: Answer): void;
  abstract landed(answer: Answer): void;
  abstract late(answer: Answer): void;
  abstract lost(answer: Answer): void;
  abstract recovered(): void;
  abstract typed(reason: unknown): RaindropError;
  abstract isRetried(error: RaindropError): boolean;

  get issued(): number {
    return this.stock.issued;
  }

  get status(): SupplyStatus {
    const { isFetching, lastError } = this.fetcher;
    return { left: this.left, step: this.step.current, isFetching, lastError };
  }

  /** Why no ID can be had at this moment; undefined when one can. Nothing is fetched for it. */
  refusal(): RaindropError | undefined {
    return this.left > 0 ? undefined : this.shortage();
  }

  /** Takes as many at once. @throws RaindropError when there are fewer */
  take(count: number): TakenIds {
    this.need(count);
    return this.stock.take(count);
  }

  /**
   * Settles with what `take` takes when as many are at hand and it is this caller's turn, and the epoch of that.
   * @throws RaindropError, or rejects with it; the signal's reason
   */
  takeSoon<Taken>(
    count: number,
    take: (stock: Stock) => Taken,
    wait?: WaitOptions,
  ): Promise<{ readonly taken: Taken; readonly epoch: number }> {
    return this.soon({ count, take: () => ({ taken: take(this.stock), epoch: this.epoch }) }, wait);
  }

  /** Settles when an ID is at hand, without taking it. @throws as {@link takeSoon} */
  async ready(wait?: WaitOptions): Promise<void> {
    await this.soon({ count: 1, take: () => undefined }, wait);
  }

  /** Keeps some at hand from now on. */
  keep(): void {
    this.isKept = true;
    this.refill();
  }

  /** Forgets what is at hand and under way: a copy of this process has it, too. */
  forget(): void {
    this.epoch++;
    this.clear();
    this.step.restart();
    this.fetcher.forget();
    if (this.isKept || this.waiters.size > 0) this.refill();
  }

  failed(error: RaindropError): void {
    this.ctx.counters.failures++;
    if (error.retryable) return;
    this.missed = 0;
    this.waiters.refuse(error);
  }

  /** Has `count` IDs at hand. @throws RaindropError when there are fewer */
  protected need(count: number): void {
    this.wasUsed = true;
    const isShort = this.left < count;
    if (isShort) {
      this.starve();
      this.missed = Math.max(this.missed, count);
    }
    this.refill(count);
    if (isShort) throw this.shortage();
  }

  /** IDs have come: serves those who wait, and fetches more if these are too few. */
  protected serve(): void {
    if (this.isClosed) return;
    if (this.left >= this.missed) this.missed = 0;
    this.wasUsed = this.waiters.size > 0;
    this.waiters.serve();
    this.refill();
  }

  protected starve(): void {
    this.ctx.counters.starved++;
  }

  /** Fetches when there are too few. @param taking how many are about to be taken. @returns how many are wanted */
  protected refill(taking = 0): number {
    const wanted = Math.max(this.goal, this.waiters.demand, this.missed);
    if (!this.isClosed && this.stock.left - taking < wanted) this.fetch();
    return wanted;
  }

  protected clear(): void {
    this.ctx.counters.forgotten += this.stock.left;
    this.stock.clear();
  }

  /** Not async: whoever waited is to have its IDs before those that are served at once after it. */
  private soon<T>(order: Order<T>, wait?: WaitOptions): Promise<T> {
    const limit = checkedWait(wait, this.ctx.options.asyncTimeoutMs);
    if (limit.signal?.aborted) throw limit.signal.reason;
    if (this.isClosed) throw new ClosedError();
    this.wasUsed = true;
    if (this.waiters.size === 0 && this.left >= order.count) {
      this.refill(order.count);
      return Promise.resolve(order.take());
    }
    this.starve();
    const served = this.waiters.wait(order, limit);
    this.refill();
    if (this.finalRefusal !== undefined && !this.fetcher.isFetching) this.waiters.refuse(this.finalRefusal);
    return served;
  }

  private shortage(): RaindropError {
    if (this.isClosed) return new ClosedError();
    return this.finalRefusal ?? this.notReady(this.fetcher.lastError);
  }

  /** That there will be no more unless somebody changes something. */
  private get finalRefusal(): RaindropError | undefined {
    const { lastError } = this.fetcher;
    return lastError?.retryable === false ? lastError : undefined;
  }
}
