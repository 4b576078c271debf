import { RaindropError } from '../raindrop-error.js';
import type { Odometer, WorkerRow } from './worker-store.js';
import type { ResolvedLeaseOptions } from './lease-options.js';

/** The server whose rows were believed last. */
export interface BelievedServer {
  /** '' where nothing tells servers apart. */
  readonly term: string;
  /**
   * Goes up with every failover that is noted: one server may be the primary twice, with the same term. It is the Unix ms of
   * the note where no later one was seen, so that a table which begins anew comes after the one before; 0 before the first.
   */
  readonly epoch: number;
}

/**
 * What a store says of the server that keeps its rows. A term lasts as long as the server is the primary, through restarts;
 * the one promoted in its place has another, and may lack what was acknowledged.
 */
export interface StoreTerm extends BelievedServer {
  /** The store's clock, Unix ms. */
  readonly nowMs: number;
  /** Of the server that was noted last, as this one has it; undefined before the first. */
  readonly knownTerm: string | undefined;
  /** When the last failover was noted, Unix ms; 0 when there was none. */
  readonly lostAtMs: number;
  /** The longest that grants of any process reach past that; see maxGrantAgeMs. */
  readonly reachMs: number;
}

/**
 * By how much a fence raises the epoch, ms: then the server comes after all others, also after one that was noted a moment
 * ago by a clock that is ahead.
 */
export const FENCED_EPOCHS_MS = 120_000;

/**
 * The state after a fence at `nowMs`: all processes believe this server from now on, also those that know of a later one. A
 * failover that a clock of the past has put into the future is one of now.
 */
export function fencedState<State extends Pick<StoreTerm, 'epoch' | 'lostAtMs'>>(state: State, nowMs: number): State {
  const epoch = Math.max(state.epoch, nowMs) + FENCED_EPOCHS_MS;
  return { ...state, epoch, lostAtMs: Math.min(state.lostAtMs, nowMs) };
}

/** What to do about the server that answers. */
export interface ServerVerdict {
  /** It may lack rows, layouts and grants that this process knows of. */
  readonly isAnother: boolean;
  /** A failover that no process has noted yet: grants may be lost. */
  readonly isNewFailover: boolean;
  /** Something has to be written to the state before the rows are believed. */
  readonly mustRecord: boolean;
  /** The epoch that is noted; that of the server where nothing is. */
  readonly epoch: number;
  /** Up to when no odometer is believed, Unix ms; 0 when nothing was lost. */
  readonly floorMs: number;
}

/**
 * The server was the primary once, and another one has taken its place since: it lacks what was written there, and what is
 * written to it may be lost.
 */
export class FormerPrimaryError extends RaindropError {
  readonly errorCode = 'FORMER_PRIMARY';

  constructor() {
    super(
      'The database answered from a server that was the primary before another one took its place, with rows as old as ' +
        'that: IDs could repeat. Stop it, or make it a replica of the present primary. To go back to it for good, or after a ' +
        'restore of a backup, stop all other servers and fence it (docs/operations.md). Where the other server was the wrong ' +
        'one, restart this process.',
      { retryable: true },
    );
  }
}

/**
 * Judges the server that answers by what it says of itself and by the one that this process believed last.
 *
 * An example with epochs 1, 2: A is the primary in 1, B is noted in 2. A process that has seen B refuses A as long as A says
 * 1. Once A was rebuilt from B and promoted again it says that B is known: it is noted in 3.
 * @param wasRestored its memory went back in time, although it has the same term and, it may be, the same epoch
 * @throws FormerPrimaryError
 */
export function judgeServer(
  seen: StoreTerm,
  ownReachMs: number,
  believed: BelievedServer | undefined,
  wasRestored = false,
): ServerVerdict {
  const { nowMs, term, knownTerm, epoch, lostAtMs } = seen;
  const isNoted = knownTerm === term;
  const isEarlier = epoch < (believed?.epoch ?? 0);
  if (isNoted && isEarlier && believed!.term !== term && believed!.term !== '') throw new FormerPrimaryError();
  const isAnother = believed !== undefined && (believed.term !== term || believed.epoch !== epoch);
  // Where the epoch is a later one, another process has noted it.
  const isRestored = isEarlier || (wasRestored && epoch === (believed?.epoch ?? 0));
  const isNewFailover = isRestored || isUnrecordedFailover(seen, believed);
  const least = isNewFailover ? Math.max(epoch, believed?.epoch ?? 0) + 1 : epoch;
  const reachMs = Math.max(seen.reachMs, ownReachMs);
  const lostMs = isNewFailover ? nowMs : lostAtMs;
  const tells = term !== '' || (knownTerm ?? '') !== '';
  return {
    isAnother: isAnother || isNewFailover,
    isNewFailover,
    mustRecord: isNewFailover || (tells && (!isNoted || seen.reachMs < ownReachMs)),
    epoch: isNewFailover || knownTerm === undefined ? Math.max(least, nowMs) : epoch,
    floorMs: lostMs === 0 ? 0 : lostMs + reachMs,
  };
}

function isUnrecordedFailover(seen: StoreTerm, believed: BelievedServer | undefined): boolean {
  const { term, knownTerm, epoch, lostAtMs } = seen;
  // What was known of it is gone, unless nothing was: then this is the first note.
  if (knownTerm === undefined) return believed !== undefined && (believed.term !== term || believed.epoch > 0);
  if (knownTerm !== term) return knownTerm !== '';
  if (believed === undefined || believed.term === term || believed.term === '') return false;
  // Two servers were noted side by side, and each lacks what the other one has; or this one was taken for the first.
  return believed.epoch === epoch || lostAtMs === 0;
}

/** A row as it may be believed: both odometers are at the end of the floor's tick at least. */
export function raiseOdometersTo(floorMs: number, row: WorkerRow): WorkerRow {
  if (floorMs === 0) return row;
  const raised = (odometer: Odometer): Odometer =>
    odometer.ms <= floorMs ? { ms: floorMs, sequence: Number.MAX_SAFE_INTEGER } : odometer;
  return { ...row, odometers: [raised(row.odometers[0]), raised(row.odometers[1])] };
}

/**
 * How far from the moment when a store lost what it had acknowledged what was granted before can reach, ms: the horizon,
 * from a clock that is ahead of the old server's by the permitted skew, which is ahead of the true time by as much, and the
 * new one's behind it. No less than a lease and its grace with the horizon, so that whoever held a row has stopped.
 *
 * With the defaults a commit is lost at 12:00:00, when the clock of the new server says 11:59:30, that of the old one
 * 12:00:30, and that of a holder 12:01:00. He was granted ticks up to 12:02:05 (a horizon of 65 s), and a start takes those
 * after 12:02:35: 185 s after 11:59:30.
 */
export function maxGrantAgeMs({
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
  /** That of {@link maxGrantAgeMs}, or longer: as long as sessions of a useful age can go on granting after a failover. */
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
  const reachMs = Math.max(maxGrantAgeMs(lease), grantedMs + leastAgeMs);
  const maxSessionAgeMs = reachMs - grantedMs;
  return { reachMs, maxSessionAgeMs, renewSessionAfterMs: maxSessionAgeMs - renewalMs };
}
