import { believedFromMs, judgeLayouts, raiseOdometersTo, daysUntil } from '@raindrop/core/internal';
import {
  type Layout,
  type ResolvedLayout,
  type ResolvedLeaseOptions,
  type WorkerRange,
  type WorkerStore,
  type WorkerTable,
  ForeignTimeZoneError,
  LayoutConflictError,
} from '@raindrop/core';
import { describeWorker, SqlWorkerStore } from '@raindrop/node/internal';
import { DatabaseRefusedError, type WorkerState } from '@raindrop/node';
import { showDuration, showNumber } from '../io/text.js';

/** Clocks that NTP sets are nearer to each other than this, ms, besides the time of the database's answer. */
const NEAR_MS = 1_000;

const WAYS_OUT =
  'use a separate --table and another --end-value, adoptForeign: true if that program is retired, or ' +
  'sharedWithOriginal: true while it runs';

const RIGHTS =
  'grant the account SELECT, INSERT and UPDATE on all three tables, and with row level security a policy FOR ALL on each';

/** No row has this version and token: an UPDATE that expects them is executed, and changes nothing. */
const NO_HOLDER = { version: -1, token: 'raindrop doctor' };

const NOTHING = { ms: 0, sequence: -1 };

/** The result of one check. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warn' | 'fail';
  /** What was found. */
  readonly detail: string;
  /** What to do about it; undefined when all is well. */
  readonly remedy?: string | undefined;
}

export function ok(check: string, detail: string): Finding {
  return { check, state: 'ok', detail };
}

export function warn(check: string, detail: string, remedy: string): Finding {
  return { check, state: 'warn', detail, remedy };
}

export function fail(check: string, detail: string, remedy: string): Finding {
  return { check, state: 'fail', detail, remedy };
}

/**
 * Compares this host's clock with that of the database.
 * @param before this host's clock before the database was asked, Unix ms
 * @param after this host's clock after the answer
 */
export function checkClock(before: number, databaseMs: number, after: number, maxClockSkewMs: number): Finding {
  // The database read its clock at some moment in between.
  const offset = databaseMs < before ? before - databaseMs : Math.max(databaseMs - after, 0);
  const detail = `${showDuration(offset)} from the database's, ${showDuration(maxClockSkewMs)} are allowed`;
  const remedy = 'let NTP set the clocks of this host and of the database';
  if (offset > maxClockSkewMs) return fail('clock', detail, remedy);
  return offset > NEAR_MS ? warn('clock', detail, remedy) : ok('clock', detail);
}

/** Checks whether other programs, such as the Go original's, use the table, and whether the options consent to that. */
export async function checkForeign(
  store: WorkerStore,
  { rows, nowMs }: WorkerTable,
  { adoptForeign, sharedWithOriginal, graceMs }: ResolvedLeaseOptions,
): Promise<Finding> {
  const foreign = rows
    .filter((row) => describeWorker(row, nowMs, graceMs).state === 'foreign')
    .map(({ id }) => id)
    .sort((a, b) => a - b);
  const detail = `workers ${foreign.join(', ')} were last written by another program`;
  if (foreign.length > 0 && !adoptForeign) {
    return fail('other programs', `${detail}: no service starts`, WAYS_OUT);
  }
  if (foreign.length === 0 && !sharedWithOriginal) return ok('other programs', 'none');
  try {
    await store.checkForeignTimes?.();
  } catch (error) {
    if (!(error instanceof ForeignTimeZoneError)) throw error;
    return fail('other programs', error.message, 'see docs/coming-from/raindrop-go.md');
  }
  const consent = sharedWithOriginal ? 'sharedWithOriginal' : 'adoptForeign';
  return ok('other programs', foreign.length === 0 ? `none now (${consent})` : `${detail} (${consent})`);
}

/** Checks how long the layout lasts, and whether other layouts on the table can repeat its IDs. */
export function checkLayout(resolved: ResolvedLayout, table: WorkerTable, graceMs: number): Finding[] {
  return [checkLife(resolved, table), checkOthers(resolved.layout, table, graceMs)];
}

function checkLife({ layout, minLifetimeDays }: ResolvedLayout, { nowMs, layouts, rows }: WorkerTable): Finding {
  const { expiresAt } = layout;
  const days = daysUntil(expiresAt, nowMs);
  if (expiresAt === null || days === null) return ok('layout life', 'it ends beyond the year 275760');
  const detail = `${showNumber(days)} days left, until ${expiresAt.toISOString()}`;
  const remedy = 'plan the next layout: another value of the end bits, or a new table';
  if (days < 0) return fail('layout life', `it ended at ${expiresAt.toISOString()}: no service starts`, remedy);
  const wasUsed = layouts.length > 0 || rows.some(({ code }) => code !== '');
  if (days < minLifetimeDays && !wasUsed) {
    return fail(
      'layout life',
      `${detail}: a new table requires a layout that lasts at least ${minLifetimeDays} days`,
      remedy,
    );
  }
  return days < 365 ? warn('layout life', detail, remedy) : ok('layout life', detail);
}

