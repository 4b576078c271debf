import type { BoundIdCalls, IdCalls } from '../generator/id-calls.js';
import type { IssuedByCode, IssuedByCodeOptions } from '../generator/issued-by-code.js';
import type { WaitOptions } from '../generator/waiting.js';
import type { RaindropError } from '../raindrop-error.js';
import { CallsByCode } from '../segment/calls-by-code.js';
import type { IdBatchSource } from './id-batch-source.js';
import type { PrefetchContext } from './prefetch-context.js';
import { IdsNotReadyError } from './prefetch-errors.js';
import { resolvePrefetchOptions, type PrefetchOptions } from './prefetch-options.js';
import type { PrefetchPorts } from './prefetch-ports.js';
import { PrefetchTally, type PrefetchStatus } from './prefetch-status.js';
import { PrefetchedCodes } from './prefetched-codes.js';

/** What was done since the start. */
export interface PrefetchCounters extends Readonly<PrefetchTally> {
  /** IDs that were handed out. */
  readonly issued: number;
  /** Codes that are in use. */
  readonly codes: number;
}

/**
 * IDs that another process issues, taken in batches ahead of need: once warm, nobody waits for a round trip.
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
export class PrefetchedIds extends CallsByCode implements IdCalls {
  private readonly ctx: PrefetchContext;
  private readonly codes: PrefetchedCodes;

  /** @throws ConfigurationError naming every option that is wrong */
  constructor(source: IdBatchSource, ports: PrefetchPorts, options?: PrefetchOptions) {
    super();
    this.ctx = { source, ports, options: resolvePrefetchOptions(options), tally: new PrefetchTally() };
    this.codes = new PrefetchedCodes(this.ctx);
  }

  /**
   * Settles when first IDs are at hand, those without a code and those of these codes; they stay at hand from then on.
   * @param wait default ten times `opTimeoutMs`
   * @throws as the async calls do
   */
  async start(codes: readonly string[] = [], wait?: WaitOptions): Promise<void> {
    const patience = { timeoutMs: 10 * this.ctx.options.opTimeoutMs, ...wait };
    const all = [this.codes.plain, ...codes.map((code) => this.codes.of(code))];
    await Promise.all(
      all.map(async ({ supply }) => {
        supply.keep();
        await supply.soon({ count: 1, take: () => undefined }, patience);
      }),
    );
  }

  /** The calls above for one code, without the look-up. @throws InvalidCodeError; TooManyCodesError; ClosedError */
  forCode(code: string): BoundIdCalls {
    const bound = this.codes.of(code);
    bound.isBound = true;
    return bound;
  }

  /** Why an ID would be refused at this moment; undefined when it would not be. Nothing is issued or fetched. */
  refusal(code?: string): RaindropError | undefined {
    const known = code === undefined ? this.codes.plain : this.codes.peek(code);
    if (known !== undefined) return known.supply.refusal();
    return this.codes.obstacle(code!) ?? new IdsNotReadyError(code);
  }

  /**
   * Counts the IDs of some codes apart, those issued so far included.
   * @throws ConfigurationError naming every option that is wrong
   */
  issuedByCode(options?: IssuedByCodeOptions): IssuedByCode {
    return this.codes.count(options);
  }

  /** What was issued, fetched and dropped since the start. */
  get counters(): PrefetchCounters {
    const { issued, size: codes } = this.codes;
    return { ...this.ctx.tally, issued, codes };
  }

  /** How the IDs without a code stand, and then those of the codes in use, in the order in which they came. */
  status(): PrefetchStatus[] {
    return Array.from(this.codes, ({ supply }) => supply.status);
  }

  /** To be called when this process may be a copy of another: what is at hand or under way is never used. */
  afterRestore(): void {
    this.ctx.tally.restores++;
    for (const { supply } of this.codes) supply.forget();
  }

  /** From this moment on every call throws ClosedError, also those that wait. What was not used is a gap. */
  close(): void {
    this.codes.close();
  }

  /** @throws InvalidCodeError; TooManyCodesError; ClosedError */
  protected of(code: string | undefined): BoundIdCalls {
    return this.codes.of(code);
  }
}
