import { ConfigurationError, showValue, type WorkerStore } from '@raindrop/core';
import { believedFromMs, sessionAgesOf, wallClock } from '@raindrop/core/internal';
import type { SqlDatabase } from '../database/sql-database.js';
import { resolveSnowflakeOptions } from '../options/resolve-options.js';
import type { SnowflakeModuleOptions } from '../options/service-options.js';
import { systemPorts } from '../system/system-ports.js';
import { openReservingStore, reservingOf } from './open-worker-store.js';
import { isOfAnotherProgram } from './read-workers.js';

/** What an operator knows of a restore. Each is a statement on which uniqueness depends. */
export interface FenceStatements {
  /**
   * No process has issued an ID of a later time. Needed only where a fence refuses with CLOCK_BEHIND, because the store
   * has times that are later than its clock: a clock was ahead then. All rows are barred up to this time at least.
   */
  readonly issuedUntil?: Date;
  /**
   * Only the layout of these options has issued IDs since the backup. Then a layout of the past, which the store knows,
   * does not shut this one out. Default false.
   */
  readonly onlyThisLayout?: boolean;
}

/** The result of a fence. */
export interface WorkerFence {
  /** How many rows were freed. */
  readonly rows: number;
  /**
   * How many of all rows another program wrote last: a fence does not stop that program. Null when a row cannot be
   * read.
   */
  readonly foreign: number | null;
  /**
   * How long no row can be acquired, ms. Example: 218,000 on MariaDB, 95,000 on SQLite, with the defaults. Layouts of a
   * minute or coarser also wait for the end of the tick.
   */
  readonly barredMs: number;
  /** The store's clock, Unix ms: the fence is right if it is. Null when a row cannot be read. */
  readonly nowMs: number | null;
  /** This host's clock at the same moment, Unix ms. */
  readonly hostNowMs: number;
}

/**
 * Makes a worker table, or the rows of `redisWorkers()`, safe after it was restored from a backup or changed by hand
 * while processes went on issuing: then the odometers may lie behind IDs that were issued.
 *
 * It raises every odometer past all that a running process can have been granted, clears every token, and bars all rows
 * for `barredMs`, also rows that are added later. The holders lose their rows at their next renewal, and acquire anew
 * after that. The layout of the options, where they name one, is remembered as one that has issued. No service calls
 * this: it is for operators. Programs of the Go original know no odometer: stop them first. Their rows rise as well, and
 * are not counted as freed.
 *
 * Its sum holds if the store's clock is right. So that clock is compared with this host's, and with every time in the
 * store. What happened after the backup by a clock that is wrong now cannot be seen: check the clocks first.
 *
 * @param options the module's own; where several services share the table, those with the longest `horizonMs` and
 * `maxClockSkewMs`. If layouts have changed since the backup, fence once with the options of each release
 * @param database the application's, where the options name no `dbConfig`
 * @param statements what is known of the restore
 * @throws ConfigurationError; ClockSkewError; ClockBehindError; DatabaseCallError when the table is missing or cannot be
 * reached. Nothing was changed then, unless the connection broke before the answer, or the answer took longer than
 * `opTimeoutMs`; fencing twice does no harm
 */
export async function fenceWorkers(
  options: SnowflakeModuleOptions,
  database?: SqlDatabase,
  { issuedUntil, onlyThisLayout = false }: FenceStatements = {},
): Promise<WorkerFence> {
  const issuedUntilMs = timeOf(issuedUntil);
  const resolved = resolveSnowflakeOptions(options, wallClock.now());
  const ports = systemPorts('exact');
  const { lease, layout, withLayout } = resolved;
  if (onlyThisLayout && withLayout !== undefined) throw layoutUnnamed();
  const store = openReservingStore(reservingOf(resolved, 'keeps no odometers to fence'), {
    options: resolved,
    ports,
    database,
    warn: () => {},
    statementTimeoutMs: resolved.lease.opTimeoutMs,
  });
  try {
    const { maxClockSkewMs, horizonMs } = lease;
    const aheadMs = maxClockSkewMs + horizonMs;
    const rows = await store.fence({
      aheadMs,
      maxClockSkewMs,
      onlyThisLayout,
      ...(issuedUntilMs !== undefined && { issuedUntilMs }),
    });
    // Options that name no layout take the one that the store remembers.
    if (withLayout === undefined) await store.rememberLayout(layout.layout.fingerprint);
    const { foreign, barredMs, nowMs } = await lookAt(store, sessionAgesOf(lease).reachMs);
    const hostNowMs = wallClock.now();
    return { rows: rows - (foreign ?? 0), foreign, barredMs: Math.max(barredMs, aheadMs), nowMs, hostNowMs };
  } finally {
    await store.close();
  }
}

function timeOf(issuedUntil: Date | undefined): number | undefined {
  if (issuedUntil === undefined) return undefined;
  // Callers in JavaScript may give anything.
  const ms = (issuedUntil as unknown) instanceof Date ? issuedUntil.getTime() : Number.NaN;
  if (Number.isSafeInteger(ms) && ms >= 0) return ms;
  const message = 'must be a Date from 1970 on, such as new Date("2026-03-01T12:00:00Z")';
  throw new ConfigurationError([{ option: 'issuedUntil', given: showValue(issuedUntil), message }]);
}

function layoutUnnamed(): ConfigurationError {
  const message =
    'needs options that name a layout: startTimeStamp, timeUnit, timeStampLength, workIdLength, or layout. Nothing else ' +
    'tells which one has served since the backup';
  return new ConfigurationError([{ option: 'onlyThisLayout', given: 'true', message }]);
}

/** Nothing is known when a row cannot be read. The fence has succeeded by now, and an error here would say the contrary. */
async function lookAt(
  store: WorkerStore,
  usualMs: number,
): Promise<Pick<WorkerFence, 'foreign' | 'barredMs' | 'nowMs'>> {
  try {
    const table = await store.readTable();
    const { nowMs } = table;
    const barredMs = believedFromMs(table) - nowMs;
    return { foreign: table.rows.filter(isOfAnotherProgram).length, barredMs, nowMs };
  } catch {
    return { foreign: null, barredMs: usualMs, nowMs: null };
  }
}
