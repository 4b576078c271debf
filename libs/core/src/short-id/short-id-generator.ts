import { resolveOptions } from '../config/option-rules.js';
import { ConfigurationError } from '../config/option-reader.js';
import { processWide } from '../copies.js';
import type { WaitOptions } from '../generator/waiting.js';
import type { Layout } from '../layout/layout.js';
import type { Clock, MonotonicClock } from '../ports.js';
import { RetryableError } from '../raindrop-error.js';
import { hostPorts } from '../zero-config/host.js';
import {
  foldId,
  MAX_EXPIRE_SECONDS,
  type ParsedShortId,
  parseShortId,
  shortIdOptions,
  SHORT_ID_CYCLE_MS,
  shortIdLayout,
  type ShortIdOptions,
} from './short-id.js';

/** The source gives the IDs that are shortened: an `IdService` or a `SnowflakeGenerator` of {@link shortIdLayout}. */
export interface ShortIdSource {
  readonly layout: Layout;
  /** The next ID of the source. */
  nextId(): bigint;
  /** The next `count` IDs. */
  nextIds(count: number): bigint[];
  /** The next ID, after waiting where that helps. */
  nextIdAsync(code?: undefined, wait?: WaitOptions): Promise<bigint>;
}

/** The clocks of the source. */
export interface ShortIdPorts {
  readonly clock: Clock;
  readonly monotonic: MonotonicClock;
}

/**
 * An ID whose time lies this much behind the clock is stale, ms. The source may use one value of the clock for a whole
 * turn of the event loop, which gets old while the turn works.
 */
const FRESH_MS = 20;

/**
 * Issues short IDs: integers from 1 to 2^31 - 1, each unique for `expireSeconds` and repeated after 34.95 minutes. For
 * scene ids of QR codes and other numbers that expire. Neither random nor secret.
 *
 * A number is the milliseconds since westid's epoch modulo 2^21, the worker id (0-31) and the sequence (0-31), 21 + 5 +
 * 5 bits. The lease of the source remembers how far a worker has come. A worker has 32 numbers a millisecond, then the
 * source's `onExhausted` decides. When the clock goes back, the source waits for it up to `maxHoldMs`, then refuses:
 * there is one lane only.
 *
 * Every call throws, or rejects with, the source's errors, and `ShortIdRepeatError` when the clock was set forward by
 * more than the part of the cycle that `expireSeconds` leaves. Several generators of one source in a process know of
 * each other's numbers, which differ for the longest of their `expireSeconds`. No other code may shorten the source's
 * IDs.
 */
export class ShortIdGenerator {
  /** The longest `expireSeconds`, which needs clocks that are always right. */
  readonly maxExpireSeconds = MAX_EXPIRE_SECONDS;
  readonly expireSeconds: number;
  private readonly guard: RepeatGuard;

  /**
   * @param ports the clocks of the source where they are not this host's, as in tests
   * @throws ConfigurationError when the source has another layout, or naming the option that is wrong
   */
  constructor(
    private readonly source: ShortIdSource,
    options: ShortIdOptions = {},
    private readonly ports: ShortIdPorts = hostPorts(),
  ) {
    refuseOtherLayout(source.layout);
    this.expireSeconds = resolveOptions(shortIdOptions, options).expireSeconds;
    this.guard = guardOfSource(source, this.expireSeconds * 1_000);
  }

  /** Returns the next number, at once. */
  next(): number {
    const wallMs = this.checkedClock();
    let id = this.source.nextId();
    // A number with a stale time would come again too soon after this call. A batch reads the real clock.
    if (timeOf(id) < wallMs - FRESH_MS) id = this.source.nextIds(1)[0]!;
    return this.shorten(id) ?? this.next();
  }

  /**
   * Returns the next number; waits where waiting helps, at most `timeoutMs`. It does not wait out a clock that was set
   * forward.
   */
  async nextAsync(wait?: WaitOptions): Promise<number> {
    this.checkedClock();
    const id = await this.source.nextIdAsync(undefined, wait);
    return this.shorten(id) ?? this.nextAsync(wait);
  }

  /**
   * Reads the parts of a number, which any generator may have issued. Of its possible times, which lie whole cycles
   * apart, this returns the one that is not older than `expireSeconds`.
   * @param near a moment at which the number was valid, by default now
   * @throws InvalidIdError when it is not an integer from 1 to 2^31 - 1; InvalidPartError when `near` is no time
   */
  decode(shortId: number, near = new Date(this.ports.clock.refresh())): ParsedShortId {
    return parseShortId(shortId, near, { expireSeconds: this.expireSeconds });
  }

  /**
   * Reads the wall clock, and refuses before the source issues an ID: its lane would stay ahead of the clock when that
   * is set right.
   */
  private checkedClock(): number {
    const wallMs = this.ports.clock.refresh();
    this.refuseRepeat(wallMs, this.ports.monotonic.now());
    return wallMs;
  }

