import type { IdCalls } from '../generator/id-calls.js';
import type { WaitOptions } from '../generator/waiting.js';
import { RaindropError } from '../raindrop-error.js';
import { withDeadline } from '../supply/fetcher.js';
import { SuppliedCodes } from '../supply/supplied-codes.js';
import { SuppliedIds } from '../supply/supplied-ids.js';
import type { SupplyPorts } from '../ports.js';
import { ReservationCounters, type SegmentContext, SegmentSupply } from './segment-supply.js';
import { SegmentNotReadyError, SegmentStoreUnavailableError } from './segment-errors.js';
import { resolveSegmentOptions, type SegmentOptions } from './segment-options.js';
import type { SegmentStore } from './segment-store.js';

/** How many codes are fetched at once at the start. */
const AT_ONCE = 16;

/** Counts what the generator has done since it was made. */
export interface SegmentCounters extends Readonly<ReservationCounters> {
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
export class SegmentGenerator extends SuppliedIds<SegmentSupply> implements IdCalls {
  private readonly ctx: SegmentContext;
  private closing: Promise<void> | undefined;

  /** @throws ConfigurationError naming every option that is wrong */
  constructor(
    private readonly store: SegmentStore,
    ports: SupplyPorts,
    options?: SegmentOptions,
  ) {
    const ctx = { options: resolveSegmentOptions(options), ports, counters: new ReservationCounters() };
    const { defaultCode: plainCode, maxCodes } = ctx.options;
    // Always a code: those that name none have one.
    const make = (code?: string): SegmentSupply => new SegmentSupply(code!, store.source(code!), ctx);
    super(new SuppliedCodes({ plainCode, maxCodes, maxLooks: maxCodes, make }), ctx);
    this.ctx = ctx;
  }

  /**
   * Creates the table where it is missing, and fetches first numbers of these codes, all at once.
   * @throws SegmentStoreUnavailableError when the table cannot be prepared; as the async calls do when numbers do not come
   */
  async start(codes: readonly string[] = [], wait?: WaitOptions): Promise<void> {
    const { options, ports } = this.ctx;
    const supplies = codes.map((code) => this.codes.of(code));
    try {
      // Creating takes several statements: it gets the time of ten.
      await withDeadline(() => this.store.prepare(), 10 * options.opTimeoutMs, ports.timers);
    } catch (error) {
      throw error instanceof RaindropError ? error : new SegmentStoreUnavailableError('preparing', error);
    }
    // A new code takes several statements, and all share one connection.
    const patience = { timeoutMs: 10 * options.opTimeoutMs, ...wait };
    for (let from = 0; from < supplies.length; from += AT_ONCE) {
      await Promise.all(supplies.slice(from, from + AT_ONCE).map((each) => each.ready(patience)));
    }
  }

  /** Counts what was issued, reserved and refused since the start. */
  get counters(): SegmentCounters {
    const { issued, size: codes } = this.codes;
    return { ...this.ctx.counters, issued, codes };
  }

  /**
   * Waits for the fetches under way, gives back what was not used, and closes the store. From the first moment on every
   * call throws ClosedError. Never rejects.
   */
  close(): Promise<void> {
    return (this.closing ??= this.closeAll());
  }

  protected notReady(code: string): RaindropError {
    return new SegmentNotReadyError(code);
  }

  private async closeAll(): Promise<void> {
    await this.codes.close();
    await this.store.close();
  }
}
