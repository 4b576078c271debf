import type { LeaseOptions } from '@raindrop/core';

/**
 * What clients find between the end of the primary and the new one.
 * - `short`: nothing.
 * - `read-only`: the standby before it is promoted; it answers reads and refuses writes.
 * - `long`: nothing for longer than a probation lasts, while others have found the new primary already.
 */
export type Outage = 'short' | 'read-only' | 'long';

/** What a failover finds, and what it loses. */
export interface FailoverScenario {
  /** Processes that hold a row all the time. */
  readonly holders: number;
  /** Processes that acquire a row in the time that is lost. */
  readonly newcomers: number;
  readonly lease: LeaseOptions;
  /** Whether the worker table's state tells that another server answers. */
  readonly marker: boolean;
  /** Worker rows beside those of holders and newcomers. */
  readonly spareRows: number;
  /** Commits are lost for at least this long. */
  readonly lossMs: number;
  /** Round by round, and again from the start. */
  readonly outages: readonly Outage[];
}

/**
 * What protects by default: renewals and acquires are lost, and the newcomers, who are on no probation, issue from the rows
 * that the promoted standby believes to be free. A process that starts there waits for 8.3 s.
 */
export const termChanges: FailoverScenario = {
  holders: 3,
  newcomers: 2,
  lease: { heartbeatIntervalMs: 150, leaseMs: 2_000, horizonMs: 2_000, opTimeoutMs: 1_000, maxClockSkewMs: 1_000 },
  marker: true,
  // For the taker, when the newcomers have found others.
  spareRows: 1,
  lossMs: 250,
  outages: ['short', 'long', 'read-only'],
};

/**
 * Renewals are lost, and acquires: the promoted standby says that the newcomers' rows are free. The lease is longer than
 * a probation, so that after the `long` outage nothing but the missing confirmation keeps a newcomer from issuing.
 */
export const acquiresLost: FailoverScenario = {
  holders: 3,
  newcomers: 2,
  lease: {
    heartbeatIntervalMs: 150,
    leaseMs: 10_000,
    opTimeoutMs: 2_000,
    maxClockSkewMs: 2_000,
    // Commits are lost for a third of a second where no other program uses the processors.
    commitLossWindowMs: 4_000,
  },
  marker: false,
  spareRows: 0,
  lossMs: 250,
  outages: ['short', 'read-only', 'long', 'read-only', 'short'],
};

/**
 * So many renewals are lost that the promoted standby says of every row that its lease is over, while its holder lives
 * and issues, and that the holder's odometer is passed. (With the default horizon, the lease and 5 s, it is
 * not: then the next holder of such a row starts on the other lane, and no window is needed against this.)
 */
export const renewalsLost: FailoverScenario = {
  holders: 2,
  newcomers: 0,
  lease: {
    heartbeatIntervalMs: 150,
    leaseMs: 2_000,
    horizonMs: 2_000,
    opTimeoutMs: 1_000,
    maxClockSkewMs: 1_000,
    commitLossWindowMs: 6_000,
    // The next holder waits until the former holder must have stopped.
    waitForWorkerMs: 60_000,
  },
  marker: false,
  spareRows: 0,
  lossMs: 2_200,
  outages: ['short'],
};

/** The scenario without either safeguard, nor the grace that comes with the window. */
export function unguarded(scenario: FailoverScenario): FailoverScenario {
  return { ...scenario, marker: false, lease: { ...scenario.lease, commitLossWindowMs: 0, graceMs: 0 } };
}
