import { MemoryWorkerStore, MemoryWorkerTable, sessionAgesOf } from '@raindrop/core/internal';
import type { WorkerStore } from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '../options/snowflake-options.js';
import { databaseOf } from '../database/application-database.js';
import { memoryTable } from '../database/memory-table.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { SqlWorkerStore } from '../worker-table/sql-worker-store.js';

/**
 * The store of worker rows, on a connection of its own to `dbConfig`'s database or the application's.
 * @param now the clock of an in-memory database
 * @param statementTimeoutMs how long a server may take to answer a statement; left out by a lease keeper, which has
 * deadlines of its own
 * @throws ConfigurationError when there is no database; VolatileDatabaseError; UnsupportedDatabaseError
 */
export function openWorkerStore(
  options: ResolvedSnowflakeOptions,
  ofApplication: SqlDatabase | undefined,
  now: () => number,
  statementTimeoutMs?: number,
): WorkerStore {
  const database = databaseOf(options, ofApplication);
  const { tableName, autoCreateTable, foreignTimeZone } = options;
  if (database === undefined) {
    return new MemoryWorkerStore(
      memoryTable('workers', tableName, () => new MemoryWorkerTable()),
      now,
    );
  }
  const { opTimeoutMs, adoptForeign, sharedWithOriginal, maxClockSkewMs } = options.lease;
  return new SqlWorkerStore(database, {
    ...{ tableName, autoCreateTable, foreignTimeZone, opTimeoutMs, adoptForeign, sharedWithOriginal },
    maxClockSkewMs,
    ...sessionAgesOf(options.lease),
    ...(statementTimeoutMs !== undefined && { statementTimeoutMs }),
  });
}
