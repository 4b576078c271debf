import { believedFromMs, holderWithoutMark, isOfDatabase, raiseOdometersTo, wallClock } from '@raindrop/core/internal';
import type { Lane, Odometer, WorkerRow } from '@raindrop/core';
import { resolveSnowflakeOptions } from '../options/resolve-options.js';
import type { SnowflakeModuleOptions } from '../options/service-options.js';
import { systemPorts } from '../system/system-ports.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { openReservingStore, reservingOf } from './open-worker-store.js';

/**
 * The state of a worker id. `held`: a process issues with it, or its lease ended less than `graceMs` ago. `free`: given
 * back, or never used. `expired`: its holder did not give it back, and the grace is over. `foreign`: another program
 * wrote the row last. `used-up`: its odometers lie ahead of the clock, so no process can acquire it yet. `deleted`: an
 * operator has marked the row so. `database`: a function of PostgreSQL issues with it, see `databaseIdSql()`.
 */
export type WorkerState = 'held' | 'free' | 'expired' | 'foreign' | 'used-up' | 'deleted' | 'database';

/** How far a lane was granted; `time` is null when it never was, and for lane 0 of a row of the database's. */
export interface WorkerOdometer {
  readonly time: Date | null;
  readonly sequence: number;
}

/** A worker's row as a starting service judges it. The token is left out: only its holder may know it. */
export interface WorkerView {
  readonly workerId: number;
  readonly state: WorkerState;
  /** Host and process that hold the id, or held it last; the function that issues with it; '' when it was never held. */
  readonly holder: string;
  /** How long the lease lasts without a renewal, ms, 0 within the grace; null when it is not held. */
  readonly leaseLeftMs: number | null;
  /** After how long without a renewal other processes may acquire it, ms; null when it is not held. */
  readonly graceLeftMs: number | null;
  readonly lane: Lane;
  /** One for each lane. */
  readonly odometers: readonly [WorkerOdometer, WorkerOdometer];
  /** The fingerprint of its last holder's layout; '' when it was never used. */
  readonly layout: string;
  /** When it was last written; null when it never was. */
  readonly heartbeat: Date | null;
}

/** All worker ids at one moment. */
export interface WorkersView {
  /** The time of the database, or of Redis. */
  readonly nowMs: number;
  /** In the order of their ids, with the rows that are marked deleted. */
  readonly workers: readonly WorkerView[];
}

/**
 * Tells which process holds which worker id, how long its lease lasts, and how far the id is used. It reads the worker
 * table, or the rows of `redisWorkers()`, once, on a connection of its own, and changes nothing.
 *
 * The rows are judged by the lease options given here, also rows of a process with other options: its `graceMs`, for
 * example, is not known.
 *
 * @param options the module's own
 * @param database the application's, where the options name no `dbConfig`
 * @throws ConfigurationError; DatabaseCallError when the table is missing or cannot be reached, or the answer
 * takes longer than `opTimeoutMs`
 */
export async function readWorkers(options: SnowflakeModuleOptions, database?: SqlDatabase): Promise<WorkersView> {
  const resolved = resolveSnowflakeOptions(options, wallClock.now());
  const use = reservingOf(resolved, 'keeps no rows to read');
  const ports = systemPorts('exact');
  const statementTimeoutMs = resolved.lease.opTimeoutMs;
  const store = openReservingStore(use, { options: resolved, ports, database, warn: () => {}, statementTimeoutMs });
  try {
    const table = await store.readTable();
    const { nowMs, rows, deleted } = table;
    const { graceMs } = resolved.lease;
    const untilMs = believedFromMs(table);
    const workers = [
      ...rows.map((row) => describeWorker(raiseOdometersTo(untilMs, row), nowMs, graceMs)),
      ...deleted.map((row) => describeWorker(raiseOdometersTo(untilMs, row), nowMs, graceMs, true)),
    ];
    return { nowMs, workers: workers.sort((a, b) => a.workerId - b.workerId) };
  } finally {
    await store.close();
  }
}

/**
 * Describes a row of the worker table.
 * @param nowMs the time of the database
 * @param graceMs how long after its end a lease is respected
 */
export function describeWorker(row: WorkerRow, nowMs: number, graceMs: number, isDeleted = false): WorkerView {
  const state = isDeleted ? (isOfDatabase(row) ? 'database' : 'deleted') : stateOf(row, nowMs, graceMs);
  const left = state === 'held' ? row.leaseUntilMs - nowMs : undefined;
  return {
    workerId: row.id,
    state,
    holder: holderWithoutMark(row.holder),
    leaseLeftMs: left === undefined ? null : Math.max(left, 0),
    graceLeftMs: left === undefined ? null : left + graceMs,
    lane: row.lane,
    odometers: [state === 'database' ? viewOf(UNUSED) : viewOf(row.odometers[0]), viewOf(row.odometers[1])],
    layout: row.layout,
    heartbeat: row.code === '' ? null : momentOf(row.heartbeatMs),
  };
}

/** True when another program wrote the row last: it raises `version`, and does not know `ownVersion`. */
export function isOfAnotherProgram({ code, ownVersion, version }: WorkerRow): boolean {
  return code !== '' && ownVersion !== version;
}

function stateOf(row: WorkerRow, nowMs: number, graceMs: number): WorkerState {
  // This comes first: a row that another program has taken still shows the lease of its last Raindrop holder.
  if (isOfAnotherProgram(row)) return 'foreign';
  const isTaken = row.token !== '';
  if (isTaken && nowMs < row.leaseUntilMs + graceMs) return 'held';
  if (aheadUntil(row) > nowMs) return 'used-up';
  return isTaken ? 'expired' : 'free';
}

/** The lower odometer of the two lanes; a layout without a clock-back bit has one lane. */
function aheadUntil({ layout, odometers }: WorkerRow): number {
  const hasTwoLanes = layout === '' || layout.includes('.b1.');
  return hasTwoLanes ? Math.min(odometers[0].ms, odometers[1].ms) : odometers[0].ms;
}

/** The sequence of the database tells how far it has come, and not the odometer, which is at the end of time. */
const UNUSED: Odometer = { ms: 0, sequence: -1 };

function viewOf({ ms, sequence }: Odometer): WorkerOdometer {
  return { time: momentOf(ms), sequence };
}

function momentOf(ms: number): Date | null {
  return ms <= 0 || ms > 8.64e15 ? null : new Date(ms);
}
