import type { GeneratorOptions, LeaseOptions } from '@raindrop/core';
import type { Action } from './actions.js';
import type { LayoutChoice } from './layout-choice.js';

/**
 * What a schedule is about; each promises uniqueness for other reasons.
 *
 * - `one-layout`: everything but layouts and lost commits.
 * - `disjoint-layouts`: a second layout with other end bits is rolled out, both live.
 * - `overlapping-layouts`: a second layout that could repeat the first one's IDs: refused, or a one-way change.
 * - `lost-commits`: the database goes back by less than `commitLossWindowMs`; clocks are right, as the docs demand.
 * - `failovers`: servers take turns, and each lacks what the one before had last, by any time. An old primary may live on
 *   with the sessions that it has. Clocks are apart as far as is permitted; hosts are suspended, layouts changed.
 * - `restores`: backups of any age are restored, on one server or on servers that take turns. An operator fences them, with
 *   clocks that are wrong at first.
 */
export type Family =
  'one-layout' | 'disjoint-layouts' | 'overlapping-layouts' | 'lost-commits' | 'failovers' | 'restores';

export interface Setup {
  readonly family: Family;
  readonly layouts: readonly LayoutChoice[];
  readonly lease: LeaseOptions;
  /** By how much the database may go back, ms. */
  readonly lossMs: number;
  /** Of every other process. */
  readonly otherLease: LeaseOptions;
  readonly generator: GeneratorOptions;
  /** How far the clock of each server is ahead, where they take turns, ms. */
  readonly serverOffsets?: readonly number[];
  /** How far the clocks of processes are ahead of their server's at most, ms. */
  readonly hostsAheadMs?: number;
  /** Where the database's clock starts. */
  readonly wall: number;
}

/** A schedule: what is set up and what is done, in order. It says everything; running it is up to nothing else. */
export interface Plan {
  readonly seed: number;
  readonly setup: Setup;
  readonly actions: readonly Action[];
}

/** More than there are rows. */
export const PROCESSES = 4;
