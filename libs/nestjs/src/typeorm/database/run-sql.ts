import type { SqlValue } from './dialect.js';

export interface SqlResult {
  readonly records: readonly Record<string, unknown>[];
  /** Rows written; undefined for statements that write none. */
  readonly affected: number | undefined;
}

/** Runs one statement on the primary, committed by itself. */
export type RunSql = (sql: string, values?: readonly SqlValue[]) => Promise<SqlResult>;
