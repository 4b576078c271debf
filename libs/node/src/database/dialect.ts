import type { DatabaseRefusal } from './database-errors.js';
import type { DurabilityCheck } from './durability.js';
import type { TableName } from './table-name.js';

/** A value bound to a statement. */
export type SqlValue = string | number | bigint;

export interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** The databases with the same SQL: MariaDB runs that of MySQL. */
export type Family = 'mysql' | 'postgres' | 'sqlite';

/**
 * The differences between databases. All other SQL of Raindrop's tables is the same. SQL of a single use, such as the
 * partitions of `raindrop sql`, is a table with an entry for each {@link Family}, next to that use. No code compares a
 * family or a type with a name: it asks for the difference.
 */
export interface Dialect {
  readonly family: Family;
  /** The Unix ms of the database's clock, exact in every session time zone and through DST. */
  readonly nowMs: string;
  /** The same moment for one of the original's time columns. */
  readonly nowTime: string;
  /** A literal for the heartbeat of rows that were never used: the original's 2023-01-01. */
  readonly unusedTime: string;
  /** The text after CREATE TABLE (...). */
  readonly tableOptions: string;
  /** The same for a table with columns of kind `key`. */
  readonly keyTableOptions: string;
  /** Whether indexes are part of CREATE TABLE. Elsewhere each is a statement of its own. */
  readonly inlineIndexes: boolean;
  /** Whether one ALTER TABLE can add several columns. */
  readonly addsColumnsTogether: boolean;
  /** Whether ALTER TABLE can change a column. SQLite's tables are made anew instead. */
  readonly altersColumns: boolean;
  /** Whether an UPDATE can have RETURNING. Elsewhere LAST_INSERT_ID(...) returns the number that it wrote. */
  readonly hasReturning: boolean;
  readonly durability: DurabilityCheck;
  /** Whether a server keeps the tables, which another one may replace. SQLite's file has none. */
  readonly hasServers: boolean;
  /**
   * The term of the server that runs the statement, as text of at most 160 ASCII characters: it differs between a
   * primary and the one promoted in its place, and survives restarts. `replica` on a replica; '' if the server does not
   * show it.
   */
  readonly term: string;
  /** The term in a statement that writes: a replica that executes the statement again must find the same value. */
  readonly termOfWrite: string;
  /**
   * The destination of a session, as text: the server or the cluster, and the database. Two servers may look the same,
   * for example copies of each other; then {@link startedAt} distinguishes them.
   */
  readonly destination: string;
  /** The start time of the server, as text; '' for a node of a cluster, where any other node is equal. */
  readonly startedAt: string;
  /**
   * A SELECT of how many `standbys` follow the server, for any account; undefined if a promoted one always shows its
   * term.
   */
  readonly standbys?: string;
  /** The age of the session that runs the statement, ms; 0 if sessions cannot lead to another server. */
  readonly sessionAgeMs: string;
  /** Sent on every new connection, if the server knows it. */
  readonly freshReads?: string;
  /** Sent on every new connection before the term is read. A server that does not know it has no term. */
  readonly termSession?: string;
  /**
   * The statements of {@link session}, {@link freshReads} and {@link termSession} as one, and without `freshReads`: sent
   * in their place if the server knows all parts.
   */
  readonly sessionAtOnce?: { readonly all: string; readonly butFreshReads: string };
  /**
   * A SELECT of one record with the offsets from UTC, in minutes, that the server's own time zone has: `now`, and the
   * `least` and `most` within a year. Undefined where time columns are moments.
   */
  readonly serverZone: string | undefined;

  /** Whether a statement that fails ends its transaction, unless a savepoint is before it. */
  readonly failureEndsTransaction: boolean;
  /** Begins a transaction that is going to write. */
  readonly begin: string;

  /** Sent first on every new connection. @param session the server's id of the session, if the driver knows it */
  session(session: number | undefined): readonly string[];
  /**
   * A SELECT that returns a record while the session still runs the statement that it ran `ms` ago, with the server's
   * description in `state`; undefined for SQLite.
   */
  runningStatement(session: number, ms: number): string | undefined;
  /** The possible reasons for such a wait, for the message. */
  readonly waitReasons: string;

