import type { SegmentPorts } from '../segment/segment-ports.js';
import type { Clock } from '../time/clock.js';

/** What prefetching needs of its surroundings. */
export interface PrefetchPorts extends SegmentPorts {
  /** IDs get old by it as well: the monotonic clock may stand still while a host sleeps. */
  readonly clock: Clock;
}
