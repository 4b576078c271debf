import type { Lane, Odometer, WorkerRow } from '@raindrop/core';

/**
 * `held`: a process issues with it, or did a moment ago. `free`: given back, or never used. `expired`: its holder did not
 * give it back, and the grace is over. `foreign`: another program wrote it last. `used-up`: its odometers lie ahead of the
 * clock, so nobody can take it yet. `deleted`: an operator has marked it so.
 */
export type WorkerState = 'held' | 'free' | 'expired' | 'foreign' | 'used-up' | 'deleted';

/** The odometer says how far a lane was granted; `time` is null where nothing ever was. */
export interface WorkerOdometer {
  readonly time: Date | null;
  readonly sequence: number;
}

/** A worker id's row as a start of a service would judge it; without its token, which is nobody's but its holder's. */
export interface WorkerView {
  readonly workerId: number;
  readonly state: WorkerState;
  /** Who has it, or had it last; '' when nobody did. */
  readonly holder: string;
  /** How long the lease lasts without a renewal, ms, 0 within the grace; null when it is not held. */
  readonly leaseLeftMs: number | null;
  /** After how long without a renewal others may take it, ms; null when it is not held. */
  readonly graceLeftMs: number | null;
  readonly lane: Lane;
  /** Of both lanes. */
  readonly odometers: readonly [WorkerOdometer, WorkerOdometer];
  /** The fingerprint of its last holder's layout; '' when it was never used. */
  readonly layout: string;
  /** When it was last written; null when it never was. */
  readonly heartbeat: Date | null;
}

/**
 * A row of the worker table, for people.
 * @param nowMs by the clock of the database
 * @param graceMs how long after its end a lease is respected
 */
export function describeWorker(row: WorkerRow, nowMs: number, graceMs: number, isDeleted = false): WorkerView {
  const state = isDeleted ? 'deleted' : stateOf(row, nowMs, graceMs);
  const left = state === 'held' ? row.leaseUntilMs - nowMs : undefined;
  return {
    workerId: row.id,
    state,
    holder: row.holder,
    leaseLeftMs: left === undefined ? null : Math.max(left, 0),
    graceLeftMs: left === undefined ? null : left + graceMs,
    lane: row.lane,
    odometers: [viewOf(row.odometers[0]), viewOf(row.odometers[1])],
    layout: row.layout,
    heartbeat: row.code === '' ? null : momentOf(row.heartbeatMs),
  };
}

/** True of a row that another program than Raindrop wrote last: it only counts `version` up. */
export function isOfAnotherProgram({ code, ownVersion, version }: WorkerRow): boolean {
  return code !== '' && ownVersion !== version;
}

function stateOf(row: WorkerRow, nowMs: number, graceMs: number): WorkerState {
  // Before all else: a row that another program took from us still shows our lease.
  if (isOfAnotherProgram(row)) return 'foreign';
  const isTaken = row.token !== '';
  if (isTaken && nowMs < row.leaseUntilMs + graceMs) return 'held';
  if (aheadUntil(row) > nowMs) return 'used-up';
  return isTaken ? 'expired' : 'free';
}

/** The lower of the lanes' odometers; a layout without a clock-back bit has one lane. */
function aheadUntil({ layout, odometers }: WorkerRow): number {
  const hasTwoLanes = layout === '' || layout.includes('.b1.');
  return hasTwoLanes ? Math.min(odometers[0].ms, odometers[1].ms) : odometers[0].ms;
}

function viewOf({ ms, sequence }: Odometer): WorkerOdometer {
  return { time: momentOf(ms), sequence };
}

function momentOf(ms: number): Date | null {
  return ms <= 0 || ms > 8.64e15 ? null : new Date(ms);
}
