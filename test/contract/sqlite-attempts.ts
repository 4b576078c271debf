import Sqlite from 'better-sqlite3';

/** A statement that SQLite was asked to carry out. */
export interface SqliteAttempt {
  readonly sql: string;
  /** How long SQLite itself would wait for a lock, with the event loop standing still, ms. */
  readonly waitsMs: number;
  /** Counts the attempts before it after which the event loop has turned. */
  readonly turn: number;
}

/** Notes what is tried on every connection but the test's own; `jest.restoreAllMocks` ends it. */
export function noteAttempts(own: Sqlite.Database): readonly SqliteAttempt[] {
  const attempts: SqliteAttempt[] = [];
  let turn = 0;
  const { prepare } = Sqlite.prototype;
  jest.spyOn(Sqlite.prototype, 'prepare').mockImplementation(function (this: Sqlite.Database, sql: string) {
    if (this !== own) {
      attempts.push({ sql, waitsMs: Number(this.pragma('busy_timeout', { simple: true })), turn });
      setImmediate(() => turn++);
    }
    return prepare.call(this, sql);
  });
  return attempts;
}

/** Nothing waited inside SQLite, and the event loop turned between any two attempts. */
export function expectOffTheEventLoop(attempts: readonly SqliteAttempt[]): void {
  expect(attempts.map(({ waitsMs }) => waitsMs)).toEqual(attempts.map(() => 0));
  expect(new Set(attempts.map(({ turn }) => turn)).size).toBe(attempts.length);
}
