import { quoteTable, type Dialect } from '../database/dialect.js';
import { dialectOf, type SupportedDatabase } from '../database/supported-database.js';
import { parseTableName, type TableName } from '../database/table-name.js';
import {
  APP_SEGMENTS,
  CODE_SEGMENTS,
  DEFAULT_APP_SEGMENT_TABLE,
  DEFAULT_SEGMENT_TABLE,
  type SegmentTable,
} from './segment-tables.js';

/**
 * Returns the statements that create the table of codes and their segments: what Raindrop itself runs at the first
 * start, for those who want to run it by hand.
 *
 * @param tableName `table` or `schema.table`
 * @throws UnsupportedDatabaseError, InvalidTableNameError
 */
export function segmentTableSql(type: SupportedDatabase, tableName = DEFAULT_SEGMENT_TABLE): string[] {
  return createSegmentTable(dialectOf(type), parseTableName(tableName), CODE_SEGMENTS);
}

/**
 * Returns the statements that create the table of apps and their shards.
 *
 * @param tableName `table` or `schema.table`
 * @throws UnsupportedDatabaseError, InvalidTableNameError
 */
export function appSegmentTableSql(type: SupportedDatabase, tableName = DEFAULT_APP_SEGMENT_TABLE): string[] {
  return createSegmentTable(dialectOf(type), parseTableName(tableName), APP_SEGMENTS);
}

export function createSegmentTable(dialect: Dialect, table: TableName, { columns, key }: SegmentTable): string[] {
  const definitions = columns.map((column) => `  ${dialect.quote(column.name)} ${dialect.definition(column)}`);
  const primaryKey = `  PRIMARY KEY (${key.map((column) => dialect.quote(column)).join(', ')})`;
  const body = [...definitions, primaryKey].join(',\n');
  return [`CREATE TABLE IF NOT EXISTS ${quoteTable(dialect, table)} (\n${body}\n)${dialect.keyTableOptions}`];
}
