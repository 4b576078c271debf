import { FetchCounters, type SupplyStatus } from '../supply/supply-status.js';

/** The status says how the IDs of one code stand. */
export interface PrefetchStatus extends SupplyStatus {
  /** Undefined for IDs without one. */
  readonly code: string | undefined;
}

/** Counts what was done for all codes together since the start. */
export class BatchCounters extends FetchCounters {
  /** Batches that came in time. */
  batches = 0;
  /** IDs in them. */
  received = 0;
  /** IDs that came after their attempt had been given up, and so were never used. */
  late = 0;
  /** IDs that were older than `maxAgeMs` before anybody wanted them. */
  aged = 0;
  /** How often the process was told that it may be a copy: what was taken before must not be given to callers then. */
  restores = 0;
}