  /** Undefined for an ID that folds to 0, which is not a short ID. */
  private shorten(id: bigint): number | undefined {
    const [timeMs, nowMs] = [timeOf(id), this.ports.monotonic.now()];
    this.refuseRepeat(timeMs, nowMs);
    this.guard.note(timeMs, nowMs);
    const shortId = foldId(id);
    return shortId === 0 ? undefined : shortId;
  }

  private refuseRepeat(timeMs: number, nowMs: number): void {
    const blockedMs = this.guard.blockedMs(timeMs, nowMs);
    if (blockedMs > 0) throw new ShortIdRepeatError(this.guard.keptMs / 1_000, blockedMs);
  }
}

function timeOf(id: bigint): number {
  return shortIdLayout.timeline.startOf(Number(id >> BigInt(shortIdLayout.lowBits)));
}

function refuseOtherLayout({ fingerprint }: Layout): void {
  if (fingerprint === shortIdLayout.fingerprint) return;
  const message =
    `is not the layout of short IDs, ${shortIdLayout.fingerprint}: lease their workers with layout: shortIdLayout, ` +
    `worker ids 0 to 31 and a separate tableName`;
  throw new ConfigurationError([{ option: 'source.layout', given: fingerprint, message }]);
}

const guards = processWide('guards of short IDs', () => new WeakMap<object, RepeatGuard>());

/**
 * The guard that all generators of a source share, since their numbers must differ as well. The longest expiry counts.
 */
function guardOfSource(source: object, keepMs: number): RepeatGuard {
  const guard = guards.get(source) ?? new RepeatGuard(SHORT_ID_CYCLE_MS, keepMs);
  guards.set(source, guard);
  guard.keepAtLeast(keepMs);
  return guard;
}

/** Numbers that were issued one after the other, with nearly the same lead. */
interface Stretch {
  /** The smallest lead among them, ms. */
  readonly leadMs: number;
  /** When the last of them was issued, monotonic ms. */
  lastMs: number;
}

/**
 * Detects that a number would come again too soon because the clock was set forward.
 *
 * A number comes again when the time in the IDs has gone on by a cycle. That time minus the monotonic clock is its
 * lead, which grows when the clock is set forward. If the lead has grown by `x` since a number was issued, only a cycle
 * minus `x` has really passed when the number comes again. That is too little when `x` is more than the slack, the
 * cycle minus the time for which numbers must differ. So the guard remembers the smallest lead of that time. Example:
 * of a cycle of 2,097 s numbers differ for 2,037 s, so the guard refuses numbers after the clock was set forward by
 * more than 60 s.
 */
export class RepeatGuard {
  /** Those of the last `keepMs`, by ascending lead: a later stretch replaces all before it with a larger lead. */
  private readonly stretches: Stretch[] = [];

  constructor(
    private readonly cycleMs: number,
    private keepMs: number,
  ) {}

  /** How long numbers differ, ms. */
  get keptMs(): number {
    return this.keepMs;
  }

  /** Makes numbers differ for at least `keepMs` from now on. */
  keepAtLeast(keepMs: number): void {
    this.keepMs = Math.max(this.keepMs, keepMs);
  }

  private get slackMs(): number {
    return this.cycleMs - this.keepMs;
  }

  /**
   * Returns how long a number must not be issued yet, ms; 0 when it may be.
   * @param timeMs the time in the number
   * @param nowMs the monotonic clock
   */
  blockedMs(timeMs: number, nowMs: number): number {
    const { stretches, keepMs } = this;
    while (stretches.length > 0 && nowMs - stretches[0]!.lastMs >= keepMs) stretches.shift();
    const first = stretches[0];
    if (first === undefined || timeMs - nowMs - first.leadMs <= this.slackMs) return 0;
    return first.lastMs + keepMs - nowMs;
  }

  /** Takes note of a number that is issued. */
  note(timeMs: number, nowMs: number): void {
    const { stretches } = this;
    const leadMs = timeMs - nowMs;
    while (stretches.length > 0 && stretches.at(-1)!.leadMs >= leadMs) stretches.pop();
    const last = stretches.at(-1);
    // Joining two stretches errs on the safe side, and leaves ten of them at most.
    if (last !== undefined && leadMs - last.leadMs < this.slackMs / 8) last.lastMs = nowMs;
    else stretches.push({ leadMs, lastMs: nowMs });
  }
}

/** The clock was set forward so far that short IDs would repeat before they expire. */
export class ShortIdRepeatError extends RetryableError {
  static override readonly name = 'ShortIdRepeatError';
  readonly errorCode = 'SHORT_ID_REPEAT';

  constructor(
    /** For how long short IDs must differ. */
    readonly expireSeconds: number,
    /** How long until they do, ms, if the clock stays as it is. */
    readonly blockedMs: number,
  ) {
    super(
      `The clock jumped so far forward that a short ID could repeat one of the last ${expireSeconds} s. No short IDs ` +
        `are issued for ${Math.ceil(blockedMs / 1_000)} s, or until the clock is corrected. Check the host's time ` +
        `synchronisation; a smaller expireSeconds tolerates larger jumps.`,
    );
  }
}
