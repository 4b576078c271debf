import { databaseSettingsOf } from '@raindrop/nestjs';

/** The database, as TypeORM's options name it. */
export type ServiceDatabase =
  | { readonly type: 'better-sqlite3'; readonly database: string }
  | { readonly type: 'mysql' | 'mariadb' | 'postgres'; readonly url: string };

const LEGAL =
  'must be mysql://, mariadb:// or postgres:// followed by user:password@host:port/database, or sqlite:path/to/file; ' +
  'when it is not set, the service keeps its data in the file data/raindrop.sqlite';

/** Reads DATABASE_URL; the answer to a wrong one is a text that says what is legal. */
export function readDatabaseUrl(given: string | undefined): ServiceDatabase | string {
  if (given === undefined) return { type: 'better-sqlite3', database: 'data/raindrop.sqlite' };
  const database = databaseSettingsOf(given) as ServiceDatabase | undefined;
  if (database === undefined) return LEGAL;
  if (database.type === 'better-sqlite3') return database;
  const { hostname, pathname } = new URL(database.url);
  return hostname !== '' && /^\/[^/]+$/.test(pathname) ? database : LEGAL;
}

/** Which database it is, without user and password. */
export function nameDatabase(database: ServiceDatabase): string {
  if (database.type === 'better-sqlite3') return `the SQLite file ${database.database}`;
  const { host, pathname } = new URL(database.url);
  return `${database.type}://${host}${pathname}`;
}
