import type { MonotonicClock } from '../time/clock.js';
import type { Randomness } from '../time/randomness.js';
import type { Timers } from '../time/timers.js';

/** What segments need of their surroundings. The time of day is not among it. */
export interface SegmentPorts {
  readonly monotonic: MonotonicClock;
  readonly timers: Timers;
  readonly randomness: Randomness;
}
