/** The database, as TypeORM's options name it. */
export type DemoDatabase =
  | { readonly type: 'better-sqlite3'; readonly database: string }
  | { readonly type: 'mysql' | 'mariadb' | 'postgres'; readonly url: string };

const TYPES: Readonly<Record<string, 'mysql' | 'mariadb' | 'postgres'>> = {
  'mysql:': 'mysql',
  'mariadb:': 'mariadb',
  'postgres:': 'postgres',
  'postgresql:': 'postgres',
};

const LEGAL =
  'must be mysql://, mariadb:// or postgres:// followed by user:password@host:port/database, or sqlite:path/to/file; ' +
  'when it is not set, the demo keeps its data in the file data/raindrop.sqlite';

/** Reads DATABASE_URL; the answer to a wrong one is a text that says what is legal. */
export function readDatabaseUrl(given: string | undefined): DemoDatabase | string {
  if (given === undefined) return { type: 'better-sqlite3', database: 'data/raindrop.sqlite' };
  const file = /^sqlite:(?:\/\/)?(.+)$/i.exec(given)?.[1];
  if (file !== undefined) return { type: 'better-sqlite3', database: file };
  if (!URL.canParse(given)) return LEGAL;
  const { protocol, hostname, pathname } = new URL(given);
  const type = TYPES[protocol];
  if (type === undefined || hostname === '' || !/^\/[^/]+$/.test(pathname)) return LEGAL;
  // TypeORM knows no mariadb:// in URLs.
  return { type, url: given.replace(/^mariadb:/i, 'mysql:') };
}

/** Which database it is, without user and password. */
export function nameDatabase(database: DemoDatabase): string {
  if (database.type === 'better-sqlite3') return `the SQLite file ${database.database}`;
  const { host, pathname } = new URL(database.url);
  return `${database.type}://${host}${pathname}`;
}
