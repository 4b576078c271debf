import { maxPosition, type Lane, type PerLane, type Position } from '../generator/position.js';
import type { Layout } from '../layout/layout.js';
import type { WorkerRange } from '../layout/layout-usage.js';
import type { Randomness } from '../time/randomness.js';
import type { WorkerCensus } from './lease-errors.js';
import type { ResolvedLeaseOptions } from './lease-options.js';
import { isHeld } from './liveness.js';
import { isForeign } from './worker-rows.js';
import { positionOf } from './odometer.js';
import { usableLane, type Start } from './reservation.js';
import type { WorkerRow, WorkerTable } from './worker-store.js';

/** A row that may be acquired, and where its next tenure would start. */
export interface Candidate {
  readonly row: WorkerRow;
  readonly start: Start;
}

export interface Selection {
  /** In the order in which they should be tried. */
  readonly candidates: readonly Candidate[];
  readonly census: WorkerCensus;
}

export interface SelectionBasis {
  readonly layout: Layout;
  readonly workers: WorkerRange;
  readonly firstLane: Lane;
  readonly options: ResolvedLeaseOptions;
  /** This process's code. */
  readonly code: string;
  /** This host's clock. */
  readonly wallMs: number;
  /** Nothing up to here may be issued; see judgeLayouts. */
  readonly floor: Position;
  readonly randomness: Randomness;
}

/** How long after its last heartbeat a row of the original's programs is dead, and how far ahead they may have issued. */
const FOREIGN_DEAD_AFTER_MS = 120_000;
const FOREIGN_AHEAD_MS = 60_000;

/** Sorts a table's rows: those that are held, foreign or used up are counted, the others put into the order of trial. */
export function selectRows(table: Pick<WorkerTable, 'nowMs' | 'rows'>, basis: SelectionBasis): Selection {
  const { layout, workers, options } = basis;
  const rows = table.rows.filter(({ id }) => id >= workers.min && id <= workers.max && id <= layout.maxWorkerId);
  const [live, foreign, poisoned] = [[] as WorkerRow[], [] as WorkerRow[], [] as WorkerRow[]];
  const candidates: Candidate[] = [];
  for (const row of rows) {
    const isTaken = isHeld(row, table.nowMs, options.graceMs);
    // Taken from us by another program it is theirs, and for a while our holder's, who does not know yet.
    if (isForeign(row) && (isTaken || !isAdoptable(row, table.nowMs, basis))) {
      foreign.push(row);
      continue;
    }
    if (isTaken) {
      live.push(row);
      continue;
    }
    const start = startOn(row, basis);
    if (start === undefined) poisoned.push(row);
    else candidates.push({ row, start });
  }
  const ends = live.map((row) => row.leaseUntilMs + options.graceMs);
  const census: WorkerCensus = {
    total: rows.length,
    live: live.length,
    foreign: foreign.length,
    poisoned: poisoned.length,
    contended: 0,
    freeAtMs: ends.length > 0 ? Math.min(...ends) : undefined,
  };
  return { candidates: inOrder(candidates, basis), census };
}

function isAdoptable(row: WorkerRow, nowMs: number, { options, layout }: SelectionBasis): boolean {
  return options.adoptForeign && nowMs - row.heartbeatMs > FOREIGN_DEAD_AFTER_MS + layout.unitMs;
}

function startOn(row: WorkerRow, { layout, wallMs, firstLane, floor, options }: SelectionBasis): Start | undefined {
  const foreignEnd: Position | undefined = isForeign(row)
    ? { tick: layout.timeline.tickAt(row.heartbeatMs + FOREIGN_AHEAD_MS), sequence: layout.maxSequence }
    : undefined;
  const baseOf = (lane: Lane): Position => {
    const base = maxPosition(positionOf(row.odometers[lane], row, layout), floor);
    return foreignEnd === undefined ? base : maxPosition(base, foreignEnd);
  };
  const base: PerLane<Position> = [baseOf(0), baseOf(1)];
  const lane = usableLane(base, layout, wallMs, firstLane);
  if (lane === undefined) return undefined;
  const floorMs: PerLane<number> = [row.odometers[0].ms, row.odometers[1].ms];
  // Where a commit can be lost, so can the last holder's last grants: begin with the next tick. By now his lease is over,
  // whatever the row says of it: see leastGraceMs.
  const isUnclean = row.token !== '' && options.commitLossWindowMs > 0;
  if (!isUnclean) return { lane, base, floorMs };
  const endOfTick: Position = { tick: layout.timeline.tickAt(wallMs), sequence: layout.maxSequence };
  return {
    lane,
    base: [maxPosition(base[0], endOfTick), maxPosition(base[1], endOfTick)],
    // To whatever layout comes next, too.
    floorMs: [Math.max(floorMs[0], wallMs), Math.max(floorMs[1], wallMs)],
  };
}

/** Given back or never used first, then the longest expired; at random among equals, so that many starters spread. */
function inOrder(candidates: readonly Candidate[], { options, code, randomness }: SelectionBasis): Candidate[] {
  return candidates
    .map((candidate) => ({
      candidate,
      isOther: options.priorityEqualCodeWorkId && candidate.row.code === code ? 0 : 1,
      freeSince: candidate.row.token === '' ? 0 : candidate.row.leaseUntilMs,
      lot: randomness.fraction(),
    }))
    .sort((a, b) => a.isOther - b.isOther || a.freeSince - b.freeSince || a.lot - b.lot)
    .map(({ candidate }) => candidate);
}
