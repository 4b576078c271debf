import { OptionReader } from '../config/option-reader.js';
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
export interface SharedIdRingOptions {
  /**
   * 8,192 slots times 2 to the power of this: by default 65,536, half a megabyte.
   * @range 0-10
   * @defaultValue 3
   */
  boostPower?: number;
  /**
   * The ring is filled up when less than this percentage is left.
   * @range 1-99
   * @defaultValue 50
   */
  paddingFactor?: number;
  /**
   * The ring is also filled up at this interval, however full it is.
   * @range 1-86,400, in seconds
   * @defaultValue none
   */
  scheduleInterval?: number;
  /**
   * Takers skip IDs whose time is further than this from the present; the producer replaces IDs that are half as old.
   * @range 100-3,600,000
   * @defaultValue 10,000
   */
  maxAgeMs?: number;
  /**
   * Takers fail when the producer is silent for longer than this.
   * @range 200-60,000
   * @defaultValue 5,000
   */
  producerTimeoutMs?: number;
  /**
   * How many IDs a thread claims at once, to hand them out one by one; a sixteenth of the ring at most.
   * @range 1-1,024
   * @defaultValue 32
   */
  run?: number;
  /**
   * The share of every tick's sequences that may go into the ring, one ID at least. The rest stays for calls of the
   * service itself, which would find the tick used up while the ring is being filled.
   * @range 0-1
   * @defaultValue 0.5
   */
  tickShare?: number;
  /**
   * The code whose sequence the IDs are of.
   * @range 1-128 characters
   * @defaultValue that of IDs without a code
   */
  code?: string;
  /**
   * Called with `{ reason, count }` when IDs are thrown away: `aged`, `failed` or `closed`. An error that it throws, or
   * rejects with, is logged.
   * @range a function
   * @defaultValue logs what `failed`
   */
  onPutRejected?: (rejection: PutRejection) => unknown;
}

export type ResolvedRingOptions = Readonly<
  Required<Omit<SharedIdRingOptions, 'code' | 'scheduleInterval' | 'onPutRejected' | 'boostPower'>>
> & {
  readonly slots: number;
  readonly scheduleMs: number | undefined;
  readonly code: string | undefined;
  readonly onPutRejected: ((rejection: PutRejection) => unknown) | undefined;
};

/**
 * Checks the options of a ring and fills in the defaults.
 * @throws ConfigurationError naming every option that is wrong
 */
export function resolveRingOptions(options: SharedIdRingOptions = {}): ResolvedRingOptions {
  const reader = new OptionReader(options);
  const resolved = {
    slots: 8_192 * 2 ** reader.integer('boostPower', { min: 0, max: 10, default: 3 }),
    paddingFactor: reader.integer('paddingFactor', { min: 1, max: 99, default: 50, hint: 'a percentage' }),
    scheduleMs: readSchedule(reader),
    maxAgeMs: reader.integer('maxAgeMs', { min: 100, max: 3_600_000, default: 10_000 }),
    producerTimeoutMs: reader.integer('producerTimeoutMs', { min: 200, max: 60_000, default: 5_000 }),
    run: reader.integer('run', { min: 1, max: 1_024, default: 32 }),
    tickShare: reader.share('tickShare', { default: 0.5, of: "a tick's sequences" }),
    code: readCode(reader),
    onPutRejected: readHandler<(rejection: PutRejection) => unknown>(reader, 'onPutRejected'),
  };
  reader.finish();
  return Object.freeze(resolved);
}

/** The options say how a thread takes IDs from a ring. */
export interface SharedIdsOptions {
  /**
   * How long an async call waits when it names no `timeoutMs`.
   * @range 1-86,400,000
   * @defaultValue 10,000
   */
  asyncTimeoutMs?: number;
  /**
   * Called with the error of a call that gets no ID. The call throws what this function throws, or that error. When it is
   * async, a rejection is logged, once a second at most.
   * @range a function
   * @defaultValue logs, once a second at most
   */
  onTakeRejected?: (error: RaindropError) => unknown;
}

type ResolvedSharedIdsOptions = Readonly<
  Required<Pick<SharedIdsOptions, 'asyncTimeoutMs'>> & Pick<SharedIdsOptions, 'onTakeRejected'>
>;

/** @throws ConfigurationError naming every option that is wrong */
export function resolveSharedIdsOptions(options: SharedIdsOptions = {}): ResolvedSharedIdsOptions {
  const reader = new OptionReader(options);
  const onTakeRejected = readHandler<(error: RaindropError) => unknown>(reader, 'onTakeRejected');
  const asyncTimeoutMs = reader.integer('asyncTimeoutMs', { min: 1, max: 86_400_000, default: 10_000 });
  reader.finish();
  return Object.freeze({ asyncTimeoutMs, ...(onTakeRejected === undefined ? {} : { onTakeRejected }) });
}

function readSchedule(reader: OptionReader): number | undefined {
  if (reader.value('scheduleInterval') === undefined) return undefined;
  return reader.integer('scheduleInterval', { min: 1, max: 86_400, hint: 'in seconds' }) * 1_000;
}

function readCode(reader: OptionReader): string | undefined {
  if (reader.value('code') === undefined) return undefined;
  return reader.string('code', { fallback: '', pattern: /^[^]{1,128}$/, legal: 'a text of 1 to 128 characters' });
}

function readHandler<Handler>(reader: OptionReader, name: string): Handler | undefined {
  const given = reader.value(name);
  if (given !== undefined && typeof given !== 'function') reader.problem(name, given, 'must be a function');
  return given as Handler | undefined;
}

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
