import { comparePositions, type Lane, type PerLane, type Position } from '../generator/tenure.js';
import type { ResolvedLayout } from '../layout/layout-options.js';
import type { RaindropError } from '../raindrop-error.js';
import { NoFreeWorkerError, NoRowForPastError, type WorkerCensus } from './lease-errors.js';
import type { ResolvedLeaseOptions } from './lease-options.js';
import { type Grant, laneBelow, type Reservation, type StartPoint, usableLane } from './reservation.js';
import type { WorkerRow } from './worker-store.js';

/** A stretch of the past, both ends included, Unix ms. */
export interface PastRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A row that may be acquired, and where the next lease of it would start. */
export interface Candidate {
  readonly row: WorkerRow;
  readonly start: StartPoint;
}

/** A free row, before a lane is chosen. */
export interface FreeRow extends Omit<StartPoint, 'lane'> {
  /**
   * How far the row says that it was used. Where commits can be lost, `base` adds the rest of the present tick: a holder
   * that did not give the row back may have issued it.
   */
  readonly known: PerLane<Position>;
}

/** What was read of the rows when none could be acquired. */
export interface Findings {
  /** Those that were tried: other processes were faster. */
  readonly candidates: readonly Candidate[];
  /** The free ones that the policy does not use. */
  readonly ahead: readonly FreeRow[];
  /** The rows of our range, counted. */
  readonly census: WorkerCensus;
  /** How long the store bars all rows, to the end of the barred moment's tick, by this host's clock, ms. */
  readonly barredForMs: number;
  /** Up to when the store may have lost grants, or was fenced, Unix ms; 0 when it was neither. */
  readonly lostUntilMs: number;
}

/** The four questions that a start of a service and a backfill answer differently when they acquire a row. */
export interface RowPolicy {
  /**
   * Which rows? A few free rows do for a start, where no option says that it needs all; see `readSample`. A backfill
   * needs all: what is believed of the past depends on every row.
   */
  readonly mayReadSample: boolean;
  /** Which lane of a row? Undefined where the row has none to issue on: it is not used then. */
  laneOf(row: FreeRow, wallMs: number): Lane | undefined;
  /** In which order? Negative when `a` is tried before `b`; 0 where the common order decides: see `byFreeSince`. */
  compare(a: Candidate, b: Candidate): number;
  /** What to grant? */
  grant(reservation: Reservation, start: StartPoint, wallMs: number): Grant;
  /**
   * What to refuse? Called when a row was acquired, and other layouts may have issued up to `othersEnd` meanwhile.
   * @throws the refusal
   */
  refuseLayouts(othersEnd: Position): void;
  /** What to say when no row could be acquired. */
  refusal(findings: Findings): RaindropError;
}

/** A start: any row whose odometer is below the present, up to the horizon. */
export function startPolicy({ layout, firstLane }: ResolvedLayout, options: ResolvedLeaseOptions): RowPolicy {
  const { priorityEqualCodeWorkId, sharedWithOriginal, horizonMs } = options;
  return {
    mayReadSample: !priorityEqualCodeWorkId && !sharedWithOriginal,
    laneOf: ({ known }, wallMs) => usableLane(known, layout, wallMs, firstLane),
    compare: () => 0,
    grant: (reservation, start, wallMs) => reservation.firstGrant(start, { nowMs: wallMs, horizonMs }),
    // Its first position comes after them.
    refuseLayouts: () => {},
    refusal: noFreeWorker,
  };
}

/**
 * A backfill: a row with a lane that was never granted a position at or after `fromMs`, up to the end of the tick of
 * `toMs`. It tries the row first that is used the furthest: the others can issue at earlier times. Example: for March
 * 2024 a row used until February comes before one that was never used.
 */
export function backfillPolicy({ layout, firstLane }: ResolvedLayout, { fromMs, toMs }: PastRange): RowPolicy {
  const { timeline, hasClockBack } = layout;
  const first: Position = { tick: timeline.tickAt(fromMs), sequence: 0 };
  const usedUntil = ({ start }: Candidate): number => start.base[start.lane].tick;
  return {
    mayReadSample: false,
    laneOf: ({ base }) => laneBelow(base, layout, first, firstLane),
    compare: (a, b) => usedUntil(b) - usedUntil(a),
    grant: (reservation, start) => reservation.pastGrant(start, toMs),
    refuseLayouts: (othersEnd) => {
      if (comparePositions(othersEnd, first) < 0) return;
      throw new NoRowForPastError(fromMs, undefined, timeline.startOf(othersEnd.tick + 1));
    },
    refusal: (findings) => {
      const { candidates, ahead, census, lostUntilMs } = findings;
      if (candidates.length > 0) return noFreeWorker(findings);
      const ends = ahead.flatMap(({ base: [a, b] }) => (hasClockBack ? [a.tick, b.tick] : [a.tick]));
      const lowestMs = timeline.startOf(Math.min(...ends) + 1);
      return new NoRowForPastError(fromMs, census, lowestMs <= toMs ? lowestMs : undefined, lostUntilMs);
    },
  };
}

function noFreeWorker({ census, candidates, barredForMs }: Findings): NoFreeWorkerError {
  return new NoFreeWorkerError({ ...census, contended: candidates.length }, barredForMs);
}
