import type { RaindropError } from '../raindrop-error.js';
import type { RingState } from './ring-memory.js';

/** A ring at one moment. */
export interface SharedIdRingStatus {
  readonly state: RingState;
  /** IDs that can be taken; old ones that takers would skip included. */
  readonly left: number;
  readonly capacity: number;
  /** Since the start. A thread may still hold a run of what it has taken. */
  readonly taken: number;
  /** Issued for the ring and thrown away, since the start. */
  readonly rejected: number;
  /** Why the ring failed, or waits to be filled; undefined when all is well. */
  readonly refusal: RaindropError | undefined;
}
