import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { ConfigurationError } from '@raindrop/core';
import { PermanentError } from '@raindrop/core/internal';
import type { SqlDatabase } from './sql-database.js';
import { isFileDatabase } from './supported-database.js';

/** The table would live in memory, where other processes cannot see it. */
export class VolatileDatabaseError extends PermanentError {
  static override readonly name = 'VolatileDatabaseError';
  readonly errorCode = 'VOLATILE_DATABASE';

  constructor(readonly type: string) {
    super(
      `The database (type '${type}') is in memory: no other process can see its data, and a second one would repeat ` +
        `its IDs. Use a file or a server, set dbConfig, or set allowVolatile: true for tests.`,
    );
  }
}

/** The options that say where a service keeps its tables. */
interface DatabaseChoice {
  readonly dbConfig: SqlDatabase | undefined;
  readonly allowVolatile: boolean;
}

/**
 * The database of a service: `dbConfig`'s, or that of the application. Undefined for one in memory that is accepted.
 * @throws ConfigurationError when there is none; VolatileDatabaseError
 */
export function databaseOf(
  { dbConfig, allowVolatile }: DatabaseChoice,
  ofApplication: SqlDatabase | undefined,
): SqlDatabase | undefined {
  const database = dbConfig ?? ofApplication;
  if (database === undefined) {
    const message =
      'is required: there is no database for the worker ids. Set a URL such as postgres://app@localhost/app or ' +
      'sqlite:data/ids.sqlite. If it comes from an environment variable, that variable is not set. In Nest with TypeORM, ' +
      "import TypeOrmModule.forRoot(...), or name your DataSource with dataSource: '...'";
    throw new ConfigurationError([{ option: 'dbConfig', given: 'undefined', message }]);
  }
  if (!database.isVolatile) return database;
  if (!allowVolatile) throw new VolatileDatabaseError(database.type);
  return undefined;
}

/** The settings that tell where a database is. */
interface PlaceSettings {
  readonly type: string;
  readonly url?: unknown;
  readonly host?: unknown;
  readonly port?: unknown;
  readonly database?: unknown;
  readonly schema?: unknown;
}

/** Where a database is, as far as its settings tell: without account and password. */
export function placeOf({ type, url, host = '', port = '', database = '', schema = '' }: PlaceSettings): string {
  // A file belongs to one host: there may be another of that name elsewhere.
  if (isFileDatabase(type)) return `${hostname()} ${resolve(String(database))}`;
  const given = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  return `${given?.host ?? `${String(host)}:${String(port)}`}${given?.pathname ?? ''} ${String(database)} ${String(schema)}`;
}

/** Whether a SQLite database of this name lives in memory, and ends with its connection. */
export function isInMemory(database: unknown): boolean {
  if (typeof database !== 'string') return true;
  // The driver trims the name.
  const name = database.trim();
  return name === '' || name === ':memory:' || /^file:.*(:memory:|[?&]mode=memory)/.test(name);
}
