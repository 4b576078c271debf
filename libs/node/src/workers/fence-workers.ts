import { ConfigurationError, type Layout, showValue, type WorkerStore, type WorkerTable } from '@raindrop/core';
import { believedFromMs, DEFAULT_LAYOUT, sessionAgesOf, wallClock } from '@raindrop/core/internal';
import type { SqlDatabase } from '../database/sql-database.js';
import { type ResolvedSnowflakeOptions, resolveSnowflakeOptions } from '../options/resolve-options.js';
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
   * No other layout than that of these options has issued IDs which the rows of the store do not show. Then a layout of the
   * past, which the store knows, does not shut this one out. An earlier fence without this statement still does, until its
   * end. Default false.
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
   * How long no row can be acquired, ms. Example: 218,000 on MariaDB, 155,000 on SQLite, with the defaults. Layouts of a
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
 * after that. The layout of the options is remembered as one that has issued. No service calls
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
 * reached. Nothing was changed then, unless the connection broke before the answer, the answer took longer than
 * `opTimeoutMs`, or the database refused the rows, which are barred then; fencing twice does no harm
 */
export async function fenceWorkers(
  options: SnowflakeModuleOptions,
  database?: SqlDatabase,
  { issuedUntil, onlyThisLayout = false }: FenceStatements = {},
): Promise<WorkerFence> {
  const issuedUntilMs = timeOf(issuedUntil);
  const resolved = resolveSnowflakeOptions(options, wallClock.now());
  const ports = systemPorts('exact');
  const { lease } = resolved;
  if (onlyThisLayout && resolved.withLayout !== undefined) throw layoutUnnamed();
  const store = openReservingStore(reservingOf(resolved, 'keeps no odometers to fence'), {
    options: resolved,
    ports,
    database,
    warn: () => {},
    statementTimeoutMs: resolved.lease.opTimeoutMs,
  });
  try {
    const { maxClockSkewMs, horizonMs } = lease;
    const aheadMs = horizonMs + 3 * maxClockSkewMs;
    const rows = await store.fence({
      aheadMs,
      maxClockSkewMs,
      ...(onlyThisLayout && { servedAlone: resolved.layout.layout.fingerprint }),
      ...(issuedUntilMs !== undefined && { issuedUntilMs }),
    });
    const table = await readIfReadable(store);
    const hostNowMs = wallClock.now();
    const served = layoutThatServed(resolved, table);
    if (served !== undefined) await store.rememberLayout(served.fingerprint);
    const foreign = table?.rows.filter(isOfAnotherProgram).length ?? null;
    const barredMs = table === undefined ? sessionAgesOf(lease).reachMs : believedFromMs(table) - table.nowMs;
    return {
      rows: rows - (foreign ?? 0),
      foreign,
      barredMs: Math.max(barredMs, aheadMs),
      nowMs: table?.nowMs ?? null,
      hostNowMs,
    };
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

/**
 * The layout that a release with these options has issued with, where the store may not know it. Options that name none
 * take one that the store remembers, and the default one where it remembers none.
 */
function layoutThatServed(
  { layout, withLayout }: ResolvedSnowflakeOptions,
  table: WorkerTable | undefined,
): Layout | undefined {
  if (withLayout === undefined) return layout.layout;
  if (table === undefined) return undefined;
  const isRemembered = table.layouts.length > 0 || [...table.rows, ...table.deleted].some((row) => row.layout !== '');
  return isRemembered ? undefined : DEFAULT_LAYOUT;
}

/** Undefined when a row cannot be read. The fence has succeeded by now, and an error here would say the contrary. */
async function readIfReadable(store: WorkerStore): Promise<WorkerTable | undefined> {
  try {
    return await store.readTable();
  } catch {
    return undefined;
  }
}
