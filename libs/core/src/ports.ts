/**
 * The wall clock: Unix milliseconds, integers. It may jump in either direction at any moment.
 *
 * `now` may be a little stale; `refresh` reads the real clock, and `now` never answers with anything older than the
 * last `refresh`.
 */
export interface Clock {
  /** Unix ms, possibly a little stale. */
  now(): number;
  /** Unix ms, read now. */
  refresh(): number;
  /**
   * Lets the generator use one value of `refresh` for several calls.
   * @param stale the clock calls it when the generator must not use the value any longer
   * @returns how many calls may use the value that a `refresh` returned
   */
  share?(stale: () => void): number;
}

/** Milliseconds since some fixed moment. They never go back, and changes of the wall clock do not affect them. */
export interface MonotonicClock {
  /** Milliseconds; only differences mean anything. */
  now(): number;
}

/** A timer that was set. Cancelling it twice, or after it fired, does nothing. */
export interface Timer {
  /** Prevents the callback. */
  cancel(): void;
}

/**
 * One-shot timers. A `background` timer must not keep the process alive; a `foreground` one, on which a caller is
 * waiting, does.
 */
export interface Timers {
  /** Calls back once, after `delayMs` ms. */
  setTimer(callback: () => void, delayMs: number, kind: 'background' | 'foreground'): Timer;
}

/** Randomness, read at the moment of use: a copy of a process's memory must not see the same values. */
export interface Randomness {
  /** A number in [0, 1), for jitter and for random sequence starts. */
  fraction(): number;
  /** At least 96 unpredictable bits as text of at most 64 characters. */
  token(): string;
}

/** The surroundings of a generator. */
export interface GeneratorPorts {
  readonly clock: Clock;
  readonly monotonic: MonotonicClock;
  readonly randomness: Randomness;
}

/** The surroundings of a prefetcher, which does not need the time of day. */
export interface PrefetcherPorts {
  readonly monotonic: MonotonicClock;
  readonly timers: Timers;
  readonly randomness: Randomness;
}

/** The surroundings of prefetching. */
export interface PrefetchPorts extends PrefetcherPorts {
  /** The age of IDs is measured by both clocks: the monotonic one may stand still while a host sleeps. */
  readonly clock: Clock;
}

/**
 * The wall clock of the moment when this module was loaded, Unix ms. Tests may fake `Date` while a service runs. A
 * service that followed a faked `Date` would reserve ticks of that time, and would have to wait for them once the true
 * `Date` is back.
 */
export const wallClock = { now: Date.now };
