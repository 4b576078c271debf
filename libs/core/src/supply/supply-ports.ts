import type { MonotonicClock } from '../time/clock.js';
import type { Randomness } from '../time/randomness.js';
import type { Timers } from '../time/timers.js';

/** Holds what a supply needs of its surroundings. The time of day is not among it. */
export interface SupplyPorts {
  readonly monotonic: MonotonicClock;
  readonly timers: Timers;
  readonly randomness: Randomness;
}
