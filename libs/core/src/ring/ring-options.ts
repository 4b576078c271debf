import {
  handler,
  integer,
  type OptionsOf,
  type ReadOptions,
  resolveOptions,
  share,
  text,
} from '../config/option-rules.js';
import type { RaindropError } from '../raindrop-error.js';
import type { Clock, MonotonicClock, Timers } from '../ports.js';
import type { WordChanges } from './ring-memory.js';

/** IDs that were issued for the ring and thrown away. */
export interface PutRejection {
  /** `aged`: no thread took them in half of `maxAgeMs`; `failed`: the producer may not issue any more; `closed`. */
  readonly reason: 'aged' | 'failed' | 'closed';
  readonly count: number;
}

/** The options of a ring: what it holds, and when it is filled. */
export const ringOptions = {
  /** 8,192 slots times 2 to the power of this: by default 65,536, half a megabyte. @range 0-10 @defaultValue 3 */
  boostPower: integer({ min: 0, max: 10, default: 3 }),
  /** The ring is filled up when less than this percentage is left. @range 1-99 @defaultValue 50 */
  paddingFactor: integer({ min: 1, max: 99, default: 50, hint: 'a percentage' }),
  /**
   * The ring is also filled up at this interval, however full it is.
   * @range 1-86,400, in seconds
   * @defaultValue none
   */
  scheduleInterval: integer({ min: 1, max: 86_400, hint: 'in seconds' }),
  /**
   * Takers skip IDs whose time is further than this from the present; the producer replaces IDs that are half as old.
   * @range 100-3,600,000
   * @defaultValue 10,000
   */
  maxAgeMs: integer({ min: 100, max: 3_600_000, default: 10_000 }),
  /** Takers fail when the producer is silent for longer than this. @range 200-60,000 @defaultValue 5,000 */
  producerTimeoutMs: integer({ min: 200, max: 60_000, default: 5_000 }),
  /**
   * How many IDs a thread claims at once, to hand them out one by one; a sixteenth of the ring at most.
   * @range 1-1,024
   * @defaultValue 32
   */
  run: integer({ min: 1, max: 1_024, default: 32 }),
  /**
   * The share of every tick's sequences that may go into the ring, one ID at least. The rest stays for calls of the
   * service itself, which would find the tick used up while the ring is being filled.
   * @range 0-1
   * @defaultValue 0.5
   */
  tickShare: share({ default: 0.5, of: "a tick's sequences" }),
  /** The code whose sequence the IDs are of. @range 1-128 characters @defaultValue that of IDs without a code */
  code: text({ pattern: /^[^]{1,128}$/, legal: 'a text of 1 to 128 characters' }),
  /**
   * Called with `{ reason, count }` when IDs are thrown away: `aged`, `failed` or `closed`. An error that it throws, or
   * rejects with, is logged.
   * @range a function
   * @defaultValue logs what `failed`
   */
  onPutRejected: handler<(rejection: PutRejection) => unknown>(),
};

/** The options of a ring: what it holds, and when it is filled. */
export interface SharedIdRingOptions extends OptionsOf<typeof ringOptions> {}

export type ResolvedRingOptions = Omit<ReadOptions<typeof ringOptions>, 'boostPower' | 'scheduleInterval'> & {
  readonly slots: number;
  readonly scheduleMs: number | undefined;
};

/**
 * Checks the options of a ring and fills in the defaults.
 * @throws ConfigurationError naming every option that is wrong
 */
export function resolveRingOptions(options: SharedIdRingOptions = {}): ResolvedRingOptions {
  const { boostPower, scheduleInterval, ...rest } = resolveOptions(ringOptions, options);
  const scheduleMs = scheduleInterval === undefined ? undefined : scheduleInterval * 1_000;
  return Object.freeze({ ...rest, slots: 8_192 * 2 ** boostPower, scheduleMs });
}

/** The options say how a thread takes IDs from a ring. */
export const sharedIdsOptions = {
  /** How long an async call waits when it names no `timeoutMs`. @range 1-86,400,000 @defaultValue 10,000 */
  asyncTimeoutMs: integer({ min: 1, max: 86_400_000, default: 10_000 }),
  /**
   * Called with the error of a call that gets no ID. The call throws what this function throws, or that error. When it is
   * async, a rejection is logged, once a second at most.
   * @range a function
   * @defaultValue logs, once a second at most
   */
  onTakeRejected: handler<(error: RaindropError) => unknown>(),
};

/** The options say how a thread takes IDs from a ring. */
export interface SharedIdsOptions extends OptionsOf<typeof sharedIdsOptions> {}

/** The ports that producer and takers need of their thread. */
export interface RingPorts {
  readonly clock: Clock;
  /** The same in every thread of the process. */
  readonly monotonic: MonotonicClock;
  readonly timers: Timers;
  readonly changes: WordChanges;
  /** Writes a line to the log. */
  readonly warn: (message: string) => void;
}
