import type { DataSource } from 'typeorm';
import { isFileDatabase } from '@raindrop/node/internal';

/** The used part of a `better-sqlite3` database. */
export interface SqliteDatabase {
  /** Compiles a statement. */
  prepare(sql: string): SqliteStatement;
}

interface SqliteStatement {
  readonly reader: boolean;
  safeIntegers(on: boolean): unknown;
  pluck(): { get(...values: unknown[]): unknown };
  all(...values: unknown[]): unknown[];
  get(...values: unknown[]): unknown;
  iterate(...values: unknown[]): Iterable<unknown>;
}

const INSTALLED = Symbol.for('@raindrop/typeorm:safe-sqlite-integers');

/**
 * Makes a `better-sqlite3` database answer with exact integers: numbers up to 2^53 - 1 as before, larger ones as decimal
 * text, where they were silently rounded. A rounded key is dangerous: `save` inserts a second row, `remove` takes the
 * wrong one. Statements prepared earlier are not touched. A database that already answers with bigints
 * (`defaultSafeIntegers()`) is left as it is.
 *
 * Attaching a service does this by itself. Without one, or where the DataSource reads before that, give it to TypeORM:
 * `prepareDatabase: safeSqliteIntegers`, or call it in a hook of your own. Calling it twice does nothing.
 */
export function safeSqliteIntegers(database: SqliteDatabase): void {
  if (INSTALLED in database || typeof database.prepare('SELECT 1').pluck().get() === 'bigint') return;
  const prepare = database.prepare.bind(database);
  Object.defineProperties(database, {
    prepare: { value: (sql: string) => exact(prepare(sql)), configurable: true, writable: true },
    [INSTALLED]: { value: true },
  });
}

/**
 * Makes the connection of an initialised DataSource exact where its database is `better-sqlite3`. The statements that
 * TypeORM has prepared on it are thrown away.
 */
export function makeSqliteExact({ options, driver }: DataSource): void {
  if (!isFileDatabase(options.type)) return;
  const { databaseConnection, queryRunner } = driver as unknown as {
    readonly databaseConnection?: SqliteDatabase;
    readonly queryRunner?: { readonly stmtCache?: unknown };
  };
  if (databaseConnection === undefined) return;
  safeSqliteIntegers(databaseConnection);
  if (queryRunner?.stmtCache instanceof Map) queryRunner.stmtCache.clear();
}

/** Statements answer with bigints, which are turned into what they were before wherever that is exact. */
function exact(statement: SqliteStatement): SqliteStatement {
  if (!statement.reader) return statement;
  statement.safeIntegers(true);
  const all = statement.all.bind(statement);
  const get = statement.get.bind(statement);
  const iterate = statement.iterate.bind(statement);
  statement.all = (...values) => all(...values).map(plain);
  statement.get = (...values) => plain(get(...values));
  statement.iterate = function* (...values) {
    for (const row of iterate(...values)) yield plain(row);
  };
  return statement;
}

/** In place: the rows are the driver's fresh objects, or arrays in raw mode, or values in pluck mode. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  const row = value as Record<string, unknown>;
  for (const name in row) {
    const field = row[name];
    if (typeof field === 'bigint' || typeof field === 'object') row[name] = plain(field);
  }
  return row;
}
