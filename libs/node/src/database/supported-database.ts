import { PermanentError } from '@raindrop/core/internal';
import type { Dialect } from './dialect.js';
import { mysqlDialect } from './mysql-dialect.js';
import { postgresDialect } from './postgres-dialect.js';
import { sqliteDialect } from './sqlite-dialect.js';

/** The types, in TypeORM's words, whose databases can keep worker ids and numbers. */
export const SUPPORTED_DATABASES = ['mysql', 'mariadb', 'postgres', 'better-sqlite3'] as const;

/** The types of databases that Raindrop works with. */
export type SupportedDatabase = (typeof SUPPORTED_DATABASES)[number];

/** Worker ids and numbers cannot be kept in this database. */
export class UnsupportedDatabaseError extends PermanentError {
  static override readonly name = 'UnsupportedDatabaseError';
  readonly errorCode = 'UNSUPPORTED_DATABASE';

  constructor(
    /** The database's `type`. */
    readonly type: string,
    reason = `A database of type '${type}' cannot store worker ids and numbers`,
  ) {
    super(
      `${reason}. Supported are ${SUPPORTED_DATABASES.map((each) => `'${each}'`).join(', ')}: use one of them in ` +
        `dbConfig, or another workerIdAssigner.`,
    );
  }
}

export function isSupportedDatabase(type: unknown): type is SupportedDatabase {
  return SUPPORTED_DATABASES.some((each) => each === type);
}

const DIALECTS: Readonly<Record<SupportedDatabase, (zone: string) => Dialect>> = {
  mysql: mysqlDialect,
  mariadb: mysqlDialect,
  postgres: () => postgresDialect,
  'better-sqlite3': () => sqliteDialect,
};

/** @throws UnsupportedDatabaseError; ConfigurationError when the `zone`, which only MySQL has a use for, is no offset */
export function dialectOf(type: string, zone = '+00:00'): Dialect {
  if (!isSupportedDatabase(type)) throw new UnsupportedDatabaseError(type);
  return DIALECTS[type](zone);
}

/** Whether a driver's code and words say that a table or a column is not there. Each database has codes of its own. */
export function saysGoneAnywhere(driverCode: string, reason: string): boolean {
  return SUPPORTED_DATABASES.some((type) => dialectOf(type).isGone(driverCode, reason));
}

/** Whether a database of this type is a file that the process itself opens; false for types that are not supported. */
export function isFileDatabase(type: unknown): boolean {
  return isSupportedDatabase(type) && !dialectOf(type).hasServers;
}
