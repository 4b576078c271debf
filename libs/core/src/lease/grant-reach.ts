import type { ResolvedLeaseOptions } from './lease-options.js';

/**
 * A store that has lost acknowledged writes may have lost grants among them. This is how far such a grant can reach
 * past the moment of the loss by the new server's clock, ms.
 *
 * A holder is granted a horizon from its own clock on. That clock may be ahead of the old server's by the permitted
 * skew, the old server's ahead of the true time by as much, and the new server's behind it by as much: the horizon + 3
 * skews together. The result is the horizon + a lease + its grace at least, so that every holder from before the loss
 * has stopped.
 *
 * Example, with the defaults: a commit is lost at 12:00:00, when the clock of the new server says 11:59:30, that of the
 * old one 12:00:30, and that of a holder 12:01:00. The holder was granted ticks up to 12:02:05 (a horizon of 65 s), and
 * a start takes those after 12:02:35: 185 s after 11:59:30.
 *
 * Redis, etcd and NATS pass this to their stores as `reachMs`. SQL stores, whose sessions may lead to a replaced
 * primary, pass that of {@link sessionAgesOf}, which is longer.
 */
export function grantReachMs({
  leaseMs,
  graceMs,
  horizonMs,
  maxClockSkewMs,
}: Pick<ResolvedLeaseOptions, 'leaseMs' | 'graceMs' | 'horizonMs' | 'maxClockSkewMs'>): number {
  return horizonMs + Math.max(leaseMs + graceMs, 3 * maxClockSkewMs);
}

/** How old sessions of the server may be, ms. */
export interface SessionAges {
  /** No session that is older writes. */
  readonly maxSessionAgeMs: number;
  /** From this age on a second session is opened, before the last renewal that this one can still serve. */
  readonly renewSessionAfterMs: number;
  /** {@link grantReachMs}, or longer: also as long as sessions of a useful age can go on granting after a failover. */
  readonly reachMs: number;
}

/**
 * How old a session may be that writes a renewal. A session leads to the server that was the primary when the session
 * began. A replaced primary that lives on goes on serving its old sessions, while new sessions lead to its successor.
 * All that the old sessions are granted must lie before the ticks that starts take at the successor: the reach covers
 * the age of a session, too, and the time that it took to open it.
 *
 * The horizon counts, not the lease. With `onExhausted: 'borrow'` a holder issues up to `maxAheadMs` ahead of its
 * clock, and on a held lane even later, but never past its grant.
 *
 * Example, with the defaults: the primary is replaced at 12:00:00, and a session that was led to it just before is open
 * at 12:00:03. It grants for the last time at the age of 60 s, at 12:01:03: up to 12:03:08 by clocks that are as far
 * apart as above. A start takes the ticks after that, 218 s after 11:59:30.
 */
export function sessionAgesOf(lease: ResolvedLeaseOptions): SessionAges {
  const { leaseMs, heartbeatIntervalMs, opTimeoutMs, horizonMs, maxClockSkewMs } = lease;
  const grantedMs = horizonMs + 3 * maxClockSkewMs + opTimeoutMs;
  // A session serves two renewals at least, and as a rule those of a whole lease: a new session for every other renewal
  // would cost the server more than the renewals.
  const renewalMs = heartbeatIntervalMs + 2 * opTimeoutMs;
  const leastAgeMs = Math.max(heartbeatIntervalMs + renewalMs, leaseMs);
  const reachMs = Math.max(grantReachMs(lease), grantedMs + leastAgeMs);
  const maxSessionAgeMs = reachMs - grantedMs;
  return { reachMs, maxSessionAgeMs, renewSessionAfterMs: maxSessionAgeMs - renewalMs };
}
