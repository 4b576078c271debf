/**
 * The wall clock: Unix milliseconds, integers. It may jump in either direction at any moment.
 *
 * `now` may be a little stale (a clock read once per turn of the event loop); `refresh` reads the real clock, and `now`
 * never answers with anything older than the last `refresh`.
 */
export interface Clock {
  now(): number;
  refresh(): number;
}

/** Milliseconds since some fixed moment, never going back, unaffected by changes of the wall clock. */
export interface MonotonicClock {
  now(): number;
}
