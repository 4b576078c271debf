import type { Clock, MonotonicClock } from '../time/clock.js';
import type { Randomness } from '../time/randomness.js';

/** Holds what the generator reads from its surroundings. */
export interface GeneratorPorts {
  readonly clock: Clock;
  readonly monotonic: MonotonicClock;
  readonly randomness: Randomness;
}
