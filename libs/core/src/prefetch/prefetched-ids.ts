import { resolveOptions } from '../config/option-rules.js';
import type { BoundIdCalls, IdCalls } from '../generator/id-calls.js';
import type { WaitOptions } from '../generator/waiting.js';
import { BufferedGenerator } from './buffered-generator.js';
import { Prefetcher } from './prefetcher.js';
import {
  BatchCounters,
  BatchPolicy,
  type IdBatchSource,
  type PrefetchContext,
  type PrefetchStatus,
} from './batch-policy.js';
import { IdsNotReadyError } from './prefetch-errors.js';
import { prefetchOptions, type PrefetchOptions } from './prefetch-options.js';
import type { PrefetchPorts } from '../ports.js';

/** How many codes one call looks at, at most, to find one that can make room: some ten microseconds. */
const MAX_LOOKS = 1_000;

/** Counts what was done since the start. */
export interface PrefetchCounters extends Readonly<BatchCounters> {
  /** IDs that were handed out. */
  readonly issued: number;
  /** Codes that are in use. */
  readonly codes: number;
}

/**
 * Hands out IDs that another process issues, taken in batches ahead of need: once warm, no call waits for a round trip.
 *
 * From `start` on IDs are kept at hand for the codes that it names and for calls without a code; for other codes only
 * while they are used. Each ID is handed out once, in the order in which the source answered, and at most `maxAgeMs`
 * after the request for it, by the monotonic and the wall clock: most IDs say when they were made. IDs that are dropped,
 * late or left at the end are gaps, never used again.
 *
 * The calls without `Async` answer from memory or throw: `IdsNotReadyError`, retryable, when too few are at hand. The
 * async ones queue, first come, first served. A retryable failure of the source is retried; any other is thrown as soon
 * as memory is used up, and the source is asked again at the next call after `retryMaxMs`.
 *
 * Past `maxCodes` a code that has no ID at hand makes room for another; when there is none, the call throws
 * `TooManyCodesError`. Codes that were started or bound stay.
 */
export class PrefetchedIds extends BufferedGenerator<CodePrefetcher> implements IdCalls {
  private readonly ctx: PrefetchContext;

  /** @throws ConfigurationError naming every option that is wrong */
  constructor(source: IdBatchSource, ports: PrefetchPorts, options: PrefetchOptions = {}) {
    const ctx = { source, ports, options: resolveOptions(prefetchOptions, options), counters: new BatchCounters() };
    const { maxCodes } = ctx.options;
    const rules = {
      plainCode: undefined,
      maxCodes,
      maxLooks: MAX_LOOKS,
      make: (code?: string) => new CodePrefetcher(code, ctx),
      // No ID of the code is at hand or under way: IDs that come later are above all that it gave.
      isIdle: ({ isUnused }: CodePrefetcher) => isUnused,
      notReady: (code: string) => new IdsNotReadyError(code),
    };
    super(rules, ctx);
    this.ctx = ctx;
  }

  /**
   * Keeps IDs without a code and of these codes at hand, and settles when the first of all have come.
   * @param wait default ten times `opTimeoutMs`
   * @throws as the async calls do
   */
  async start(codes: readonly string[] = [], wait?: WaitOptions): Promise<void> {
    const patience = { timeoutMs: 10 * this.ctx.options.opTimeoutMs, ...wait };
    const prefetchers = [undefined, ...codes].map((code) => this.codes.of(code));
    for (const each of prefetchers) each.keep();
    await Promise.all(prefetchers.map((each) => each.ready(patience)));
  }

  /** Returns the calls for one code, without the look-up. @throws InvalidCodeError; TooManyCodesError; ClosedError */
  override forCode(code: string): BoundIdCalls {
    this.codes.of(code).bind();
    return super.forCode(code);
  }

  /** How the IDs stand: those without a code, then those of the codes in use, in the order in which they came. */
  status(): PrefetchStatus[] {
    return Array.from(this.codes, ({ code, status }) => ({ code, ...status }));
  }

  /** Counts what was issued, fetched and dropped since the start. */
  get counters(): PrefetchCounters {
    const { issued, size: codes } = this.codes;
    return { ...this.ctx.counters, issued, codes };
  }

  override afterRestore(): void {
    this.ctx.counters.restores++;
    super.afterRestore();
  }

  /** From this moment on every call throws ClosedError, also those that wait. IDs that were not used are gaps. */
  close(): void {
    void this.codes.close();
  }
}

/** Keeps the IDs of one code at hand. */
class CodePrefetcher extends Prefetcher {
  /** @param code undefined for IDs without one */
  constructor(
    readonly code: string | undefined,
    ctx: PrefetchContext,
  ) {
    super(new BatchPolicy(code, ctx), ctx);
  }
}
