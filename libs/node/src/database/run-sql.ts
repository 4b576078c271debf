import type { SqlValue } from './dialect.js';

/** The answer of a statement. */
export interface SqlResult {
  readonly records: readonly Record<string, unknown>[];
  /** Rows written; undefined for statements that write none. */
  readonly affected: number | undefined;
}

/** The answer of a statement on a connection of ours. */
export interface StatementResult extends SqlResult {
  /** MySQL and MariaDB: the argument of the statement's LAST_INSERT_ID(...), from the answer itself. */
  readonly insertId: unknown;
}

/** Runs one statement on the primary, committed by itself. */
export type RunSql = (sql: string, values?: readonly SqlValue[]) => Promise<SqlResult>;

/** Runs one statement on the primary over a connection of ours, committed by itself. */
export type RunStatement = (sql: string, values?: readonly SqlValue[]) => Promise<StatementResult>;
