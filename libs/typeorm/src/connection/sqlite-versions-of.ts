import { sqliteVersions } from '@raindrop/node/internal';
import type { SqliteVersions } from '@raindrop/node';
import type { DataSourceOptions } from 'typeorm';

/**
 * The versions in use by a DataSource with these options, found without loading the driver; undefined when it uses
 * another database, brings a driver of its own, or nothing is found, as in a bundle.
 */
export function sqliteVersionsOf(options: DataSourceOptions): SqliteVersions | undefined {
  if (options.type !== 'better-sqlite3' || options.driver !== undefined) return undefined;
  try {
    // As TypeORM resolves it.
    return sqliteVersions(require.resolve('typeorm'));
  } catch {
    return undefined;
  }
}
