import type { LeaseOrders } from '../issuing-messages.js';
import type { Engine, Family } from './engine.js';

/**
 * What is left out in the control, which must repeat IDs.
 * - `terms`: no process notices another server or an old session.
 * - `fence`: the restored table is not fenced.
 * - `memory`: no process waits after a Redis has lost its memory.
 * - `original`: all of it; the protocol of the original, under the same faults and those of processes.
 */
export type Omission = 'terms' | 'fence' | 'memory' | 'original';

/** One engine in one topology, and what is done to it. */
export interface Leg {
  readonly family: Family;
  readonly topology: string;
  readonly omission: Omission;
  /** Whether its faults lose commits that were acknowledged: then gapless numbers are lost with their rows. */
  readonly losesCommits: boolean;
  /** Settings without which it would not hold, for people. */
  readonly settings: string;
  /** What it does not show. */
  readonly notCovered: string;
  /** Debian's packages of the programs it needs, by program. */
  readonly packages: Readonly<Record<string, string>>;
  /** @throws MissingForTests when a program is not installed */
  start(isControl: boolean): Promise<Engine>;
}

/** Longer than a failover takes, so that who holds a worker id goes on while somebody else takes it. */
export const FAILOVER_LEASE: LeaseOrders = {
  heartbeatIntervalMs: 400,
  leaseMs: 10_000,
  horizonMs: 10_000,
  graceMs: 1_000,
  opTimeoutMs: 1_000,
  maxClockSkewMs: 1_500,
};
