import type Sqlite from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import { DatabaseConnection } from '../../../libs/node/src/database/database-connection.js';
import { sqliteDialect } from '../../../libs/node/src/database/sqlite-dialect.js';
import type { SqliteFile } from '../../../libs/node/src/drivers/sqlite-file.js';

/** An attempt of ours that found SQLite busy. */
export interface BusyAttempt {
  /** How long SQLite itself has waited, with the event loop standing still, ms. */
  readonly waitedMs: number;
  /** How often the event loop had turned since the first one. */
  readonly turn: number;
}

/** Notes every attempt that finds SQLite busy; `jest.restoreAllMocks` ends it. */
export function noteBusyAttempts(): readonly BusyAttempt[] {
  const attempts: BusyAttempt[] = [];
  let turn = 0;
  const { isBusy } = sqliteDialect;
  const runs = jest.spyOn(DatabaseConnection.prototype, 'run');
  jest.spyOn(sqliteDialect, 'isBusy').mockImplementation((code) => {
    if (!isBusy(code)) return false;
    attempts.push({ waitedMs: waitOf(runs.mock.contexts.at(-1) as DatabaseConnection), turn });
    setImmediate(() => turn++);
    return true;
  });
  return attempts;
}

/** Nothing waited inside SQLite, and the event loop turned between any two attempts. */
export function expectOffTheEventLoop(attempts: readonly BusyAttempt[]): void {
  expect(attempts.map(({ waitedMs }) => waitedMs)).toEqual(attempts.map(() => 0));
  expect(new Set(attempts.map(({ turn }) => turn)).size).toBe(attempts.length);
}

/** How long SQLite waits in a connection of ours, by either port, ms. */
function waitOf(connection: DatabaseConnection): number {
  const { opened, dataSource } = connection['driver'] as { opened?: SqliteFile; dataSource?: DataSource };
  if (opened !== undefined) return Number(opened.query('PRAGMA busy_timeout', []).records[0]!['timeout']);
  const { databaseConnection } = dataSource!.driver as unknown as { databaseConnection: Sqlite.Database };
  return Number(databaseConnection.pragma('busy_timeout', { simple: true }));
}
