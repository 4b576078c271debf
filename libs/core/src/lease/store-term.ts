import { RaindropError } from '../raindrop-error.js';
import type { Odometer, WorkerRow } from './worker-store.js';

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
  /** The longest that grants of any process reach past that; see reachOf. */
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
  readonly isFailover: boolean;
  /** Something has to be written to the state before the rows are believed. */
  readonly mustNote: boolean;
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
  const isFailover = isRestored || isUnnoted(seen, believed);
  const least = isFailover ? Math.max(epoch, believed?.epoch ?? 0) + 1 : epoch;
  const reachMs = Math.max(seen.reachMs, ownReachMs);
  const lostMs = isFailover ? nowMs : lostAtMs;
  const tells = term !== '' || (knownTerm ?? '') !== '';
  return {
    isAnother: isAnother || isFailover,
    isFailover,
    mustNote: isFailover || (tells && (!isNoted || seen.reachMs < ownReachMs)),
    epoch: isFailover || knownTerm === undefined ? Math.max(least, nowMs) : epoch,
    floorMs: lostMs === 0 ? 0 : lostMs + reachMs,
  };
}

function isUnnoted(seen: StoreTerm, believed: BelievedServer | undefined): boolean {
  const { term, knownTerm, epoch, lostAtMs } = seen;
  // What was known of it is gone, unless nothing was: then this is the first note.
  if (knownTerm === undefined) return believed !== undefined && (believed.term !== term || believed.epoch > 0);
  if (knownTerm !== term) return knownTerm !== '';
  if (believed === undefined || believed.term === term || believed.term === '') return false;
  // Two servers were noted side by side, and each lacks what the other one has; or this one was taken for the first.
  return believed.epoch === epoch || lostAtMs === 0;
}

/** A row as it may be believed: both odometers are at the end of the floor's tick at least. */
export function raisedTo(floorMs: number, row: WorkerRow): WorkerRow {
  if (floorMs === 0) return row;
  const raised = (odometer: Odometer): Odometer =>
    odometer.ms <= floorMs ? { ms: floorMs, sequence: Number.MAX_SAFE_INTEGER } : odometer;
  return { ...row, odometers: [raised(row.odometers[0]), raised(row.odometers[1])] };
}