/** Judges the layouts of the table as a start does: a conflict that refuses a start fails here. */
function checkOthers(layout: Layout, table: WorkerTable, graceMs: number): Finding {
  try {
    const floor = judgeLayouts(table, layout, graceMs);
    if (!Number.isFinite(floor.tick)) return ok('other layouts', 'none on this table that could repeat IDs');
    const last = new Date(layout.timeline.startOf(floor.tick)).toISOString();
    return ok('other layouts', `others issued here until ${last}: all new IDs are larger`);
  } catch (error) {
    if (!(error instanceof LayoutConflictError)) throw error;
    const { conflicts, clearsAtMs } = error;
    const list = conflicts.map(({ layout: other, workerIds }) =>
      workerIds.length > 0 ? `${other} (held by workers ${workerIds.join(', ')})` : `${other} (past)`,
    );
    const detail = `a start is refused: ${layout.fingerprint} could repeat IDs of ${list.join('; ')}`;
    const wait = clearsAtMs === undefined ? '' : `, or start after ${new Date(clearsAtMs).toISOString()}`;
    return fail('other layouts', detail, `return to the previous layout, or use another --end-value or --table${wait}`);
  }
}

/**
 * Checks whether the account may do what a start does. In a table it tries the statements in a transaction that it
 * rolls back, elsewhere by a write that finds no row. The table has been read before, so SELECT is allowed.
 */
export async function checkRights(
  store: WorkerStore,
  { rows }: WorkerTable,
  { workers, layout }: ResolvedLayout,
): Promise<Finding> {
  try {
    if (store instanceof SqlWorkerStore) {
      await store.tryStart(workers, layout.fingerprint);
      return ok('rights', 'the account may SELECT, UPDATE, INSERT');
    }
    await store.write({
      id: rows[0]?.id ?? 0,
      expected: NO_HOLDER,
      token: '',
      holder: '',
      layout: '',
      lane: 0,
      code: '',
      odometers: [NOTHING, NOTHING],
      timeUnit: 0,
      leaseMs: 0,
    });
    return ok('rights', 'the account may SELECT, UPDATE');
  } catch (error) {
    if (!(error instanceof DatabaseRefusedError)) throw error;
    return fail('rights', error.reason, RIGHTS);
  }
}

/** Checks whether the range has its rows, and whether enough of them can be acquired. */
export function checkTable(table: WorkerTable, workers: WorkerRange, graceMs: number, isShared = false): Finding[] {
  const size = workers.max - workers.min + 1;
  const isOurs = ({ id }: { readonly id: number }): boolean => id >= workers.min && id <= workers.max;
  const rows = [
    ...table.rows
      .filter(isOurs)
      .map((row) => describeWorker(raiseOdometersTo(believedFromMs(table), row), table.nowMs, graceMs)),
    ...table.deleted.filter(isOurs).map((row) => describeWorker(row, table.nowMs, graceMs, true)),
  ];
  const idsIn = (...states: WorkerState[]): number[] =>
    rows.filter(({ state }) => states.includes(state)).map(({ workerId }) => workerId);
  const [held, takable, barred] = [idsIn('held'), idsIn('free', 'expired'), idsIn('used-up', 'foreign')];
  const ofDatabase = rows.filter(({ state }) => state === 'database');
  return [
    judgeRows(rows.length, size, isShared),
    judgeUse(held.length, takable.length, rows.length),
    barred.length === 0
      ? ok('unusable rows', 'none')
      : warn(
          'unusable rows',
          `${barred.length}: workers ${shortList(barred)}`,
          'see raindrop workers: used-up rows become free by themselves, foreign ones two minutes after their programs end',
        ),
    ...ofDatabase.map(({ workerId, holder }) => ok('database ids', `worker ${workerId} issues by ${holder}()`)),
  ];
}

function judgeRows(present: number, size: number, isShared: boolean): Finding {
  if (present === size) return ok('rows', `all ${size} of the range`);
  const missing = `${size - present} of ${size} are missing`;
  if (isShared) return ok('rows', `${missing}: none is added, because the original would use it as well`);
  return warn('rows', missing, 'run raindrop init; a start adds them too');
}

function judgeUse(held: number, takable: number, total: number): Finding {
  const detail = `${held} held, ${takable} can be acquired, ${total} in all`;
  const remedy = 'widen the range of worker ids: twice as many as nodes';
  if (total > 0 && takable === 0) return fail('free workers', detail, remedy);
  return held * 2 > total ? warn('free workers', detail, remedy) : ok('free workers', detail);
}

function shortList(ids: readonly number[]): string {
  return ids.length > 8 ? `${ids.slice(0, 8).join(', ')}, ...` : ids.join(', ');
}
