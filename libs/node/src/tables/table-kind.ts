import { type ColumnDefinition, type Dialect, quoteTable, type RunSql } from '../database/dialect.js';
import { indexNameOf, parseTableName, type TableName } from '../database/table-name.js';
import { dialectOf, type SupportedDatabase } from '../database/supported-database.js';

/**
 * The name says which of Raindrop's tables it is: the functions of `worker` are `workerTableSql()` and
 * `workerTableMigration()`.
 */
export type TableKindName = 'worker' | 'workerHistory' | 'segment' | 'appSegment' | 'workerNode' | 'businessNumber';

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

/**
 * The statements that create a table and those beside it in a database that has neither.
 *
 * @param tableName `table` or `schema.table`
 * @throws UnsupportedDatabaseError, InvalidTableNameError
 */
export function tableSql(kind: TableKind, type: SupportedDatabase, tableName = kind.defaultName): string[] {
  return withBeside({ kind, dialect: dialectOf(type), name: parseTableName(tableName) }).flatMap(createTable);
}

/** The statements that create one table where it is missing. */
export function createTable({ kind, dialect, name }: Table): string[] {
  const { columns, addedColumns = [], key, indexes = [], options } = kind;
  const keys = key.map((column) => dialect.quote(column)).join(', ');
  const creates = indexes.map((column) => dialect.createIndex(indexNameOf(name, column), name, column));
  const lines = [
    ...[...columns, ...addedColumns].map((column) => define(dialect, column)),
    ...(key.length > 0 ? [`PRIMARY KEY (${keys})`] : []),
    ...(dialect.inlineIndexes ? creates : []),
  ];
  const body = lines.map((line) => `  ${line}`).join(',\n');
  const create = `CREATE TABLE IF NOT EXISTS ${quoteTable(dialect, name)} (\n${body}\n)${dialect[options]}`;
  return dialect.inlineIndexes ? [create] : [create, ...creates];
}

/** The statements that add columns, of which there must be one, to a table. */
export function addColumns({ dialect, name }: Table, columns: readonly ColumnDefinition[]): string[] {
  const alter = `ALTER TABLE ${quoteTable(dialect, name)}`;
  const additions = columns.map((column) => `ADD COLUMN ${define(dialect, column)}`);
  if (dialect.addsColumnsTogether) return [`${alter}\n  ${additions.join(',\n  ')}`];
  return additions.map((addition) => `${alter} ${addition}`);
}

/** The statements that drop a table and those beside it. */
export function dropTables(table: Table): string[] {
  const names = withBeside(table).map(({ dialect, name }) => quoteTable(dialect, name));
  return names.reverse().map((name) => `DROP TABLE IF EXISTS ${name}`);
}

function define(dialect: Dialect, column: ColumnDefinition): string {
  return `${dialect.quote(column.name)} ${dialect.definition(column)}`;
}
