import type { WorkerStore } from '@raindrop/core';
import { wallClock } from '@raindrop/core/internal';
import { resolveSnowflakeOptions } from '../options/resolve-options.js';
import type { SnowflakeModuleOptions } from '../options/service-options.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { systemPorts } from '../system/system-ports.js';
import { openReservingStore, reservingOf } from './open-worker-store.js';
import { isOfAnotherProgram } from './read-workers.js';

/** The report says what a fence has done. */
export interface WorkerFence {
  /** How many rows were freed. */
  readonly rows: number;
  /** How many of all rows another program wrote last: no fence stops it. Null when a row cannot be read. */
  readonly foreign: number | null;
  /** How long no row can be acquired, ms; units of a minute or more also wait for the end of that tick. */
  readonly barredMs: number;
}

/**
 * Makes a worker table, or what `redisWorkers()` keeps, safe whose odometers cannot be believed: one restored from a
 * backup, or changed by hand, while processes went on issuing. Every odometer rises past all that a running process can
 * have been granted, and every token is cleared: holders lose their rows at their next renewal and acquire anew once the
 * clock has got there.
 *
 * One statement, for operators; nothing in Raindrop calls it. Programs of the Go original know no odometer: stop them.
 * Their rows rise as well, and are not counted as freed.
 *
 * @param options the module's own; where several services share the table, those with the longest `horizonMs` and
 * `maxClockSkewMs`
 * @param database the application's, where the options name no `dbConfig`
 * @throws ConfigurationError; DatabaseCallError when the table is missing or out of reach: nothing was changed then,
 * unless the connection broke before the answer, or that took longer than `opTimeoutMs`; fencing twice does no harm
 */
export async function fenceWorkers(options: SnowflakeModuleOptions, database?: SqlDatabase): Promise<WorkerFence> {
  const resolved = resolveSnowflakeOptions(options, wallClock.now());
  const ports = systemPorts('exact');
  const barredMs = resolved.lease.maxClockSkewMs + resolved.lease.horizonMs;
  const store = openReservingStore(reservingOf(resolved, 'keeps no odometers that could be fenced'), {
    options: resolved,
    ports,
    database,
    warn: () => {},
    statementTimeoutMs: resolved.lease.opTimeoutMs,
  });
  try {
    const rows = await store.fence(barredMs);
    const foreign = await countForeign(store);
    return { rows: rows - (foreign ?? 0), foreign, barredMs };
  } finally {
    await store.close();
  }
}

/** The fence has succeeded by now: what cannot be read must not make it look as if it had not. */
async function countForeign(store: WorkerStore): Promise<number | null> {
  try {
    return (await store.readTable()).rows.filter(isOfAnotherProgram).length;
  } catch {
    return null;
  }
}
