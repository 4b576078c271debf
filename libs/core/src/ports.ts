/**
 * The wall clock: Unix milliseconds, integers. It may jump in either direction at any moment.
 *
 * `now` may be a little stale; `refresh` reads the real clock, and `now` never answers with anything older than the last
 * `refresh`.
 */
export interface Clock {
  /** Unix ms, possibly a little stale. */
  now(): number;
  /** Unix ms, read now. */
  refresh(): number;
  /**
   * Where there is such a method, its answer says how many calls may follow a `refresh` and do with its value; `stale` is
   * called when it must not be used any longer.
   */
  share?(stale: () => void): number;
}

/** Milliseconds since some fixed moment, never going back, unaffected by changes of the wall clock. */
export interface MonotonicClock {
  /** Milliseconds; only differences mean anything. */
  now(): number;
}

/**
 * The wall clock of when this was loaded, Unix ms. Tests fake `Date` while a service runs: a service that followed would
 * reserve for a future that is gone again, and wait for it, once the true `Date` is back.
 */
export const wallClock = { now: Date.now };

/** A timer that was set; cancelling it twice, or after it fired, does nothing. */
export interface Timer {
  /** The callback is not called any more. */
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

/** Holds what the generator reads from its surroundings. */
export interface GeneratorPorts {
  readonly clock: Clock;
  readonly monotonic: MonotonicClock;
  readonly randomness: Randomness;
}

/** Holds what a prefetcher needs of its surroundings. It reads no time of day. */
export interface PrefetcherPorts {
  readonly monotonic: MonotonicClock;
  readonly timers: Timers;
  readonly randomness: Randomness;
}

/** Holds what prefetching needs of its surroundings. */
export interface PrefetchPorts extends PrefetcherPorts {
  /** IDs get old by it as well: the monotonic clock may stand still while a host sleeps. */
  readonly clock: Clock;
}
