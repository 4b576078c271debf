import type { ResolvedLeaseOptions } from './lease-options.js';

/**
 * How far from the moment when a store lost what it had acknowledged what was granted before can reach, ms: the horizon,
 * from a clock that is ahead of the old server's by the permitted skew, which is ahead of the true time by as much, and the
 * new one's behind it. No less than a lease and its grace with the horizon, so that whoever held a row has stopped.
 */
export function reachOf({
  leaseMs,
  graceMs,
  horizonMs,
  maxClockSkewMs,
}: Pick<ResolvedLeaseOptions, 'leaseMs' | 'graceMs' | 'horizonMs' | 'maxClockSkewMs'>): number {
  return horizonMs + Math.max(leaseMs + graceMs, 3 * maxClockSkewMs);
}

/** How old the server's sessions may be, ms. */
export interface SessionAges {
  /** None that is older writes. */
  readonly maxSessionAgeMs: number;
  /** From this age on another one is opened beside it, before the last renewal that it can still serve. */
  readonly renewSessionAfterMs: number;
}

/**
 * How old a session of the server may be that writes a renewal. A session leads to the server that was the primary when it
 * began: one that is no primary any more, and lives on, goes on serving old sessions, while new ones come to its successor.
 * Whoever wrote there last must have stopped before those who wait at the successor begin, whose clock may be ahead by the
 * permitted skew.
 */
export function sessionAgesOf(lease: ResolvedLeaseOptions): SessionAges {
  const { leaseMs, heartbeatIntervalMs, opTimeoutMs, maxClockSkewMs } = lease;
  const maxSessionAgeMs = Math.max(0, reachOf(lease) - maxClockSkewMs - leaseMs - opTimeoutMs);
  return { maxSessionAgeMs, renewSessionAfterMs: Math.max(0, maxSessionAgeMs - heartbeatIntervalMs - 2 * opTimeoutMs) };
}
