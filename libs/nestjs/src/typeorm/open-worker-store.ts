import type { DataSource, DataSourceOptions } from 'typeorm';
import {
  ConfigurationError,
  MemoryWorkerStore,
  MemoryWorkerTable,
  RaindropError,
  type WorkerStore,
} from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '../snowflake.options.js';
import { isVolatile } from './worker-store/lease-data-source.js';
import { TypeormWorkerStore } from './worker-store/typeorm-worker-store.js';

/** The application's own database connection. */
export type AppDataSource = DataSource;

/** The worker table would live in memory, where other processes cannot see it. */
export class VolatileDatabaseError extends RaindropError {
  readonly errorCode = 'VOLATILE_DATABASE';

  constructor(readonly type: string) {
    super(
      `The DataSource (type '${type}') lives in memory: worker ids kept there are known to this process alone, and a ` +
        `second process would repeat its IDs. Use a file or a server, give dbConfig, or say allowVolatile: true for tests.`,
      { retryable: false },
    );
  }
}

/**
 * The worker tables of in-memory databases, by table name. They belong to the process, not to a module or a DataSource:
 * two of them with one name must not hand out the same worker, nor must two copies of this package.
 */
const memoryTables: Map<string, MemoryWorkerTable> = ((globalThis as Record<symbol, unknown>)[
  Symbol.for('@raindrop/nestjs:memory-tables')
] ??= new Map()) as Map<string, MemoryWorkerTable>;

/**
 * The store of worker rows, on a connection of its own to `dbConfig`'s database or the application's.
 * @param now the clock of an in-memory database
 * @throws ConfigurationError when there is no database; VolatileDatabaseError; UnsupportedDatabaseError
 */
export function openWorkerStore(
  options: ResolvedSnowflakeOptions,
  appDataSource: AppDataSource | undefined,
  now: () => number,
): WorkerStore {
  const database = databaseOf(options, appDataSource);
  if (!isVolatile(database)) {
    const { tableName, autoCreateTable, foreignTimeZone, dbConfig, lease } = options;
    const { opTimeoutMs } = lease;
    const configuredBy = dbConfig === undefined ? "the DataSource's options" : 'dbConfig';
    const storeOptions = { tableName, autoCreateTable, foreignTimeZone, configuredBy, opTimeoutMs };
    return new TypeormWorkerStore(database, storeOptions);
  }
  if (!options.allowVolatile) throw new VolatileDatabaseError(database.type);
  const table = memoryTables.get(options.tableName) ?? new MemoryWorkerTable();
  memoryTables.set(options.tableName, table);
  return new MemoryWorkerStore(table, now);
}

function databaseOf({ dbConfig }: ResolvedSnowflakeOptions, appDataSource?: AppDataSource): DataSourceOptions {
  if (dbConfig !== undefined) return dbConfig;
  if (appDataSource !== undefined) return appDataSource.options;
  const message =
    "is needed: there is no TypeORM DataSource. Import TypeOrmModule.forRoot(...), name yours with dataSource: '...', or give dbConfig";
  throw new ConfigurationError([{ option: 'dbConfig', given: 'undefined', message }]);
}
