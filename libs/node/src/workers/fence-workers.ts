import type { WorkerStore } from '@raindrop/core';
import { believedFromMs, sessionAgesOf, wallClock } from '@raindrop/core/internal';
import { resolveSnowflakeOptions } from '../options/resolve-options.js';
import type { SnowflakeModuleOptions } from '../options/service-options.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { systemPorts } from '../system/system-ports.js';
import { openReservingStore, reservingOf } from './open-worker-store.js';
import { isOfAnotherProgram } from './read-workers.js';

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
}

/**
 * Makes a worker table, or the rows of `redisWorkers()`, safe after it was restored from a backup or changed by hand
 * while processes went on issuing: then the odometers may lie behind IDs that were issued.
 *
 * It raises every odometer past all that a running process can have been granted, clears every token, and bars all rows
 * for `barredMs`, also rows that are added later. The holders lose their rows at their next renewal, and acquire anew
 * after that. No service calls this: it is for operators. Programs of the Go original know no odometer: stop them
 * first. Their rows rise as well, and are not counted as freed.
 *
 * @param options the module's own; where several services share the table, those with the longest `horizonMs` and
 * `maxClockSkewMs`
 * @param database the application's, where the options name no `dbConfig`
 * @throws ConfigurationError; ClockSkewError; DatabaseCallError when the table is missing or cannot be reached. Nothing was changed
 * then, unless the connection broke before the answer, or the answer took longer than `opTimeoutMs`; fencing twice does
 * no harm
 */
export async function fenceWorkers(options: SnowflakeModuleOptions, database?: SqlDatabase): Promise<WorkerFence> {
  const resolved = resolveSnowflakeOptions(options, wallClock.now());
  const ports = systemPorts('exact');
  const { lease } = resolved;
  const store = openReservingStore(reservingOf(resolved, 'keeps no odometers to fence'), {
    options: resolved,
    ports,
    database,
    warn: () => {},
    statementTimeoutMs: resolved.lease.opTimeoutMs,
  });
  try {
    const aheadMs = lease.maxClockSkewMs + lease.horizonMs;
    const rows = await store.fence(aheadMs);
    const { foreign, barredMs } = await lookAt(store, sessionAgesOf(lease).reachMs);
    return { rows: rows - (foreign ?? 0), foreign, barredMs: Math.max(barredMs, aheadMs) };
  } finally {
    await store.close();
  }
}

/** Nothing is known when a row cannot be read. The fence has succeeded by now, and an error here would say the contrary. */
async function lookAt(store: WorkerStore, usualMs: number): Promise<Pick<WorkerFence, 'foreign' | 'barredMs'>> {
  try {
    const table = await store.readTable();
    const barredMs = believedFromMs(table) - table.nowMs;
    return { foreign: table.rows.filter(isOfAnotherProgram).length, barredMs };
  } catch {
    return { foreign: null, barredMs: usualMs };
  }
}
