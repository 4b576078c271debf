import type { ResolvedLeaseOptions } from './lease-options.js';

/**
 * How far from the moment when a store lost what it had acknowledged what was granted before can reach, ms: the horizon,
 * from a clock that is ahead of the old server's by the permitted skew, which is ahead of the true time by as much, and the
 * new one's behind it. No less than a lease and its grace with the horizon, so that whoever held a row has stopped.
 *
 * With the defaults a commit is lost at 12:00:00, when the clock of the new server says 11:59:30, that of the old one
 * 12:00:30, and that of a holder 12:01:00. He was granted ticks up to 12:02:05 (a horizon of 65 s), and a start takes those
 * after 12:02:35: 185 s after 11:59:30.
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
  /** That of {@link reachOf}, or longer: as long as sessions of a useful age can go on granting after a failover. */
  readonly reachMs: number;
}

/**
 * How old a session of the server may be that writes a renewal. A session leads to the server that was the primary when it
 * began: one that is no primary any more, and lives on, goes on serving old sessions, while new ones come to its successor.
 * All that they are granted there must lie before the ticks that starts take at the successor: the reach covers the age,
 * too, and how long it took to open the session.
 *
 * It is the horizon that counts, not the lease. With `onExhausted: 'borrow'` a holder issues up to `maxAheadMs` ahead of its
 * clock, and on a lane that is held for longer still, but never past what it was granted.
 *
 * With the defaults the primary is replaced at 12:00:00, and a session that was led to it just before is open at 12:00:03.
 * It grants for the last time at the age of 60 s, at 12:01:03: up to 12:03:08 by clocks that are as far apart as above. A
 * start takes the ticks after that, 218 s after 11:59:30.
 */
export function sessionAgesOf(lease: ResolvedLeaseOptions): SessionAges {
  const { leaseMs, heartbeatIntervalMs, opTimeoutMs, horizonMs, maxClockSkewMs } = lease;
  const grantedMs = horizonMs + 3 * maxClockSkewMs + opTimeoutMs;
  // A session serves two renewals at least. To open one for every other renewal would cost the server more than the renewals.
  const renewalMs = heartbeatIntervalMs + 2 * opTimeoutMs;
  const leastAgeMs = Math.max(heartbeatIntervalMs + renewalMs, leaseMs);
  const reachMs = Math.max(reachOf(lease), grantedMs + leastAgeMs);
  const maxSessionAgeMs = reachMs - grantedMs;
  return { reachMs, maxSessionAgeMs, renewSessionAfterMs: maxSessionAgeMs - renewalMs };
}
