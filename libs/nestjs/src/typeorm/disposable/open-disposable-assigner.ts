import type { WorkerIdAssigner } from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '../../snowflake.options.js';
import { databaseOf, memoryTable, type AppDataSource } from '../application-database.js';
import { DisposableAssigner } from './disposable-assigner.js';
import { MemoryDisposableAssigner, type MemoryNodes } from './memory-disposable-assigner.js';

/**
 * A new worker id for each start, from a table in `dbConfig`'s database or the application's.
 * @throws ConfigurationError when there is no database; VolatileDatabaseError; UnsupportedDatabaseError
 */
export function openDisposableAssigner(
  options: ResolvedSnowflakeOptions,
  dataSource: AppDataSource | undefined,
): WorkerIdAssigner {
  const database = databaseOf(options, dataSource);
  const { tableName, autoCreateTable, servicePort } = options;
  if (database === undefined) {
    return new MemoryDisposableAssigner(memoryTable('worker nodes', tableName, (): MemoryNodes => ({ last: 0 })));
  }
  const { configuredBy } = database;
  const { opTimeoutMs } = options.lease;
  return new DisposableAssigner(database.options, {
    ...{ tableName, autoCreateTable, servicePort, configuredBy, opTimeoutMs },
  });
}
