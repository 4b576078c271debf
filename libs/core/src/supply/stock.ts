import type { BatchOrder } from '../generator/outputs.js';

/** IDs that were taken together. */
export interface TakenIds {
  /** Writes those from one index to another into the places of a batch; each part once, in order. */
  write<Batch>(order: BatchOrder<Batch>, from: number, end: number): void;
  /** After so many of them others are to have a turn of the event loop (well under a millisecond). */
  turnAfter(order: BatchOrder<unknown>): number;
}

/** The IDs at hand. */
export interface Stock {
  readonly left: number;
  /** How many were handed out. */
  readonly issued: number;
  /** Takes the next one, which must be at hand. */
  next(): bigint;
  /** Takes as many, which must be at hand. */
  take(count: number): TakenIds;
  /** Forgets everything. */
  clear(): void;
}
