import Sqlite from 'better-sqlite3';

/** Whether the drivers take Node's own SQLite in this run (test/support/jest/resolver.cjs). */
export const isOfNodeSqlite = process.env['RAINDROP_TEST_SQLITE'] === 'node:sqlite';

/** A test's own connection to a file of SQLite. */
export interface SqliteConnection {
  exec(sql: string): void;
  /** Runs a pragma. @returns the value that it tells */
  pragma(text: string): unknown;
  close(): void;
}

/**
 * Opens a file that connections under test have open as well, by the same copy of SQLite: two copies in one process do not
 * see each other's locks.
 */
export function openSqlite(file: string): SqliteConnection {
  return isOfNodeSqlite ? openByNode(file) : openByPackage(file);
}

function openByPackage(file: string): SqliteConnection {
  const database = new Sqlite(file);
  return {
    exec: (sql) => void database.exec(sql),
    pragma: (text) => database.pragma(text, { simple: true }),
    close: () => void database.close(),
  };
}

interface NodeDatabase {
  exec(sql: string): void;
  prepare(sql: string): { get(): object | undefined };
  close(): void;
}

function openByNode(file: string): SqliteConnection {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as {
    DatabaseSync: new (file: string) => NodeDatabase;
  };
  const database = new DatabaseSync(file);
  return {
    exec: (sql) => database.exec(sql),
    pragma: (text) => Object.values(database.prepare(`PRAGMA ${text}`).get() ?? {})[0] as unknown,
    close: () => database.close(),
  };
}
