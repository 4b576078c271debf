import type { LeaseOptions } from '@raindrop/core';

/**
 * Says how a lease in a state file is kept when nothing else is said. A process that is killed leaves its row held
 * until the lease ends: with a single row the next one waits 3 s at most. A disk may stand still for 1.5 s before
 * anybody notices.
 */
export const stateFileLease: Readonly<LeaseOptions> = Object.freeze({
  heartbeatIntervalMs: 500,
  opTimeoutMs: 1_000,
  leaseMs: 3_000,
  // As long as the lease: then what a killed process had reserved is past when its lease is.
  horizonMs: 3_000,
  // The clock of the lease is the host's own.
  graceMs: 0,
  waitForWorkerMs: 10_000,
});
