import type { ChaosDatabaseKind, FaultGroup, FaultKind } from './fault-plan.js';
import type { LayoutOrders, LeaseOrders } from './issuing-messages.js';
import type { ProxyFault } from './fault-proxy.js';

/** What is counted when it has really happened. */
export type FiredFault = FaultKind | ProxyFault | 'longPause';

export interface ChaosOptions {
  readonly db: ChaosDatabaseKind;
  readonly seconds: number;
  readonly faults: readonly FaultGroup[];
  readonly seed: number;
  readonly unit: LayoutOrders['timeUnit'];
  readonly processes: number;
  readonly workers: number;
  /** IDs per second that a process asks for. */
  readonly rate: number;
  readonly pace: number;
  readonly minIds: number;
  /** How often a fault must have fired at least; the others must have fired in a third of their attempts. */
  readonly floors: Partial<Readonly<Record<FiredFault, number>>>;
  readonly control: boolean;
  readonly keep: boolean;
  /** A commit of this repository: every second process runs the release of then. */
  readonly beside?: string | undefined;
  /** Is told how it goes, for people. */
  readonly progress: (line: string) => void;
}

/** Timestamp bits by unit; the sequence takes what they leave. */
const TIME_BITS = { millisecond: 42, second: 33, hour: 22 } as const;

export function layoutOf({ unit, workers }: Pick<ChaosOptions, 'unit' | 'workers'>): LayoutOrders {
  return {
    timeUnit: unit,
    startTimeStamp: '2024-01-01T00:00:00Z',
    timeStampLength: TIME_BITS[unit],
    workIdLength: 3,
    serviceMinWorkId: 1,
    serviceMaxWorkId: workers,
  };
}

const LEASE: LeaseOrders = {
  heartbeatIntervalMs: 400,
  leaseMs: 2_000,
  horizonMs: 2_500,
  graceMs: 1_000,
  opTimeoutMs: 300,
  maxClockSkewMs: 2_000,
};

/** After a loss of Redis no process gets a worker id for three times the skew, and more: that must be over in time. */
const REDIS_LEASE: LeaseOrders = {
  heartbeatIntervalMs: 250,
  leaseMs: 1_000,
  horizonMs: 1_200,
  graceMs: 400,
  opTimeoutMs: 300,
  maxClockSkewMs: 500,
};

export function leaseOf({ db }: Pick<ChaosOptions, 'db'>): LeaseOrders {
  return db === 'redis' ? REDIS_LEASE : LEASE;
}
