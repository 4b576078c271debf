import type { RaindropError } from '../raindrop-error.js';

/** How the IDs of one code stand. */
export interface SupplyStatus {
  /** How many are at hand. */
  readonly left: number;
  /** How many the next fetch takes at least; 0 before the first one of a source that says it itself. */
  readonly step: number;
  readonly isFetching: boolean;
  /** Why the last fetch failed; undefined since one succeeded. */
  readonly lastError: RaindropError | undefined;
}

/** What was done for all codes together since the start. */
export class FetchCounters {
  /** Fetches that failed or took longer than `opTimeoutMs`. */
  failures = 0;
  /** Calls that found too few IDs at hand. */
  starved = 0;
  /** IDs that were at hand when the process was copied or the service closed, and so never used. */
  forgotten = 0;
}
