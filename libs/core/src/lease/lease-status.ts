import type { Lane, PerLane, Position } from '../generator/position.js';
import type { RaindropError } from '../raindrop-error.js';

/** A lease at one moment, for status and health. */
export interface LeaseStatus {
  /** `suspect`: held, but nothing is issued until it is confirmed. */
  readonly state: 'starting' | 'held' | 'suspect' | 'lost' | 'closed';
  readonly workerId: number | undefined;
  readonly lane: Lane;
  /** How long IDs are issued without another renewal, ms; 0 while none are. */
  readonly leaseLeftMs: number;
  readonly base: PerLane<Position>;
  readonly limit: PerLane<Position>;
  /** This host's clock minus the database's at the last contact, ms, the way there included. */
  readonly clockOffsetMs: number | undefined;
  /** Attempts that succeeded, the first acquire not among them. */
  readonly renewals: number;
  readonly failures: number;
  /** What went wrong at the last attempt; undefined when it succeeded. */
  readonly lastError: RaindropError | undefined;
}
