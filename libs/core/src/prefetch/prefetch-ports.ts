import type { SupplyPorts } from '../supply/supply-ports.js';
import type { Clock } from '../time/clock.js';

/** Holds what prefetching needs of its surroundings. */
export interface PrefetchPorts extends SupplyPorts {
  /** IDs get old by it as well: the monotonic clock may stand still while a host sleeps. */
  readonly clock: Clock;
}
