import { ConfigurationError, RaindropError } from '@raindrop/core';
import type { DataSource, DataSourceOptions } from 'typeorm';
import type { ResolvedCommonOptions } from '../options/common-options.js';
import { isVolatile } from './database/own-data-source.js';

/** The application's own database connection. */
export type AppDataSource = DataSource;

/** The table would live in memory, where other processes cannot see it. */
export class VolatileDatabaseError extends RaindropError {
  readonly errorCode = 'VOLATILE_DATABASE';

  constructor(readonly type: string) {
    super(
      `The DataSource (type '${type}') lives in memory: what is kept there is known to this process alone, and a second ` +
        `process would repeat its IDs. Use a file or a server, give dbConfig, or say allowVolatile: true for tests.`,
      { retryable: false },
    );
  }
}

/** A database that other processes see, and where it was named; undefined for one in memory that is accepted. */
export interface NamedDatabase {
  readonly options: DataSourceOptions;
  readonly configuredBy: string;
}

/**
 * The database of a service: `dbConfig`'s, or that of the application.
 * @throws ConfigurationError when there is none; VolatileDatabaseError
 */
export function databaseOf(
  { dbConfig, allowVolatile }: Pick<ResolvedCommonOptions, 'dbConfig' | 'allowVolatile'>,
  appDataSource: AppDataSource | undefined,
): NamedDatabase | undefined {
  const options = dbConfig ?? appDataSource?.options;
  if (options === undefined) {
    const message =
      "is needed: there is no TypeORM DataSource. Import TypeOrmModule.forRoot(...), name yours with dataSource: '...', or give dbConfig";
    throw new ConfigurationError([{ option: 'dbConfig', given: 'undefined', message }]);
  }
  if (!isVolatile(options)) {
    return { options, configuredBy: dbConfig === undefined ? "the DataSource's options" : 'dbConfig' };
  }
  if (!allowVolatile) throw new VolatileDatabaseError(options.type);
  return undefined;
}

/** Of this process, not of a module or a DataSource: two of them, or two copies of this package, share one table. */
const memoryTables: Map<string, unknown> = ((globalThis as Record<symbol, unknown>)[
  Symbol.for('@raindrop/nestjs:memory-tables')
] ??= new Map()) as Map<string, unknown>;

/** The table of this kind and name in place of one in an in-memory database. */
export function memoryTable<Table>(kind: string, name: string, make: () => Table): Table {
  const key = `${kind} ${name}`;
  const table = (memoryTables.get(key) as Table | undefined) ?? make();
  memoryTables.set(key, table);
  return table;
}
