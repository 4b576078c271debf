import { MemoryWorkerStore, MemoryWorkerTable, type WorkerStore } from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '../snowflake.options.js';
import { databaseOf, memoryTable, type AppDataSource } from './application-database.js';
import { TypeormWorkerStore } from './worker-store/typeorm-worker-store.js';

/**
 * The store of worker rows, on a connection of its own to `dbConfig`'s database or the application's.
 * @param now the clock of an in-memory database
 * @param statementTimeoutMs how long a server may take to answer a statement; left out by a lease keeper, which has
 * deadlines of its own
 * @throws ConfigurationError when there is no database; VolatileDatabaseError; UnsupportedDatabaseError
 */
export function openWorkerStore(
  options: ResolvedSnowflakeOptions,
  appDataSource: AppDataSource | undefined,
  now: () => number,
  statementTimeoutMs?: number,
): WorkerStore {
  const database = databaseOf(options, appDataSource);
  const { tableName, autoCreateTable, foreignTimeZone } = options;
  if (database === undefined) {
    return new MemoryWorkerStore(
      memoryTable('workers', tableName, () => new MemoryWorkerTable()),
      now,
    );
  }
  const { configuredBy } = database;
  const { opTimeoutMs, adoptForeign, sharedWithOriginal } = options.lease;
  return new TypeormWorkerStore(database.options, {
    ...{ tableName, autoCreateTable, foreignTimeZone, configuredBy, opTimeoutMs, adoptForeign, sharedWithOriginal },
    ...(statementTimeoutMs !== undefined && { statementTimeoutMs }),
  });
}
