import type { Odometer, WorkerRow } from './worker-store.js';

/**
 * What a store says of the server that keeps its rows. A term lasts as long as the server is the primary, through restarts;
 * the one promoted in its place has another, and may lack what was acknowledged.
 */
export interface StoreTerm {
  /** The store's clock, Unix ms. */
  readonly nowMs: number;
  /** Of the server that answers; '' where nothing tells servers apart. */
  readonly term: string;
  /** Of the server on which the rows were last seen; undefined before the first. */
  readonly knownTerm: string | undefined;
  /** When a change of the server was last seen, Unix ms; 0 when there was none. */
  readonly lostAtMs: number;
  /** The longest that anybody's grants reach past that; see reachOf. */
  readonly reachMs: number;
}

/**
 * True when what was seen has to be written down before the rows are believed: another server, a longer reach of ours, or
 * a server that may lack the rows and layouts we know of.
 * @param ownTerm that of the server that answered us last; undefined before the first
 */
export function mustNote(seen: StoreTerm, ownReachMs: number, ownTerm: string | undefined): boolean {
  if ((seen.knownTerm ?? '') === '' && seen.term === '') return false;
  return seen.knownTerm !== seen.term || seen.reachMs < ownReachMs || (ownTerm ?? seen.term) !== seen.term;
}

/** Up to when no odometer is believed, Unix ms; 0 when nothing was lost. */
export function floorOf({ nowMs, term, knownTerm, lostAtMs, reachMs }: StoreTerm, ownReachMs: number): number {
  const lostMs = (knownTerm ?? '') !== '' && knownTerm !== term ? nowMs : lostAtMs;
  return lostMs === 0 ? 0 : lostMs + Math.max(reachMs, ownReachMs);
}

/** Whether the change of a server is one that nobody has written down yet. @param ownTerm see mustNote */
export function isUnseenLoss(seen: StoreTerm, ownTerm: string | undefined): boolean {
  if (seen.knownTerm !== undefined && seen.knownTerm !== '' && seen.knownTerm !== seen.term) return true;
  // We know of one that its own memory has lost.
  return seen.lostAtMs === 0 && ownTerm !== undefined && ownTerm !== seen.term;
}

/** A row as it may be believed: both odometers are at the end of the floor's tick at least. */
export function raisedTo(floorMs: number, row: WorkerRow): WorkerRow {
  if (floorMs === 0) return row;
  const raised = (odometer: Odometer): Odometer =>
    odometer.ms <= floorMs ? { ms: floorMs, sequence: Number.MAX_SAFE_INTEGER } : odometer;
  return { ...row, odometers: [raised(row.odometers[0]), raised(row.odometers[1])] };
}
