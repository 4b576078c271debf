import { raiseOdometersTo, wallClock } from '@raindrop/core/internal';
import type { Lane, Odometer, WorkerRow } from '@raindrop/core';
import { resolveSnowflakeOptions } from '../options/resolve-options.js';
import type { SnowflakeModuleOptions } from '../options/service-options.js';
import { systemPorts } from '../system/system-ports.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { openReservingStore, reservingOf } from './open-worker-store.js';

/** All worker ids at one moment. */
export interface WorkersView {
  /** By the clock of the database, or of Redis. */
  readonly nowMs: number;
  /** By id, those marked deleted too. */
  readonly workers: readonly WorkerView[];
}

/**
 * Tells who holds which worker id, how long the leases last, and how far each is used. It reads the worker table, or
 * what `redisWorkers()` keeps, once, on a connection of its own, and changes nothing.
 *
 * Processes that share the table with other lease options than these are judged by these: a longer `graceMs` of theirs
 * is not known here.
 *
 * @param options the module's own
 * @param database the application's, where the options name no `dbConfig`
 * @throws ConfigurationError; DatabaseCallError when the table is missing or out of reach, or the answer
 * takes longer than `opTimeoutMs`
 */
export async function readWorkers(options: SnowflakeModuleOptions, database?: SqlDatabase): Promise<WorkersView> {
  const resolved = resolveSnowflakeOptions(options, wallClock.now());
  const use = reservingOf(resolved, 'keeps no rows that could be read');
  const ports = systemPorts('exact');
  const statementTimeoutMs = resolved.lease.opTimeoutMs;
  const store = openReservingStore(use, { options: resolved, ports, database, warn: () => {}, statementTimeoutMs });
  try {
    const { nowMs, rows, deleted, floorMs = 0 } = await store.readTable();
    const { graceMs } = resolved.lease;
    const workers = [
      ...rows.map((row) => describeWorker(raiseOdometersTo(floorMs, row), nowMs, graceMs)),
      ...deleted.map((row) => describeWorker(raiseOdometersTo(floorMs, row), nowMs, graceMs, true)),
    ];
    return { nowMs, workers: workers.sort((a, b) => a.workerId - b.workerId) };
  } finally {
    await store.close();
  }
}

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
