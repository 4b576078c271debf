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
