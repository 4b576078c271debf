import { RaindropError } from '@raindrop/core';
import {
  databaseOptionsOf,
  DatabaseCallError,
  DriverNotInstalledError,
  UnsupportedDatabaseError,
  type DatabaseConfig,
} from '@raindrop/nestjs';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { InputError } from '../input-error.js';
import { readMysqlKey } from './mysql-key.js';
import { pathOf, type OldKey, type Query } from './old-key.js';
import { readPostgresKey } from './postgres-key.js';
import { readSqliteKey } from './sqlite-key.js';

/**
 * Looks at a table's key and at what refers to it; changes nothing.
 * @throws InputError for a table or column that is not there; CommandFailedError for one that cannot hold IDs;
 * DatabaseCallError when the database is out of reach, or refuses
 */
export async function readOldKey(config: DatabaseConfig, table: string, column: string): Promise<OldKey> {
  const options = databaseOptionsOf(config);
  if (options === undefined) throw new InputError('--url must begin with mysql:, mariadb:, postgres: or sqlite:');
  const { type } = options;
  if (type !== 'postgres' && type !== 'better-sqlite3' && type !== 'mysql' && type !== 'mariadb') {
    throw new UnsupportedDatabaseError(type);
  }
  const path = pathOf(table);
  // The drivers would name it differently, or wait for minutes.
  const limit = type === 'postgres' ? { connectTimeoutMS: CONNECT_MS } : { connectTimeout: CONNECT_MS, poolSize: 1 };
  const dataSource = dataSourceOf({
    ...options,
    ...QUIET,
    ...(type === 'better-sqlite3' ? { fileMustExist: true } : limit),
  } as DataSourceOptions);
  try {
    await dataSource.initialize();
    const query: Query = (sql, values = []) => dataSource.query<Record<string, unknown>[]>(sql, [...values]);
    if (type === 'postgres') return await readPostgresKey(query, path, column);
    if (type === 'better-sqlite3') return await readSqliteKey(query, path, column);
    return await readMysqlKey(query, path, column, type);
  } catch (error) {
    // Of a driver's error only its words: it holds the statement, and may hold more.
    throw error instanceof RaindropError ? error : DatabaseCallError.from(error);
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
  }
}

function dataSourceOf(options: DataSourceOptions): DataSource {
  try {
    return new DataSource(options);
  } catch (error) {
    throw DriverNotInstalledError.from(error, options.type) ?? error;
  }
}

const CONNECT_MS = 10_000;

/** Whatever the file says: nothing is created, no entity is loaded. */
const QUIET = {
  ...{ synchronize: false, dropSchema: false, migrationsRun: false, logging: false },
  ...{ entities: [], subscribers: [], migrations: [] },
};