  quote(identifier: string): string;
  /** The placeholder of the n-th value of a statement, from 1. */
  placeholder(position: number): string;
  /** Numbers are bound as 64-bit integers, never as floating point. */
  bind(value: SqlValue): unknown;
  /** A column's type and default as CREATE TABLE and ALTER TABLE want them. */
  definition(column: ColumnDefinition): string;
  /** An integer column as text, which no driver rounds; NULL for other values, which only SQLite stores. */
  exactInteger(column: string): string;
  /** The Unix ms of a time column. */
  timeAsMs(column: string): string;
  /** An INSERT that skips rows whose key exists. `rows` are lists of SQL expressions. */
  insertMissing(table: string, columns: readonly string[], key: string, rows: readonly string[]): string;
  createIndex(index: string, table: TableName, column: string): string;
  /** Both names are quoted. */
  dropTrigger(trigger: string, table: string): string;
  /** A SELECT with one record `{ name }` for each column of the table; none when there is no such table. */
  columnsOf(table: TableName, placeholderOf: (value: SqlValue) => string): string;
  /** The storage of a table, as one expression for {@link judgeStorage}; NULL if the database has only one kind. */
  storageOf(table: TableName, placeholderOf: (value: SqlValue) => string): string;
  /** The faults of a storage: the table is `emptied` by a crash, or `loses` the last acknowledged writes. */
  judgeStorage(storage: string): { readonly emptied?: string; readonly loses?: string };
  /** The server rolled the statement back in favour of others: it can be retried soon, on this connection. */
  isBusy(driverCode: string): boolean;
  /** The refusal of a server of this family that cannot show its term. */
  lacksTerm(driverCode: string): boolean;
  /**
   * A table or a column does not exist, or not where the session looks for it; perhaps its database does not either.
   */
  isGone(driverCode: string, reason: string): boolean;
  /** A text has characters that the database's encoding, or the column's character set, lacks. */
  lacksCharacters(driverCode: string): boolean;
  /** The kind of a permanent refusal; undefined for other codes. */
  refusal(driverCode: string): DatabaseRefusal | undefined;
}

/** A table as SQL names it. */
export function quoteTable(dialect: Dialect, { schema, name }: TableName): string {
  return schema === undefined ? dialect.quote(name) : `${dialect.quote(schema)}.${dialect.quote(name)}`;
}

/**
 * The kind of a column; each dialect has a type for it. `exact` text is ASCII and compared byte by byte, `key` text is
 * any Unicode and compared by every character: by case, accents and trailing blanks. A `counter` is the table's primary
 * key; the database counts it up, and never back.
 */
export type ColumnKind =
  | 'bigint'
  | 'int'
  | 'small'
  | 'time'
  | 'counter'
  | { readonly text: number }
  | { readonly exact: number }
  | { readonly key: number };

export interface ColumnDefinition {
  readonly name: string;
  readonly kind: ColumnKind;
  /** SQL; 'now' and 'touched' (renewed by every update where the database can) are the dialect's. */
  readonly defaultValue?: string;
}

/** The most characters of a text. */
export function lengthOf(kind: Exclude<ColumnKind, string>): number {
  if ('text' in kind) return kind.text;
  return 'key' in kind ? kind.key : kind.exact;
}

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

/** Binds a value to a statement, and returns its placeholder. */
export type Bind = (value: SqlValue) => string;

/** The values of one statement. Its placeholders must come in the order in which they are bound. */
export function bindings(dialect: Dialect): { readonly values: readonly SqlValue[]; readonly value: Bind } {
  const values: SqlValue[] = [];
  return { values, value: (given) => dialect.placeholder(values.push(given)) };
}

/** A statement whose placeholders come in the order in which they are bound. */
export function statement(dialect: Dialect, write: (value: Bind) => string): Statement {
  const { values, value } = bindings(dialect);
  return { sql: write(value), values };
}

export function execute<Result>(
  run: (sql: string, values: readonly SqlValue[]) => Promise<Result>,
  { sql, values }: Statement,
): Promise<Result> {
  return run(sql, values);
}
