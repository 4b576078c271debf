import { databaseSettingsOf } from '@raindrop/nestjs';

/** The database, as TypeORM's options name it. */
export type ServiceDatabase =
  | { readonly type: 'better-sqlite3'; readonly database: string }
  | { readonly type: 'mysql' | 'mariadb' | 'postgres'; readonly url: string };

const LEGAL =
  'must be mysql://, mariadb:// or postgres:// followed by user:password@host:port/database, or sqlite:path/to/file; ' +
  'when it is not set, the service keeps its data in the file data/raindrop.sqlite';

/** Where the service keeps its data when DATABASE_URL is not set. */
export const DEFAULT_DATABASE: ServiceDatabase = { type: 'better-sqlite3', database: 'data/raindrop.sqlite' };

/**
 * Reads DATABASE_URL.
 * @throws Error that says what is legal, without what was given
 */
export function readDatabaseUrl(given: string): ServiceDatabase {
  const database = databaseSettingsOf(given) as ServiceDatabase | undefined;
  if (database?.type === 'better-sqlite3') return database;
  const { hostname = '', pathname = '' } = database === undefined ? {} : new URL(database.url);
  if (database === undefined || hostname === '' || !/^\/[^/]+$/.test(pathname)) throw new Error(LEGAL);
  return database;
}

/** Which database it is, without user and password. */
export function nameDatabase(database: ServiceDatabase): string {
  if (database.type === 'better-sqlite3') return `the SQLite file ${database.database}`;
  const { host, pathname } = new URL(database.url);
  return `${database.type}://${host}${pathname}`;
}
