import { databaseOptionsOf, UnsupportedDatabaseError, type DatabaseConfig } from '@raindrop/nestjs';
import { DataSource } from 'typeorm';
import { InputError } from '../input-error.js';
import { readMysqlKey } from './mysql-key.js';
import { pathOf, type OldKey, type Query } from './old-key.js';
import { readPostgresKey } from './postgres-key.js';
import { readSqliteKey } from './sqlite-key.js';

/**
 * Looks at a table's key and at what refers to it; changes nothing.
 * @throws InputError for a table or column that is not there; CommandFailedError for one that cannot hold IDs
 */
export async function readOldKey(config: DatabaseConfig, table: string, column: string): Promise<OldKey> {
  const options = databaseOptionsOf(config);
  if (options === undefined) throw new InputError('--url must begin with mysql:, mariadb:, postgres: or sqlite:');
  const { type } = options;
  if (type !== 'postgres' && type !== 'better-sqlite3' && type !== 'mysql' && type !== 'mariadb') {
    throw new UnsupportedDatabaseError(type);
  }
  const dataSource = new DataSource({ ...options, ...QUIET });
  await dataSource.initialize();
  try {
    const query: Query = (sql, values = []) => dataSource.query<Record<string, unknown>[]>(sql, [...values]);
    const path = pathOf(table);
    if (type === 'postgres') return await readPostgresKey(query, path, column);
    if (type === 'better-sqlite3') return await readSqliteKey(query, path, column);
    return await readMysqlKey(query, path, column, type);
  } finally {
    await dataSource.destroy();
  }
}

/** Whatever the file says: nothing is created, no entity is loaded. */
const QUIET = {
  ...{ synchronize: false, dropSchema: false, migrationsRun: false, logging: false },
  ...{ entities: [], subscribers: [], migrations: [], fileMustExist: true },
};
