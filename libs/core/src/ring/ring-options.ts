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
  /** The ring has 8,192 × 2^`boostPower` slots: 65,536 by default, half a megabyte. @range 0-10 @defaultValue 3 */
  boostPower: integer({ min: 0, max: 10, default: 3 }),
  /** Refill the ring when less than this percentage is left. @range 1-99 @defaultValue 50 */
  paddingFactor: integer({ min: 1, max: 99, default: 50, hint: 'a percentage' }),
  /**
   * Also refill the ring at this interval, however full it is.
   * @range 1-86,400, in seconds @defaultValue none
   */
  scheduleInterval: integer({ min: 1, max: 86_400, hint: 'in seconds' }),
  /**
   * Threads skip IDs whose time is further than this from the present. The producer replaces IDs that are half as old.
   * @range 100-3,600,000 @defaultValue 10,000
   */
  maxAgeMs: integer({ min: 100, max: 3_600_000, default: 10_000 }),
  /** Calls fail when the producer is silent for longer than this. @range 200-60,000 @defaultValue 5,000 */
  producerTimeoutMs: integer({ min: 200, max: 60_000, default: 5_000 }),
  /**
   * How many IDs a thread claims at once and then hands out one by one. Limit: a sixteenth of the ring.
   * @range 1-1,024 @defaultValue 128
   */
  run: integer({ min: 1, max: 1_024, default: 128 }),
  /**
   * The share of each tick's sequence that may go into the ring, at least one ID. The rest is left for direct calls of
   * the service; otherwise a refill could use up the tick.
   * @range 0-1 @defaultValue 0.5
   */
  tickShare: share({ default: 0.5, of: "a tick's sequences" }),
  /** The code whose sequence the ring uses. @range 1-128 characters @defaultValue that of IDs without a code */
  code: text({ pattern: /^[^]{1,128}$/, legal: 'a string of 1 to 128 characters' }),
  /**
   * Called with `{ reason, count }` when the ring discards IDs. The reason is `aged`, `failed` or `closed`. If the function
   * throws or rejects, the error is logged.
   * @range a function @defaultValue logs what `failed`
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
  /** How long an async call without a `timeoutMs` of its own waits. @range 1-86,400,000 @defaultValue 10,000 */
  asyncTimeoutMs: integer({ min: 1, max: 86_400_000, default: 10_000 }),
  /**
   * Called with the error of a call that gets no ID. The call throws what this function throws, otherwise that error. If an
   * async function rejects, the rejection is logged, once a second at most.
   * @range a function @defaultValue logs, once a second at most
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
