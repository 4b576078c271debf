import { FetchCounters, type SupplyStatus } from '../supply/supply-status.js';

/** The status says how the numbers of one key stand. */
export interface SegmentStatus extends SupplyStatus {
  readonly code: string;
  /** How many segments wait behind the one in use. */
  readonly buffered: number;
}

/** Counts what was done for all keys together since the start. */
export class ReservationCounters extends FetchCounters {
  /** Segments that came. */
  reservations = 0;
  /** Numbers in them. */
  reserved = 0;
  /** Segments among the reservations that came after their call had been given up. */
  late = 0;
  /** Numbers that came and were never used: too late, or not above those that had come before. */
  dropped = 0;
  /** Numbers that went back to the store at the end. */
  givenBack = 0;
}
