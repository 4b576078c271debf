import type { ColumnDefinition } from '../database/column-definition.js';
import { quoteTable, type Dialect } from '../database/dialect.js';
import { dialectOf, type SupportedDatabase } from '../database/supported-database.js';
import { indexNameOf, parseTableName } from '../database/table-name.js';
import { withBeside, type Table, type TableKind } from './table-kind.js';

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
