import { resolveOptions } from '../config/option-rules.js';
import type { IdCalls } from '../generator/id-calls.js';
import type { WaitOptions } from '../generator/waiting.js';
import { withDeadline } from '../async.js';
import { BufferedGenerator } from '../prefetch/buffered-generator.js';
import type { PrefetcherPorts } from '../ports.js';
import { ReservationCounters, type SegmentContext, SegmentPrefetcher, type SegmentStatus } from './segment-policy.js';
import { SegmentNotReadyError, storeError, UnknownCodeError } from './segment-errors.js';
import { segmentOptions, type SegmentOptions } from './segment-options.js';
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
 * Inside one process the numbers of a code increase strictly; processes take turns by whole segments. Each code counts
 * by itself: the same number appears under several codes. Calls without a code are calls for `defaultCode`. A code that
 * had numbers is kept for good: those at hand would be lost otherwise.
 *
 * Every call throws (the async ones reject with) a typed error when there is no number: `SegmentNotReadyError`, which the
 * async calls wait out, `SegmentExhaustedError`, `UnknownCodeError`, `TooManyCodesError`, `InvalidCodeError`,
 * `ClosedError`.
 */
export class SegmentGenerator extends BufferedGenerator<SegmentPrefetcher> implements IdCalls {
  private readonly ctx: SegmentContext;
  private closing: Promise<void> | undefined;

  /** @throws ConfigurationError naming every option that is wrong */
  constructor(
    private readonly store: SegmentStore,
    ports: PrefetcherPorts,
    options: SegmentOptions = {},
  ) {
    const ctx = { options: resolveOptions(segmentOptions, options), ports, counters: new ReservationCounters() };
    const { defaultCode: plainCode, maxCodes } = ctx.options;
    const rules = {
      plainCode,
      maxCodes,
      maxLooks: maxCodes,
      // Calls that name no code have the default one: there is always a code.
      make: (code?: string) => new SegmentPrefetcher(code!, store.source(code!), ctx),
      // Only a code without a row makes room: it never had a number to lose.
      isIdle: ({ lastError, issued }: SegmentPrefetcher) => lastError instanceof UnknownCodeError && issued === 0,
      notReady: (code: string) => new SegmentNotReadyError(code),
    };
    super(rules, ctx);
    this.ctx = ctx;
  }

  // The calls for one ID stand here as well as in the base class, whose code all engines share: V8 makes this a fifth
  // faster where a process has several. `segment-generator.spec.ts` compares both. Prefetched IDs gain nothing by it: each
  // of them takes two clock readings.

  override nextId(code?: string): bigint {
    return this.codes.of(code).next();
  }

  override nextString(code?: string): string {
    return this.codes.of(code).nextText();
  }

  /**
   * Creates the table where it is missing, and fetches first numbers of these codes, 16 codes at once.
   * @throws SegmentStoreUnavailableError when the table cannot be prepared; as the async calls do when numbers do not come
   */
  async start(codes: readonly string[] = [], wait?: WaitOptions): Promise<void> {
    const prefetchers = codes.map((code) => this.codes.of(code));
    await prepareStore(this.store, this.ctx);
    // A new code takes several statements, and all share one connection.
    const patience = { timeoutMs: 10 * this.ctx.options.opTimeoutMs, ...wait };
    for (let from = 0; from < prefetchers.length; from += AT_ONCE) {
      await Promise.all(prefetchers.slice(from, from + AT_ONCE).map((each) => each.ready(patience)));
    }
  }

  /** How the codes in use stand, in the order in which they came. */
  status(): SegmentStatus[] {
    return Array.from(this.codes, ({ code, status, buffer }) => ({ code, ...status, buffered: buffer.segments }));
  }

  /** Counts what was issued, reserved and refused since the start. */
  get counters(): SegmentCounters {
    const { issued, size: codes } = this.codes;
    return { ...this.ctx.counters, issued, codes };
  }

  /**
   * Waits for the fetches under way, gives unused numbers back, and closes the store. From the first moment on every
   * call throws ClosedError. Never rejects.
   */
  close(): Promise<void> {
    return (this.closing ??= this.closeAll());
  }

  private async closeAll(): Promise<void> {
    await this.codes.close();
    await this.store.close();
  }
}

/** Makes the table where it is missing. @throws SegmentStoreUnavailableError */
export async function prepareStore(
  store: Pick<SegmentStore, 'prepare'>,
  { options, ports }: SegmentContext,
): Promise<void> {
  try {
    // Creating takes several statements: it gets the time of ten.
    await withDeadline(() => store.prepare(), 10 * options.opTimeoutMs, ports.timers);
  } catch (error) {
    throw storeError('preparing', error);
  }
}
