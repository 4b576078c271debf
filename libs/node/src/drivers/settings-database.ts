import { withAddresses } from '../database/addressed-connection.js';
import { isInMemory, placeOf } from '../database/application-database.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { sqliteDriverWarning, sqliteVersions } from '../database/sqlite-versions.js';
import { isFileDatabase, type SupportedDatabase } from '../database/supported-database.js';
import type { DatabaseSettings } from './database-settings.js';
import { mysqlDriver } from './mysql-driver.js';
import { postgresDriver } from './postgres-driver.js';
import { SqliteDriver } from './sqlite-driver.js';

/** Makes a database of several addresses: one for each of the settings, all of one type. */
export function settingsDatabases(settings: readonly DatabaseSettings[], configuredBy: string): SqlDatabase {
  return withAddresses(settings.map((each) => settingsDatabase(each, configuredBy)));
}

/**
 * Makes a database of one address. Its driver (`pg`, `mysql2`, `better-sqlite3` or `node:sqlite`) is loaded when the first
 * connection is opened.
 * @param configuredBy the option that holds the settings, for messages
 */
export function settingsDatabase(settings: DatabaseSettings, configuredBy: string): SqlDatabase {
  const { type, database, schema } = settings;
  const isFile = isFileDatabase(type);
  return {
    type,
    schema,
    configuredBy,
    place: placeOf(settings),
    isVolatile: isFile && isInMemory(database),
    warnings: () => (isFile ? sqliteDriverWarning(sqliteVersions(__filename)) : []),
    driver: (opTimeoutMs, sockets) => DRIVERS[type](settings, opTimeoutMs, sockets),
  };
}

const DRIVERS: Readonly<Record<SupportedDatabase, typeof mysqlDriver>> = {
  mysql: mysqlDriver,
  mariadb: mysqlDriver,
  postgres: postgresDriver,
  'better-sqlite3': (settings) => new SqliteDriver(settings),
};
