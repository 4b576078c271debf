import { quoteTable, type Dialect } from '../database/dialect.js';
import { dialectOf, type SupportedDatabase } from '../database/supported-database.js';
import { layoutTableOf } from './worker-table-name.js';
import { indexNameOf, parseTableName, type TableName } from '../database/table-name.js';
import type { ColumnDefinition } from '../database/column-definition.js';
import { INDEXED_COLUMNS, LAYOUT_COLUMNS, ORIGINAL_COLUMNS, OWN_COLUMNS } from './worker-columns.js';

/**
 * Returns the statements that create the worker table and the table of its layouts in a database that has neither: what
 * Raindrop itself runs at the first start, for those who want to run it by hand.
 *
 * @param tableName `table` or `schema.table`
 * @throws UnsupportedDatabaseError, InvalidTableNameError
 */
export function workerTableSql(type: SupportedDatabase, tableName: string): string[] {
  const dialect = dialectOf(type);
  const table = parseTableName(tableName);
  return [...createWorkerTable(dialect, table), ...createLayoutTable(dialect, layoutTableOf(table))];
}

export function createWorkerTable(dialect: Dialect, table: TableName): string[] {
  const columns = [...ORIGINAL_COLUMNS, ...OWN_COLUMNS].map((column) => `  ${define(dialect, column)}`);
  const indexes = INDEXED_COLUMNS.map((column) => dialect.createIndex(indexNameOf(table, column), table, column));
  const inline = dialect.inlineIndexes ? indexes.map((index) => `  ${index}`) : [];
  const body = [...columns, `  PRIMARY KEY (${dialect.quote('id')})`, ...inline].join(',\n');
  const create = `CREATE TABLE IF NOT EXISTS ${quoteTable(dialect, table)} (\n${body}\n)${dialect.tableOptions}`;
  return dialect.inlineIndexes ? [create] : [create, ...indexes];
}

/** Adds our columns to a table of the original's. `missing` must not be empty. */
export function addColumns(dialect: Dialect, table: TableName, missing: readonly ColumnDefinition[]): string[] {
  const alter = `ALTER TABLE ${quoteTable(dialect, table)}`;
  const additions = missing.map((column) => `ADD COLUMN ${define(dialect, column)}`);
  if (dialect.addsColumnsTogether) return [`${alter}\n  ${additions.join(',\n  ')}`];
  return additions.map((addition) => `${alter} ${addition}`);
}

export function createLayoutTable(dialect: Dialect, table: TableName): string[] {
  const columns = LAYOUT_COLUMNS.map((column) => `  ${define(dialect, column)}`);
  const body = [...columns, `  PRIMARY KEY (${dialect.quote('fingerprint')})`].join(',\n');
  return [`CREATE TABLE IF NOT EXISTS ${quoteTable(dialect, table)} (\n${body}\n)${dialect.tableOptions}`];
}

function define(dialect: Dialect, column: ColumnDefinition): string {
  return `${dialect.quote(column.name)} ${dialect.definition(column)}`;
}
