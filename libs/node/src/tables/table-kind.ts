import type { ColumnDefinition } from '../database/column-definition.js';
import type { Dialect } from '../database/dialect.js';
import type { RunSql } from '../database/run-sql.js';
import type { TableName } from '../database/table-name.js';

/**
 * The name says which of Raindrop's tables it is: the functions of `worker` are `workerTableSql()` and
 * `workerTableMigration()`.
 */
export type TableKindName = 'worker' | 'segment' | 'appSegment' | 'workerNode' | 'businessNumber';

/** One of Raindrop's tables as it is in every database. */
export interface TableKind {
  readonly name: TableKindName;
  /** In messages, behind `no`: `worker table`. */
  readonly title: string;
  /** The table's name when the user gives none. */
  readonly defaultName: string;
  /** A table that lacks one of these columns is not ours. */
  readonly columns: readonly ColumnDefinition[];
  /** Columns that a table of another program may lack. They are added to it, and have defaults. */
  readonly addedColumns?: readonly ColumnDefinition[];
  /** The columns of the primary key; none when a column of kind `counter` is the key. */
  readonly key: readonly string[];
  /** Each of these columns has an index. */
  readonly indexes?: readonly string[];
  /** Which of the dialect's options follow CREATE TABLE (...). */
  readonly options: 'tableOptions' | 'keyTableOptions';
  /** Tables that are created, and dropped, with this one. */
  readonly beside?: readonly { readonly kind: TableKind; readonly nameOf: (table: TableName) => TableName }[];
  /** A call that creates the table, for messages. */
  readonly preparedBy?: string;
  /** Looks at a table that has all columns. Resolves to the reason why it cannot be used, or to undefined. */
  flaw?(run: RunSql, table: Table): Promise<string | undefined>;
}

/** A table of one kind in one database. It need not be there yet. */
export interface Table {
  readonly kind: TableKind;
  readonly dialect: Dialect;
  readonly name: TableName;
}

/** The table and those beside it. */
export function withBeside(table: Table): readonly Table[] {
  const { beside = [] } = table.kind;
  return [table, ...beside.map(({ kind, nameOf }) => ({ ...table, kind, name: nameOf(table.name) }))];
}
