import type { BoundIdCalls, IdCalls } from '../generator/id-calls.js';
import type { IssuedByCode, IssuedByCodeOptions } from '../generator/issued-by-code.js';
import type { WaitOptions } from '../generator/waiting.js';
import { RaindropError } from '../raindrop-error.js';
import { AllocatorCounts } from './allocator-counts.js';
import { BoundSegmentCode } from './bound-segment-code.js';
import { CallsByCode } from './calls-by-code.js';
import { CodeAllocators } from './code-allocators.js';
import { withDeadline } from './deadline.js';
import type { SegmentContext } from './segment-context.js';
import { SegmentNotReadyError, SegmentStoreUnavailableError } from './segment-errors.js';
import { resolveSegmentOptions, type SegmentOptions } from './segment-options.js';
import type { SegmentPorts } from './segment-ports.js';
import { SegmentTally, type SegmentStatus } from './segment-status.js';
import type { SegmentStore } from './segment-store.js';

/** How many codes are fetched at once at the start. */
const AT_ONCE = 16;

/** What the generator has done since it was made. */
export interface SegmentCounters extends Readonly<SegmentTally> {
  /** Numbers that were handed out. */
  readonly issued: number;
  /** Codes that are in use. */
  readonly codes: number;
}

/**
 * Issues dense, increasing numbers by code, from segments that are reserved in a store ahead of need. No clock is asked.
 *
 * Inside one process the numbers of a code increase strictly; processes take turns by whole segments. The same number
 * appears under several codes. Calls without a code are calls for `defaultCode`. A code is kept for good, since its
 * numbers would be lost otherwise.
 *
 * Every call throws (the async ones reject with) a typed error when there is no number: `SegmentNotReadyError`, which the
 * async calls wait out, `SegmentExhaustedError`, `UnknownCodeError`, `TooManyCodesError`, `InvalidCodeError`,
 * `ClosedError`.
 */
export class SegmentGenerator extends CallsByCode implements IdCalls {
  private readonly ctx: SegmentContext;
  private readonly codes: CodeAllocators;
  private closing: Promise<void> | undefined;

  /** @throws ConfigurationError naming every option that is wrong */
  constructor(
    private readonly store: SegmentStore,
    ports: SegmentPorts,
    options?: SegmentOptions,
  ) {
    super();
    this.ctx = { options: resolveSegmentOptions(options), ports, tally: new SegmentTally() };
    this.codes = new CodeAllocators(store, this.ctx);
  }

  /**
   * Creates the table where it is missing, and fetches first numbers of these codes, all at once.
   * @throws SegmentStoreUnavailableError when the table cannot be prepared; as the async calls do when numbers do not come
   */
  async start(codes: readonly string[] = [], wait?: WaitOptions): Promise<void> {
    const { options, ports } = this.ctx;
    const allocators = codes.map((code) => this.codes.of(code));
    try {
      // Creating takes several statements: it gets the time of ten.
      await withDeadline(() => this.store.prepare(), 10 * options.opTimeoutMs, ports.timers);
    } catch (error) {
      throw error instanceof RaindropError ? error : new SegmentStoreUnavailableError('preparing', error);
    }
    // A new code takes several statements, and all share one connection.
    const patience = { timeoutMs: 10 * options.opTimeoutMs, ...wait };
    for (let from = 0; from < allocators.length; from += AT_ONCE) {
      await Promise.all(allocators.slice(from, from + AT_ONCE).map((each) => each.ready(patience)));
    }
  }

  /** The calls above for one code, without the look-up. @throws InvalidCodeError; TooManyCodesError; ClosedError */
  forCode(code: string): BoundIdCalls {
    return new BoundSegmentCode(code, (name) => this.codes.of(name));
  }

  /** Why a number would be refused at this moment; undefined when it would not be. Nothing is issued or fetched. */
  refusal(code = this.ctx.options.defaultCode): RaindropError | undefined {
    const known = this.codes.allocators.get(code);
    return known === undefined ? (this.codes.obstacle(code) ?? new SegmentNotReadyError(code)) : known.refusal();
  }

  /**
   * Counts the numbers of some codes apart, those issued so far included.
   * @throws ConfigurationError naming every option that is wrong
   */
  issuedByCode(options?: IssuedByCodeOptions): IssuedByCode {
    return new AllocatorCounts(this.codes.allocators, options);
  }

  /** What was issued, reserved and refused since the start. */
  get counters(): SegmentCounters {
    let issued = 0;
    for (const each of this.codes.allocators.values()) issued += each.issued;
    return { ...this.ctx.tally, issued, codes: this.codes.allocators.size };
  }

  /** How the codes in use stand, in the order in which they came. */
  status(): SegmentStatus[] {
    return [...this.codes.allocators.values()].map((each) => each.status);
  }

  /** To be called when this process may be a copy of another: what is at hand or under way is never used. */
  afterRestore(): void {
    for (const each of this.codes.allocators.values()) each.afterRestore();
  }

  /**
   * Waits for the fetches under way, gives back what was not used, and closes the store. From the first moment on every
   * call throws ClosedError. Never rejects.
   */
  close(): Promise<void> {
    return (this.closing ??= this.closeAll());
  }

  /** @throws InvalidCodeError; TooManyCodesError; ClosedError */
  protected of(code: string | undefined): BoundIdCalls {
    return this.codes.of(code);
  }

  private async closeAll(): Promise<void> {
    await this.codes.close();
    await this.store.close();
  }
}
