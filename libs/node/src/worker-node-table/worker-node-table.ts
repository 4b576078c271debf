import type { ColumnDefinition } from '../database/column-definition.js';
import { quoteTable, type Dialect } from '../database/dialect.js';
import { dialectOf, type SupportedDatabase } from '../database/supported-database.js';
import { parseTableName, type TableName } from '../database/table-name.js';
import { DEFAULT_DISPOSABLE_TABLE } from './disposable-limits.js';

/** The table of starts in one database. */
export interface WorkerNodeTable {
  readonly type: SupportedDatabase;
  readonly dialect: Dialect;
  readonly name: TableName;
}

/** Characters kept of a host's name, as many as uid-generator keeps. */
export const HOST_NAME_LENGTH = 64;

/** uid-generator's columns, all but the id. */
export const NODE_COLUMNS: readonly ColumnDefinition[] = [
  { name: 'host_name', kind: { text: HOST_NAME_LENGTH }, defaultValue: undefined },
  { name: 'port', kind: { text: 64 }, defaultValue: undefined },
  { name: 'type', kind: 'int', defaultValue: undefined },
  { name: 'launch_date', kind: 'time', defaultValue: 'now' },
  { name: 'modified', kind: 'time', defaultValue: 'touched' },
  { name: 'created', kind: 'time', defaultValue: 'now' },
];

/**
 * Returns the statements that create the table of starts, for `workerIdAssigner: 'disposable'`: what Raindrop itself
 * runs at the first start, for those who want to run it by hand.
 *
 * @param tableName `table` or `schema.table`
 * @throws UnsupportedDatabaseError, InvalidTableNameError
 */
export function workerNodeTableSql(type: SupportedDatabase, tableName: string = DEFAULT_DISPOSABLE_TABLE): string[] {
  return createNodeTable({ type, dialect: dialectOf(type), name: parseTableName(tableName) });
}

export function createNodeTable({ type, dialect, name }: WorkerNodeTable): string[] {
  const columns = NODE_COLUMNS.map((column) => `  ${dialect.quote(column.name)} ${dialect.definition(column)}`);
  const body = [`  ${dialect.quote('id')} ${identityOf(type)}`, ...columns].join(',\n');
  return [`CREATE TABLE IF NOT EXISTS ${quoteTable(dialect, name)} (\n${body}\n)${dialect.tableOptions}`];
}

/** Counts up by itself, and never back: not when rows are deleted, nor (MySQL from 8, MariaDB from 10.2.4) by a restart. */
function identityOf(type: SupportedDatabase): string {
  if (type === 'postgres') return 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY';
  // Without AUTOINCREMENT the id of the last row, once deleted, is given again.
  if (type === 'better-sqlite3') return 'integer NOT NULL PRIMARY KEY AUTOINCREMENT';
  return 'bigint NOT NULL AUTO_INCREMENT PRIMARY KEY';
}
