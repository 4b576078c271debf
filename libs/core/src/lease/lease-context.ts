import type { PerLane } from '../generator/tenure.js';
import type { ResolvedLayout } from '../layout/layout-options.js';
import type { Clock, MonotonicClock, Randomness, Timers } from '../ports.js';
import { ClockSkewError } from './lease-errors.js';
import type { ResolvedLeaseOptions } from './lease-options.js';
import type { StoreSession } from './store-session.js';
import { holderWithMark, type LeaseHistory, type LeaseMark } from './lease-history.js';
import type { Odometer, WorkerWrite } from './worker-store.js';

/** The clocks, timers and randomness that a keeper of worker ids uses. */
export interface LeasePorts {
  readonly clock: Clock;
  readonly monotonic: MonotonicClock;
  readonly timers: Timers;
  readonly randomness: Randomness;
  /** Another number when this memory goes on in another process: in a fork, or a copy. */
  readonly processId: () => number;
}

/** Names the holder of a row. */
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
   * The layout was taken because the store remembers none: until it is remembered, every other layout is a conflict,
   * also one whose IDs can never equal ours. Default false.
   */
  readonly isFirstLayout?: boolean;
  readonly options: ResolvedLeaseOptions;
  readonly identity: LeaseIdentity;
  readonly session: StoreSession;
  readonly ports: LeasePorts;
  /** Records each lease of a row; left out where no history is kept. */
  readonly history?: LeaseHistory | undefined;
  /** The mark of the present lease in that history. */
  readonly mark?: LeaseMark;
}

/** The context of the next lease: the next process reads from the row which lease came before. */
export function markedContext(ctx: LeaseContext): LeaseContext {
  const { identity, ports } = ctx;
  const leaseId = ports.randomness.token();
  const processId = ports.processId();
  const isOurs = (): boolean => ports.processId() === processId;
  const marked = holderWithMark(identity.holder, leaseId);
  return {
    ...ctx,
    mark: { leaseId, isOurs },
    identity: {
      ...identity,
      get holder() {
        return isOurs() ? marked : identity.holder;
      },
    },
  };
}

/** The write that changes a row, if the row still is as `expected`. */
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
 * The wall clock, read once: no later than the database's plus the permitted skew.
 * @param bothWays also refuses a clock that is behind; while a process runs, the lanes take care of that
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
