import { ClosedError } from '@raindrop/core';
import { databaseSettingsOf } from '@raindrop/node';
import { OwnDatabase, settingsDatabase } from '@raindrop/node/internal';
import { InputError } from '../input-error.js';
import { readMysqlKey } from './mysql-key.js';
import { pathOf, type OldKey, type Query } from './old-key.js';
import { readPostgresKey } from './postgres-key.js';
import { readSqliteKey } from './sqlite-key.js';

/**
 * Looks at a table's key and at what refers to it; changes nothing.
 * @throws InputError for a table or column that is not there; CommandFailedError for one that cannot hold IDs;
 * DatabaseCallError when the database is out of reach, or refuses
 */
export async function readOldKey(url: unknown, table: string, column: string): Promise<OldKey> {
  const settings = databaseSettingsOf(url);
  if (settings === undefined) throw new InputError('--url must begin with mysql:, mariadb:, postgres: or sqlite:');
  const path = pathOf(table);
  const { type } = settings;
  const database = new OwnDatabase(
    // Nothing is made of a name that was mistyped.
    settingsDatabase(type === 'better-sqlite3' ? { ...settings, extra: { fileMustExist: true } } : settings, '--url'),
    { opTimeoutMs: CONNECT_MS, statementTimeoutMs: ANSWER_MS, closedError: () => new ClosedError() },
  );
  try {
    return await database.call(async (run) => {
      const query: Query = async (sql, values) => [...(await run(sql, values)).records];
      if (type === 'postgres') return readPostgresKey(query, path, column);
      if (type === 'better-sqlite3') return readSqliteKey(query, path, column);
      return readMysqlKey(query, path, column, type);
    });
  } finally {
    await database.close();
  }
}

const CONNECT_MS = 10_000;

/** The highest key of a large table without an index is found by reading it. */
const ANSWER_MS = 600_000;
