import { FetchCounters, Supply, type SupplyContext, type SupplyStatus } from '../supply/supply.js';
import type { PrefetchPorts, Timer } from '../ports.js';
import { MAX_ID } from '../codec/id-codec.js';
import { UnsafeIntegerError } from '../generator/generator-errors.js';
import { ClosedError } from '../lease/lease-errors.js';
import { RaindropError } from '../raindrop-error.js';
import { AdaptiveStep } from '../supply/fetcher.js';
import type { ResolvedPrefetchOptions } from './prefetch-options.js';
import { IdQueue } from './id-queue.js';
import { IdsNotReadyError, IdSourceUnavailableError, InvalidIdBatchError } from './prefetch-errors.js';

/** Whoever issues the IDs: another process, near or far. */
export interface IdBatchSource {
  /** For errors and the log: `the cluster's primary`, `the ID service at ids.internal`. */
  readonly name: string;

  /**
   * Takes IDs that nobody else gets, and that no other call of this or any other client was or will be answered with. A
   * rejection, or an answer that comes too late, leaves open whether some were issued: those are gaps.
   *
   * @param count how many, at least 1; fewer may be answered, at least one
   * @param code undefined for IDs without one
   * @throws RaindropError whose `retryable` says whether to try again; anything else is tried again
   */
  take(count: number, code?: string): Promise<readonly bigint[]>;
}

/** What the supplies of all codes share. */
export interface PrefetchContext extends SupplyContext {
  readonly source: IdBatchSource;
  readonly options: ResolvedPrefetchOptions;
  readonly ports: PrefetchPorts;
  readonly counters: BatchCounters;
}

/** The status says how the IDs of one code stand. */
export interface PrefetchStatus extends SupplyStatus {
  /** Undefined for IDs without one. */
  readonly code: string | undefined;
}

/** Counts what was done for all codes together since the start. */
export class BatchCounters extends FetchCounters {
  /** Batches that came in time. */
  batches = 0;
  /** IDs in them. */
  received = 0;
  /** IDs that came after their attempt had been given up, and so were never used. */
  late = 0;
  /** IDs that were older than `maxAgeMs` before anybody wanted them. */
  aged = 0;
  /** How often the process was told that it may be a copy: what was taken before must not be given to callers then. */
  restores = 0;
}

/** A batch that is used up in less was too small, ms: it is much shorter-lived than a segment. */
const FAST_MS = 500;

/** So many batches may be at hand together: the one in use, and the one fetched ahead of need. */
const REMEMBERED = 2;

/** What the source answered. */
interface IdBatch {
  readonly ids: readonly bigint[];
  /** At most so many were wanted. */
  readonly count: number;
  /** When they were asked for, by both clocks, ms: issued later than that, nothing is ever older than it is taken to be. */
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/**
 * Keeps the IDs of one code at hand, from batches that get old. A late answer is not used: it would be older than what has
 * come since.
 */
export class IdSupply extends Supply<IdBatch> {
  protected override readonly stock = new IdQueue(() => this.began());
  /** Somebody keeps it, and calls it without asking for it. */
  private isBound = false;
  /** What is at hand is about to be too old, although it may be enough. */
  private isRenewing = false;
  private renewal: Timer | undefined;
  /** The batches that came last, used up or not: what stores answers gives them again. */
  private readonly before: ArrayLike<bigint>[] = [];

  /** @param code undefined for IDs without one */
  constructor(
    readonly code: string | undefined,
    protected override readonly ctx: PrefetchContext,
  ) {
    const { maxStep, minStep } = ctx.options;
    super(ctx, new AdaptiveStep(maxStep, FAST_MS));
    this.step.learn(minStep);
  }

  get left(): number {
    const { monotonic, clock } = this.ctx.ports;
    const aged = this.stock.left > 0 ? this.stock.dropOld(monotonic.now(), clock.refresh()) : 0;
    if (aged > 0) {
      this.ctx.counters.aged += aged;
      // Who wanted many at once may not come back: gathering them again and again would never end.
      this.missed = 0;
    }
    return this.stock.left;
  }

  /** Nothing is at hand, under way, waited for or tried again. What comes after that is later than all it gave. */
  get isIdle(): boolean {
    const { fetcher } = this;
    const isBusy = this.isBound || this.isKept || fetcher.isFetching || fetcher.lastError !== undefined;
    // What is old is dropped by a timer as well: no look at the clocks for each of many codes.
    return !isBusy && this.waiters.size === 0 && this.stock.left === 0;
  }

  override get status(): PrefetchStatus {
    return { code: this.code, ...super.status };
  }

  /** Lets it make no room from now on. */
  bind(): void {
    this.isBound = true;
  }

  next(): bigint {
    this.need(1);
    return this.stock.next();
  }

  nextText(): string {
    return this.next().toString();
  }

  nextNumber(): number {
    this.need(1);
    if (this.stock.peek() > Number.MAX_SAFE_INTEGER) {
      throw new UnsafeIntegerError(null, `The IDs of ${this.ctx.source.name}`);
    }
    return Number(this.stock.next());
  }

