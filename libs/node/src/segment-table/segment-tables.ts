import type { ColumnDefinition } from '../database/dialect.js';
import type { SupportedDatabase } from '../database/supported-database.js';
import { type TableKind, tableSql } from '../tables/table-kind.js';
import { stateTable } from '../tables/state-table.js';

/** Numbers taken at once when a row says nothing else. */
export const DEFAULT_STEP = 1_000;

const MAX_ID_COLUMN: ColumnDefinition = { name: 'max_id', kind: 'bigint', defaultValue: '0' };

const LIMITS: readonly ColumnDefinition[] = [
  { name: 'step', kind: 'int', defaultValue: String(DEFAULT_STEP) },
  { name: 'max_limit_id', kind: 'bigint', defaultValue: '0' },
  { name: 'description', kind: { text: 255 }, defaultValue: "''" },
];

const TIMES: readonly ColumnDefinition[] = [
  { name: 'create_time', kind: 'time', defaultValue: 'now' },
  { name: 'update_time', kind: 'time', defaultValue: 'touched' },
];

/**
 * How often the server had changed when the row was written last. A table of the original service lacks it at first.
 */
const EPOCH_COLUMN: ColumnDefinition = { name: 'epoch', kind: 'bigint', defaultValue: '0' };

/**
 * A row for each code. Its `version` is a new random number at every write, so that each write can be told from all
 * others.
 */
export const SEGMENT_TABLE: TableKind = {
  name: 'segment',
  title: 'table of segments',
  defaultName: 'raindrop_segment',
  columns: [
    { name: 'code', kind: { key: 128 } },
    MAX_ID_COLUMN,
    ...LIMITS,
    { name: 'version', kind: 'bigint', defaultValue: '0' },
    ...TIMES,
  ],
  addedColumns: [EPOCH_COLUMN],
  key: ['code'],
  options: 'keyTableOptions',
  beside: [stateTable('segment')],
};

/** A row for each shard of each app: the original service's `id_alloc`. */
export const APP_SEGMENT_TABLE: TableKind = {
  name: 'appSegment',
  title: 'table of segments',
  defaultName: 'raindrop_app_segment',
  columns: [
    { name: 'app_id', kind: 'int' },
    { name: 'shard_id', kind: 'int' },
    { name: 'app_name', kind: { text: 128 }, defaultValue: "''" },
    MAX_ID_COLUMN,
    ...LIMITS,
    ...TIMES,
  ],
  addedColumns: [EPOCH_COLUMN],
  key: ['app_id', 'shard_id'],
  options: 'keyTableOptions',
  beside: [stateTable('appSegment')],
};

/**
 * The statements that create the table of codes and their segments: what Raindrop itself runs at the first start, to be
 * run by hand.
 *
 * @param tableName `table` or `schema.table`, by default `raindrop_segment`
 * @throws UnsupportedDatabaseError, InvalidTableNameError
 */
export function segmentTableSql(type: SupportedDatabase, tableName?: string): string[] {
  return tableSql(SEGMENT_TABLE, type, tableName);
}

/**
 * The same for the table of apps and their shards.
 *
 * @param tableName `table` or `schema.table`, by default `raindrop_app_segment`
 * @throws UnsupportedDatabaseError, InvalidTableNameError
 */
export function appSegmentTableSql(type: SupportedDatabase, tableName?: string): string[] {
  return tableSql(APP_SEGMENT_TABLE, type, tableName);
}
