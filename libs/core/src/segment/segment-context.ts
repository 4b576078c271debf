import type { SupplyContext } from '../supply/supply-context.js';
import type { ResolvedSegmentOptions } from './segment-options.js';
import type { ReservationCounters } from './segment-status.js';

/** What the supplies of one generator share. */
export interface SegmentContext extends SupplyContext {
  readonly options: ResolvedSegmentOptions;
  readonly counters: ReservationCounters;
}