  /** Hands out nothing any more, and fetches nothing. */
  close(): Promise<void> {
    this.isClosed = true;
    this.renewal?.cancel();
    void this.fetcher.stop();
    this.fetcher.forget();
    this.clear();
    this.waiters.refuse(new ClosedError());
    return Promise.resolve();
  }

  /** @throws InvalidIdBatchError for what is not a batch of IDs */
  check({ ids, count }: IdBatch): void {
    const { name } = this.ctx.source;
    if (!Array.isArray(ids)) throw new InvalidIdBatchError(name, ids, 'no list');
    if (ids.length < 1 || ids.length > count) {
      throw new InvalidIdBatchError(name, ids.length, `a list of a length that is not from 1 to ${count}`);
    }
    const wrong = ids.findIndex((id) => typeof id !== 'bigint' || id < 0n || id > MAX_ID);
    if (wrong >= 0) throw new InvalidIdBatchError(name, ids[wrong], 'not made of IDs');
    const inOrder = sorted(ids);
    const repeated = repeatedIn(inOrder);
    if (repeated !== undefined) throw new InvalidIdBatchError(name, repeated, 'a list with an ID twice');
    for (const batch of this.before) {
      const again = sharedBy(batch, inOrder);
      if (again === undefined) continue;
      throw new InvalidIdBatchError(name, again, 'a list with an ID that an answer before it had');
    }
  }

  landed({ ids, monotonicMs, wallMs }: IdBatch): void {
    const { options, ports, counters } = this.ctx;
    counters.batches++;
    counters.received += ids.length;
    this.before.push(sorted(ids));
    if (this.before.length > REMEMBERED) this.before.shift();
    this.stock.add(ids, monotonicMs + options.maxAgeMs, wallMs + options.maxAgeMs);
    this.isRenewing = false;
    this.renewal?.cancel();
    // Clients that were started together do not come back together.
    const renewMs = options.maxAgeMs * (0.5 - ports.randomness.fraction() / 8);
    this.renewal = ports.timers.setTimer(() => this.renew(), renewMs, 'background');
    this.serve();
  }

  late(batch: IdBatch): void {
    this.lost(batch);
  }

  lost({ ids }: IdBatch): void {
    this.ctx.counters.late += ids.length;
  }

  recovered(): void {
    if (this.isRenewing) this.fetch();
    else this.refill();
  }

  typed(reason: unknown): RaindropError {
    return reason instanceof RaindropError ? reason : new IdSourceUnavailableError(this.ctx.source.name, reason);
  }

  /** What cannot pass by itself is asked for again when a caller wants it. */
  isRetried({ retryable }: RaindropError): boolean {
    return retryable;
  }

  protected get goal(): number {
    return Math.max(this.ctx.options.prefetchBelow * this.step.current, 1);
  }

  protected fetch(): void {
    const { source, ports, options } = this.ctx;
    const demand = Math.max(this.waiters.demand, this.missed) - this.stock.left;
    const count = Math.min(Math.max(this.step.current, demand), options.maxStep);
    this.fetcher.begin(async () => {
      const asked = { count, monotonicMs: ports.monotonic.now(), wallMs: ports.clock.refresh() };
      return { ids: await source.take(count, this.code), ...asked };
    });
  }

  protected notReady(cause: RaindropError | undefined): RaindropError {
    return new IdsNotReadyError(this.code, cause);
  }

  /** The last batch is half as old as it may become: who uses the code is to find younger ones when it is dropped. */
  private renew(): void {
    this.began();
    this.isRenewing = this.isKept || this.wasUsed;
    if (this.isRenewing) this.fetch();
    // Nobody may come by to drop them.
    else this.renewal = this.ctx.ports.timers.setTimer(() => void this.left, this.ctx.options.maxAgeMs, 'background');
  }

  private began(): void {
    this.step.began(this.ctx.ports.monotonic.now());
  }
}

/** A batch from its lowest ID up, as most are already. */
function sorted(ids: readonly bigint[]): ArrayLike<bigint> {
  return ids.every((id, index) => index === 0 || id > ids[index - 1]!) ? ids : BigInt64Array.from(ids).sort();
}

function repeatedIn(ids: ArrayLike<bigint>): bigint | undefined {
  for (let index = 1; index < ids.length; index++) if (ids[index] === ids[index - 1]) return ids[index];
  return undefined;
}

/** The lowest ID that stands in both. */
function sharedBy(one: ArrayLike<bigint>, other: ArrayLike<bigint>): bigint | undefined {
  if (one[one.length - 1]! < other[0]! || other[other.length - 1]! < one[0]!) return undefined;
  for (let here = 0, there = 0; here < one.length && there < other.length;) {
    if (one[here] === other[there]) return one[here];
    if (one[here]! < other[there]!) here++;
    else there++;
  }
  return undefined;
}
