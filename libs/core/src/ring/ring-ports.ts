import type { Clock, MonotonicClock } from '../time/clock.js';
import type { Timers } from '../time/timers.js';
import type { WordChanges } from './word-changes.js';

/** Holds what either side of a ring needs of its thread. */
export interface RingPorts {
  readonly clock: Clock;
  /** The same in every thread of the process. */
  readonly monotonic: MonotonicClock;
  readonly timers: Timers;
  readonly changes: WordChanges;
  /** Writes a line to the log. */
  readonly warn: (message: string) => void;
}
