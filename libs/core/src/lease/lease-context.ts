import type { ResolvedLayout } from '../layout/layout-options.js';
import type { Clock, MonotonicClock, Randomness, Timers } from '../ports.js';
import type { PerLane } from '../generator/tenure.js';
import { ClockSkewError } from './lease-errors.js';
import type { ResolvedLeaseOptions } from './lease-options.js';
import type { StoreSession } from './store-session.js';
import type { Odometer, WorkerWrite } from './worker-store.js';

/** Holds what the keeper reads from its surroundings. */
export interface LeasePorts {
  readonly clock: Clock;
  readonly monotonic: MonotonicClock;
  readonly timers: Timers;
  readonly randomness: Randomness;
  /** Changes when this memory goes on living in another process. */
  readonly processId: () => number;
}

/** The identity says who holds the row. */
export interface LeaseIdentity {
  /** The original's code of a worker: address, port, unit and hardware address, or a hash of them. */
  readonly code: string;
  /** For people only: host, process, pod. */
  readonly holder: string;
  /** The original's number of the unit. */
  readonly timeUnit: number;
}

/** Everything that stays the same while a lease is kept. */
export interface LeaseContext {
  readonly resolved: ResolvedLayout;
  /**
   * The layout was taken because the store remembers none: until it is remembered, every other one is in the way, also
   * one whose IDs can never equal ours. Default false.
   */
  readonly isFirstLayout?: boolean;
  readonly options: ResolvedLeaseOptions;
  readonly identity: LeaseIdentity;
  readonly session: StoreSession;
  readonly ports: LeasePorts;
}

/** The write that changes a row from what is `expected` of it. */
export function writeOf(
  { identity, resolved, options }: LeaseContext,
  change: Pick<WorkerWrite, 'id' | 'expected' | 'token' | 'lane'> & {
    readonly odometers: PerLane<Odometer>;
    readonly layout?: string;
  },
): WorkerWrite {
  return {
    ...identity,
    layout: resolved.layout.fingerprint,
    leaseMs: change.token === '' ? 0 : options.leaseMs,
    ...change,
  };
}

/**
 * The wall clock, read once and held against the database's: no later than the database's plus the permitted skew.
 *
 * A clock that is behind is refused only when `bothWays`: while running it is the lanes' business.
 * @throws ClockSkewError
 */
export function validatedNow({ options, ports }: LeaseContext, databaseMs: number, bothWays: boolean): number {
  const wallMs = ports.clock.refresh();
  const skewMs = wallMs - databaseMs;
  if (skewMs > options.maxClockSkewMs || (bothWays && -skewMs > options.maxClockSkewMs)) {
    throw new ClockSkewError(skewMs, options.maxClockSkewMs);
  }
  return wallMs;
}
