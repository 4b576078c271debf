import type { RaindropError } from '../raindrop-error.js';

/** How the numbers of one key stand. */
export interface SegmentStatus {
  readonly idCode: string;
  /** How many numbers are at hand. */
  readonly left: number;
  /** How many the next reservation takes at least; 0 before the first one. */
  readonly step: number;
  /** How many segments wait behind the one in use. */
  readonly buffered: number;
  readonly isFetching: boolean;
  /** Why the last reservation failed; undefined since one succeeded. */
  readonly lastError: RaindropError | undefined;
}

/** What was done for all keys together since the start. */
export class SegmentTally {
  /** Segments that came. */
  reservations = 0;
  /** Numbers in them. */
  reserved = 0;
  /** Reservations that failed or took longer than `opTimeoutMs`. */
  failures = 0;
  /** Segments among the reservations that came after their call had been given up. */
  late = 0;
  /** Numbers that came and were never used: too late, or not above those that had come before. */
  dropped = 0;
  /** Calls that found too few numbers at hand. */
  starved = 0;
  /** Numbers that went back to the store at the end. */
  givenBack = 0;
  /** Numbers that were at hand when the process was copied, and so never used. */
  forgotten = 0;
}
