import { raisedTo, wallClock } from '@raindrop/core/internal';
import { resolveSnowflakeOptions, type SnowflakeModuleOptions } from '../options/snowflake-options.js';
import { systemPorts } from '../system/system-ports.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { openReservingStore } from './open-reserving-store.js';
import { describeWorker, type WorkerView } from './describe-worker.js';
import { reservingOf } from './reserving-of.js';

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
      ...rows.map((row) => describeWorker(raisedTo(floorMs, row), nowMs, graceMs)),
      ...deleted.map((row) => describeWorker(raisedTo(floorMs, row), nowMs, graceMs, true)),
    ];
    return { nowMs, workers: workers.sort((a, b) => a.workerId - b.workerId) };
  } finally {
    await store.close();
  }
}
