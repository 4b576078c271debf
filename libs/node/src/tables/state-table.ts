import { PermanentError } from '@raindrop/core/internal';
import {
  type Bind,
  bindings,
  type ColumnDefinition,
  type Dialect,
  quoteTable,
  type SqlValue,
  type Statement,
} from '../database/dialect.js';
import { shortened, type TableName } from '../database/table-name.js';
import { safeInteger } from '../database/sql-values.js';
import type { TableKind, TableKindName } from './table-kind.js';

/**
 * The only format so far. A release that changes the meaning of a table writes a higher format, and raises the failover
 * number of every row of segments: a process that has read a row before cannot write it any more.
 */
const FORMAT = 1;

/** A later release has changed the tables so that this one could not read them right. */
export class TableFormatError extends PermanentError {
  static override readonly name = 'TableFormatError';
  readonly errorCode = 'TABLE_FORMAT';

  constructor(
    readonly table: string,
    readonly format: number,
    /** The highest that this release knows. */
    readonly known: number,
  ) {
    super(
      `The table ${table} has format ${format}, but this Raindrop release supports only up to ${known}: a later ` +
        `release changed it. Update Raindrop in this process.`,
    );
  }
}

/** The table whose one row names the server on which the table beside it was last seen, and counts the failovers. */
export function stateTableOf({ schema, name }: TableName): TableName {
  return { schema, name: shortened(`${name}_state`) };
}

/** Only workers are fenced. Tables of releases before 0.1.0 lack these columns. */
const OF_FENCES: readonly ColumnDefinition[] = [
  { name: 'fenced_until_ms', kind: 'bigint', defaultValue: '0' },
  { name: 'served_alone', kind: { exact: 160 }, defaultValue: "''" },
  { name: 'alone_lost_until_ms', kind: 'bigint', defaultValue: '0' },
];

/** The kind of the state's table beside a table of that kind. */
export function stateTable(name: TableKindName): NonNullable<TableKind['beside']>[number] {
  const kind: TableKind = {
    name,
    title: 'table of the state',
    defaultName: '',
    columns: [
      { name: 'id', kind: 'int' },
      { name: 'format', kind: 'int', defaultValue: String(FORMAT) },
      { name: 'term', kind: { exact: 160 }, defaultValue: "''" },
      { name: 'epoch', kind: 'bigint', defaultValue: '0' },
      { name: 'lost_at_ms', kind: 'bigint', defaultValue: '0' },
      { name: 'reach_ms', kind: 'bigint', defaultValue: '0' },
    ],
    ...(name === 'worker' && { addedColumns: OF_FENCES }),
    key: ['id'],
    options: 'tableOptions',
  };
  return { kind, nameOf: stateTableOf };
}

/** A column of the state as an expression; NULL as long as there is no row. */
export function ofState(dialect: Dialect, table: TableName, column: string): string {
  const state = quoteTable(dialect, stateTableOf(table));
  return `(SELECT s.${dialect.quote(column)} FROM ${state} s WHERE s.${dialect.quote('id')} = 1)`;
}

/** @throws TableFormatError when that is what `ofState` says of `format`, and it is not known here */
export function checkFormat(table: TableName, format: unknown): void {
  const found = safeInteger(format) ?? FORMAT;
  if (found > FORMAT) throw new TableFormatError(table.name, found, FORMAT);
}

/**
 * Records the server that was found first; nothing where a server is recorded. `failoverNumber` and `lostAtMs` are
 * expressions.
 */
export function insertState(
  dialect: Dialect,
  table: TableName,
  first: {
    readonly term: string;
    readonly failoverNumber: string;
    readonly reachMs?: number;
    readonly lostAtMs?: string;
  },
): Statement {
  const { values, value } = bindings(dialect);
  const { term, failoverNumber, reachMs = 0, lostAtMs = '0' } = first;
  const columns = ['id', 'format', 'term', 'epoch', 'lost_at_ms', 'reach_ms'].map((column) => dialect.quote(column));
  const row = `(1, ${FORMAT}, ${value(term)}, ${failoverNumber}, ${lostAtMs}, ${value(reachMs)})`;
  return {
    sql: dialect.insertMissing(quoteTable(dialect, stateTableOf(table)), columns, dialect.quote('id'), [row]),
    values,
  };
}

/** The condition that no failover was recorded since a look that found this failover number. */
export function isAtFailover(dialect: Dialect, table: TableName, value: Bind, failoverNumber: SqlValue): string {
  return `COALESCE(${ofState(dialect, table, 'epoch')}, 0) = ${value(failoverNumber)}`;
}
