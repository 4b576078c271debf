import type { SupportedDatabase } from '@raindrop/node';
import { databaseAddressesOf, isFileDatabase, OwnDatabase, settingsDatabases } from '@raindrop/node/internal';
import { InputError } from '../input-error.js';
import { readMysqlKeys } from './mysql-key.js';
import { type KeyPath, keyPathsOf, type OldKeys, type Query } from './old-key.js';
import { readPostgresKeys } from './postgres-key.js';
import { readSqliteKeys } from './sqlite-key.js';

const CONNECT_MS = 10_000;

/**
 * The time limit of a statement, ms: without an index the highest key of a large table is found by reading all of it.
 */
const ANSWER_MS = 600_000;

/**
 * Reads the keys of tables and the columns that refer to them; changes nothing.
 * @param table the value of `--table`
 * @param column the value of `--column`
 * @throws InputError for a missing table or column; CommandFailedError for a column that cannot hold IDs;
 * DatabaseCallError when the database cannot be reached, or refuses
 */
export async function readOldKeys(url: unknown, table: string, column: string): Promise<OldKeys> {
  const paths = keyPathsOf(table, column);
  return withOldDatabase(url, (query, type) => READERS[type](query, paths));
}

const READERS: Readonly<Record<SupportedDatabase, (query: Query, paths: readonly KeyPath[]) => Promise<OldKeys>>> = {
  mysql: (query, paths) => readMysqlKeys(query, paths, 'mysql'),
  mariadb: (query, paths) => readMysqlKeys(query, paths, 'mariadb'),
  postgres: readPostgresKeys,
  'better-sqlite3': readSqliteKeys,
};

/** Asks a database over a connection of its own. @throws InputError when the URL names no database */
export async function withOldDatabase<T>(
  url: unknown,
  work: (query: Query, type: SupportedDatabase) => Promise<T>,
): Promise<T> {
  const addresses = databaseAddressesOf(url);
  if (addresses === undefined) throw new InputError('--url must begin with mysql:, mariadb:, postgres: or sqlite:');
  const { type } = addresses[0]!;
  // SQLite must not create a file of a mistyped name.
  const existing = addresses.map((each) =>
    isFileDatabase(each.type) ? { ...each, extra: { fileMustExist: true } } : each,
  );
  const database = new OwnDatabase(settingsDatabases(existing, '--url'), {
    opTimeoutMs: CONNECT_MS,
    statementTimeoutMs: ANSWER_MS,
  });
  try {
    return await database.call(async (run) => {
      const query: Query = async (sql, values) => [...(await run(sql, values)).records];
      return work(query, type);
    });
  } finally {
    await database.close();
  }
}
