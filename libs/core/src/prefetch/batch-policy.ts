import type { PrefetchPorts } from '../ports.js';
import { MAX_ID } from '../codec/id-codec.js';
import { RaindropError } from '../raindrop-error.js';
import { AdaptiveStep } from './adaptive-step.js';
import { FetchCounters, type PrefetcherContext, type PrefetcherStatus, type PrefetchPolicy } from './prefetcher.js';
import type { ResolvedPrefetchOptions } from './prefetch-options.js';
import { AgingBuffer } from './aging-buffer.js';
import { IdsNotReadyError, IdSourceUnavailableError, InvalidIdBatchError } from './prefetch-errors.js';

/** Issues the IDs that are prefetched: another process, near or far. */
export interface IdBatchSource {
  /** For errors and the log: `the cluster's primary`, `the ID service at ids.internal`. */
  readonly name: string;

  /**
   * Takes IDs. Each ID is in the answer of one call only, whichever client makes it. A rejection, or an answer that comes
   * too late, leaves open whether some were issued: those are gaps.
   *
   * @param count how many, at least 1; fewer may be answered, at least one
   * @param code undefined for IDs without one
   * @throws RaindropError whose `retryable` says whether to try again; anything else is tried again
   */
  take(count: number, code?: string): Promise<readonly bigint[]>;
}

/** The state that all codes share. */
export interface PrefetchContext extends PrefetcherContext {
  readonly source: IdBatchSource;
  readonly options: ResolvedPrefetchOptions;
  readonly ports: PrefetchPorts;
  readonly counters: BatchCounters;
}

/** The status says how the IDs of one code stand. */
export interface PrefetchStatus extends PrefetcherStatus {
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
  /** IDs that were older than `maxAgeMs` before a caller took them. */
  aged = 0;
  /** How often the process was told that it may be a copy: what was taken before must not be given to callers then. */
  restores = 0;
}

/** A batch that is used up in less was too small, ms: a batch lives much shorter than a segment. */
const FAST_MS = 500;

/** How many batches may be at hand together: the one in use, and the one fetched ahead of need. */
const REMEMBERED = 2;

/** One answer of the source. */
interface IdBatch {
  readonly ids: readonly bigint[];
  /** How many were asked for. */
  readonly count: number;
  /**
   * When they were asked for, by both clocks, ms. The source issued them later: no ID is older than it is taken to be.
   */
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/**
 * Fetches batches of one code, whose IDs get old. A late answer is not used: its IDs would be older than those that have
 * come since.
 */
export class BatchPolicy implements PrefetchPolicy<IdBatch, AgingBuffer> {
  readonly label: string;
  readonly maxAgeMs: number;
  readonly step: AdaptiveStep;
  readonly buffer: AgingBuffer;
  /** The batches that came last, used up or not: a source that stores its answers may give one of them again. */
  private readonly before: ArrayLike<bigint>[] = [];

  /** @param code undefined for IDs without one */
  constructor(
    private readonly code: string | undefined,
    private readonly ctx: PrefetchContext,
  ) {
    const { options, ports, source } = ctx;
    this.label = `The IDs of ${source.name}`;
    this.maxAgeMs = options.maxAgeMs;
    this.step = new AdaptiveStep(options.maxStep, FAST_MS);
    this.step.learn(options.minStep);
    this.buffer = new AgingBuffer(() => this.step.began(ports.monotonic.now()));
  }

  get usesLateAnswers(): boolean {
    return false;
  }

  lowWatermark(): number {
    return Math.max(this.ctx.options.prefetchBelow * this.step.current, 1);
  }

  async fetch(demand: number): Promise<IdBatch> {
    const { source, ports, options } = this.ctx;
    const count = Math.min(Math.max(this.step.current, demand - this.buffer.left), options.maxStep);
    const asked = { count, monotonicMs: ports.monotonic.now(), wallMs: ports.clock.refresh() };
    return { ids: await source.take(count, this.code), ...asked };
  }

  /** @throws InvalidIdBatchError for what is not a batch of IDs */
  check({ ids, count }: IdBatch): void {
    const { name } = this.ctx.source;
    if (!Array.isArray(ids)) throw new InvalidIdBatchError(name, ids, 'not a list');
    if (ids.length < 1 || ids.length > count) {
      throw new InvalidIdBatchError(name, ids.length, `a list whose length is not from 1 to ${count}`);
    }
    const wrong = ids.findIndex((id) => typeof id !== 'bigint' || id < 0n || id > MAX_ID);
    if (wrong >= 0) throw new InvalidIdBatchError(name, ids[wrong], 'not a list of IDs');
    const inOrder = sorted(ids);
    const repeated = repeatedIn(inOrder);
    if (repeated !== undefined) throw new InvalidIdBatchError(name, repeated, 'a list with a duplicate ID');
    for (const batch of this.before) {
      const again = sharedBy(batch, inOrder);
      if (again === undefined) continue;
      throw new InvalidIdBatchError(name, again, 'a list with an ID of an earlier answer');
    }
  }

  accept({ ids, monotonicMs, wallMs }: IdBatch): void {
    const { counters } = this.ctx;
    counters.batches++;
    counters.received += ids.length;
    this.before.push(sorted(ids));
    if (this.before.length > REMEMBERED) this.before.shift();
    this.buffer.add(ids, monotonicMs + this.maxAgeMs, wallMs + this.maxAgeMs);
  }

  discard({ ids }: IdBatch): void {
    this.ctx.counters.late += ids.length;
  }

  dropAged(): number {
    const { monotonic, clock } = this.ctx.ports;
    const aged = this.buffer.left > 0 ? this.buffer.dropOld(monotonic.now(), clock.refresh()) : 0;
    this.ctx.counters.aged += aged;
    return aged;
  }

  errorOf(reason: unknown): RaindropError {
    return reason instanceof RaindropError ? reason : new IdSourceUnavailableError(this.ctx.source.name, reason);
  }

  /** After an error that cannot pass by itself the source is asked again at the next call. */
  isRetried({ retryable }: RaindropError): boolean {
    return retryable;
  }

  notReady(cause: RaindropError | undefined): RaindropError {
    return new IdsNotReadyError(this.code, cause);
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
