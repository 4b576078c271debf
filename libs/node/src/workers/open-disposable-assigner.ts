import type { WorkerIdAssigner } from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '../options/snowflake-options.js';
import { databaseOf } from '../database/application-database.js';
import { memoryTable } from '../database/memory-table.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { DisposableAssigner } from '../worker-node-table/disposable-assigner.js';
import { MemoryDisposableAssigner, type MemoryNodes } from '../worker-node-table/memory-disposable-assigner.js';

/**
 * A new worker id for each start, from a table in `dbConfig`'s database or the application's.
 * @throws ConfigurationError when there is no database; VolatileDatabaseError; UnsupportedDatabaseError
 */
export function openDisposableAssigner(
  options: ResolvedSnowflakeOptions,
  ofApplication: SqlDatabase | undefined,
): WorkerIdAssigner {
  const database = databaseOf(options, ofApplication);
  const { tableName, autoCreateTable, servicePort } = options;
  if (database === undefined) {
    return new MemoryDisposableAssigner(memoryTable('worker nodes', tableName, (): MemoryNodes => ({ last: 0 })));
  }
  const { opTimeoutMs } = options.lease;
  return new DisposableAssigner(database, {
    ...{ tableName, autoCreateTable, servicePort, opTimeoutMs },
  });
}
