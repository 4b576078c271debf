import type { RaindropError } from '../raindrop-error.js';

/** How the IDs of one code stand. */
export interface PrefetchStatus {
  /** Undefined for IDs without one. */
  readonly idCode: string | undefined;
  /** How many IDs are at hand. */
  readonly left: number;
  /** How many the next batch has at least. */
  readonly step: number;
  readonly isFetching: boolean;
  /** Why the last attempt failed; undefined since one succeeded. */
  readonly lastError: RaindropError | undefined;
}

/** What was done for all codes together since the start. */
export class PrefetchTally {
  /** Batches that came in time. */
  batches = 0;
  /** IDs in them. */
  received = 0;
  /** Attempts that failed or took longer than `opTimeoutMs`. */
  failures = 0;
  /** IDs that came after their attempt had been given up, and so were never used. */
  late = 0;
  /** IDs that were older than `maxAgeMs` before anybody wanted them. */
  aged = 0;
  /** IDs at hand when the process was copied or the service closed. */
  forgotten = 0;
  /** How often the process was told that it may be a copy: what was taken before must not be given to callers then. */
  restores = 0;
  /** Calls that found too few IDs at hand. */
  starved = 0;
}
