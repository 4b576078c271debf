import type { PerLane, Position } from '../generator/position.js';
import type { Tenure } from '../generator/tenure.js';
import type { LeaseEvent } from './lease-events.js';
import type { LeaseStatus } from './lease-status.js';

/** Asks how far a tenure has issued, on each lane. */
export type Reached = () => PerLane<Position>;

/** What a tenure of a worker id tells its keeper. */
export interface KeeperHooks {
  /** What may be issued has changed. */
  readonly changed: () => void;
  /** The worker id must be renewed before anything more is issued. */
  readonly renewNow: () => void;
  readonly emit: (event: LeaseEvent) => void;
}

/** Up to where a tenure may issue, and on which lane it goes on. */
export type Grant = Pick<Tenure, 'lane' | 'base' | 'limit' | 'soft'>;

/** One tenure of one worker id, from the answer that gave it to the call that gives it back. */
export interface HeldWorker extends Pick<Tenure, 'workerId' | 'admit'> {
  readonly grant: Grant;
  /** What the status says of it; `lost` once its lease has run out. */
  readonly state: Extract<LeaseStatus['state'], 'held' | 'suspect' | 'lost'>;
  readonly leaseLeftMs: number;
  readonly clockOffsetMs: number | undefined;
  readonly isLapsed: boolean;
  /** The next renewal is sent at most so many ms after the last one; 0: soon after it. */
  readonly renewWithinMs: number;

  /** @returns why the tenure is over; undefined while it goes on. @throws when that is not known yet */
  renew(reached: Reached): Promise<string | undefined>;
  /**
   * Gives the worker id back. The keeper has closed before: nothing is issued any more.
   * @returns false when it could not be given back, or must not be
   */
  release(reached: Reached): Promise<boolean>;
}
