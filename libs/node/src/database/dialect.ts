import type { DatabaseRefusal } from './database-refused-error.js';
import type { DurabilityCheck } from './durability.js';
import type { TableName } from './table-name.js';
import type { ColumnDefinition } from './column-definition.js';

/** A value bound to a statement. */
export type SqlValue = string | number | bigint;

export interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** What one database says differently from the others. Everything else is the same SQL for all. */
export interface Dialect {
  readonly family: 'mysql' | 'postgres' | 'sqlite';
  /** The Unix ms of the database's clock, exact in every session time zone and through DST. */
  readonly nowMs: string;
  /** The same moment for one of the original's time columns. */
  readonly nowTime: string;
  /** A literal for the heartbeat of rows nobody has used: the original's 2023-01-01. */
  readonly unusedTime: string;
  /** What follows CREATE TABLE (...). */
  readonly tableOptions: string;
  /** The same for a table with columns of kind `key`. */
  readonly keyTableOptions: string;
  /** Whether indexes are part of CREATE TABLE. Elsewhere each is a statement of its own. */
  readonly inlineIndexes: boolean;
  /** Whether one ALTER TABLE can add several columns. */
  readonly addsColumnsTogether: boolean;
  /** Whether an UPDATE can have RETURNING. Elsewhere LAST_INSERT_ID(...) tells a number that it has written. */
  readonly hasReturning: boolean;
  /** Sent first on every new connection. */
  readonly session: readonly string[];
  readonly durability: DurabilityCheck;
  /**
   * A SELECT of one record with the offsets from UTC, in minutes, that the server's own time zone has: `now`, and the
   * `least` and `most` within a year. Undefined where time columns are moments.
   */
  readonly serverZone: string | undefined;

  quote(identifier: string): string;
  /** The placeholder of the n-th value of a statement, from 1. */
  placeholder(position: number): string;
  /** Numbers are bound as 64-bit integers, never as floating point. */
  bind(value: SqlValue): unknown;
  /** A column's type and default as CREATE TABLE and ALTER TABLE want them. */
  definition(column: ColumnDefinition): string;
  /** An integer column as text, which no driver rounds; NULL for what is no integer, which only SQLite stores. */
  exactInteger(column: string): string;
  /** The Unix ms of a time column. */
  timeAsMs(column: string): string;
  /** INSERT that leaves a row alone whose key is taken. `rows` are lists of SQL expressions. */
  insertMissing(table: string, columns: readonly string[], key: string, rows: readonly string[]): string;
  createIndex(index: string, table: TableName, column: string): string;
  /** A SELECT with one record `{ name }` for each column of the table; none when there is no such table. */
  columnsOf(table: TableName, placeholderOf: (value: SqlValue) => string): string;
  /** Somebody else is writing: worth another try in a moment, on this connection. SQLite only. */
  isBusy(driverCode: string): boolean;
  /** What no second try can mend; undefined for everything else. */
  refusal(driverCode: string): DatabaseRefusal | undefined;
}

/** A table as SQL names it. */
export function quoteTable(dialect: Dialect, { schema, name }: TableName): string {
  return schema === undefined ? dialect.quote(name) : `${dialect.quote(schema)}.${dialect.quote(name)}`;
}
