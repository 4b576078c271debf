import type { BoundIdCalls, IdCalls } from '../generator/id-calls.js';
import type { WaitOptions } from '../generator/waiting.js';
import { BufferedGenerator } from '../supply/buffered-generator.js';
import { Prefetcher } from '../supply/prefetcher.js';
import {
  BatchCounters,
  BatchPolicy,
  type IdBatchSource,
  type PrefetchContext,
  type PrefetchStatus,
} from './batch-policy.js';
import { IdsNotReadyError } from './prefetch-errors.js';
import { resolvePrefetchOptions, type PrefetchOptions } from './prefetch-options.js';
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
 * IDs without a code are kept at hand from `start` on, and so are the codes it names; those of other codes while they are
 * used. Each ID is handed out once, in the order in which the source answered, and not later than `maxAgeMs` after it was
 * asked for by either clock, since most say when they were made. What is dropped, late or left at the end is a gap, never
 * used again.
 *
 * The calls without `Async` answer from memory or throw: `IdsNotReadyError`, retryable, when too few are at hand. The async
 * ones queue, first come, first served. A failure of the source that may pass by itself is retried; any other is thrown as
 * soon as memory is used up, and the source is asked again at the next call after `retryMaxMs`.
 *
 * Past `maxCodes` a code of which nothing is at hand makes room for another; a `TooManyCodesError` says that there is none.
 * Those that were started or bound stay.
 */
export class PrefetchedIds extends BufferedGenerator<CodePrefetcher> implements IdCalls {
  private readonly ctx: PrefetchContext;

  /** @throws ConfigurationError naming every option that is wrong */
  constructor(source: IdBatchSource, ports: PrefetchPorts, options?: PrefetchOptions) {
    const ctx = { source, ports, options: resolvePrefetchOptions(options), counters: new BatchCounters() };
    const { maxCodes } = ctx.options;
    const rules = {
      plainCode: undefined,
      maxCodes,
      maxLooks: MAX_LOOKS,
      make: (code?: string) => new CodePrefetcher(code, ctx),
      // Whatever comes after that is later than all that the code gave.
      isIdle: ({ isUnused }: CodePrefetcher) => isUnused,
      notReady: (code: string) => new IdsNotReadyError(code),
    };
    super(rules, ctx);
    this.ctx = ctx;
  }

  /**
   * Settles when first IDs are at hand, those without a code and those of these codes; they stay at hand from then on.
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

  /** From this moment on every call throws ClosedError, also those that wait. What was not used is a gap. */
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
