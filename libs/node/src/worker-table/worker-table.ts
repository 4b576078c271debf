import type { WorkerRange } from '@raindrop/core';
import { type ColumnDefinition, quoteTable } from '../database/dialect.js';
import { dialectOf, type SupportedDatabase } from '../database/supported-database.js';
import { parseTableName, shortened, type TableName } from '../database/table-name.js';
import { type Table, type TableKind, tableSql } from '../tables/table-kind.js';
import { stateTable } from '../tables/state-table.js';

/** Characters kept of a holder, which is for people only. */
export const HOLDER_LENGTH = 160;

/** The Go original's columns, with its meaning and its defaults. */
const ORIGINAL_COLUMNS: readonly ColumnDefinition[] = [
  { name: 'id', kind: 'bigint' },
  { name: 'code', kind: { text: 128 }, defaultValue: "''" },
  { name: 'time_unit', kind: 'small', defaultValue: '2' },
  { name: 'heartbeat_time', kind: 'time', defaultValue: 'now' },
  { name: 'create_time', kind: 'time', defaultValue: 'now' },
  { name: 'update_time', kind: 'time', defaultValue: 'touched' },
  { name: 'version', kind: 'bigint', defaultValue: '1' },
  { name: 'del_flag', kind: 'small', defaultValue: '2' },
];

/** Ours. All have defaults, so that the original's INSERT and UPDATE, which do not name them, go on working. */
const OWN_COLUMNS: readonly ColumnDefinition[] = [
  { name: 'token', kind: { exact: 64 }, defaultValue: "''" },
  { name: 'holder', kind: { text: HOLDER_LENGTH }, defaultValue: "''" },
  { name: 'layout', kind: { exact: 160 }, defaultValue: "''" },
  { name: 'lease_until', kind: 'bigint', defaultValue: '0' },
  { name: 'lane', kind: 'small', defaultValue: '0' },
  { name: 'odo0_ms', kind: 'bigint', defaultValue: '0' },
  { name: 'odo0_seq', kind: 'bigint', defaultValue: '-1' },
  { name: 'odo1_ms', kind: 'bigint', defaultValue: '0' },
  { name: 'odo1_seq', kind: 'bigint', defaultValue: '-1' },
  { name: 'own_version', kind: 'bigint', defaultValue: '0' },
];

/** Where the layouts are kept that the worker table ever served. */
export function layoutTableOf({ schema, name }: TableName): TableName {
  return { schema, name: shortened(`${name}_layout`) };
}

const LAYOUT_TABLE: TableKind = {
  name: 'worker',
  title: 'table of layouts',
  defaultName: 'soc_raindrop_worker_layout',
  columns: [
    { name: 'fingerprint', kind: { exact: 160 } },
    { name: 'first_seen_ms', kind: 'bigint', defaultValue: '0' },
  ],
  key: ['fingerprint'],
  options: 'tableOptions',
};

/**
 * A row for each worker id. Name, columns and indexes are the Go original's: its table is one that lacks our columns.
 */
export const WORKER_TABLE: TableKind = {
  name: 'worker',
  title: 'worker table',
  defaultName: 'soc_raindrop_worker',
  columns: ORIGINAL_COLUMNS,
  addedColumns: OWN_COLUMNS,
  key: ['id'],
  indexes: ['heartbeat_time', 'code'],
  options: 'tableOptions',
  beside: [{ kind: LAYOUT_TABLE, nameOf: layoutTableOf }, stateTable('worker')],
};

/**
 * The statements that create the worker table and those of its layouts and its state in a database that has none: what
 * Raindrop itself runs at the first start, to be run by hand.
 *
 * @param tableName `table` or `schema.table`
 * @throws UnsupportedDatabaseError, InvalidTableNameError
 */
export function workerTableSql(type: SupportedDatabase, tableName: string): string[] {
  return tableSql(WORKER_TABLE, type, tableName);
}

/** One statement's worth of rows. */
const CHUNK = 256;

/**
 * Returns the statements that add the rows of a range of worker ids, as the first start adds them: to be run by hand,
 * after {@link workerTableSql}. Rows that are there stay as they are.
 *
 * @param tableName `table` or `schema.table`
 * @throws UnsupportedDatabaseError, InvalidTableNameError
 */
export function workerRowsSql(type: SupportedDatabase, tableName: string, { min, max }: WorkerRange): string[] {
  const ids = Array.from({ length: max - min + 1 }, (_, index) => min + index);
  return insertRowsSql({ dialect: dialectOf(type), name: parseTableName(tableName) }, ids);
}

/** The same for these ids. */
export function insertRowsSql({ dialect, name }: Pick<Table, 'dialect' | 'name'>, ids: readonly number[]): string[] {
  const columns = ['id', 'heartbeat_time', 'version', 'own_version'].map((column) => dialect.quote(column));
  const rows = ids.map((id) => `(${id}, ${dialect.unusedTime}, 1, 1)`);
  return Array.from({ length: Math.ceil(rows.length / CHUNK) }, (_, index) =>
    dialect.insertMissing(
      quoteTable(dialect, name),
      columns,
      dialect.quote('id'),
      rows.slice(index * CHUNK, (index + 1) * CHUNK),
    ),
  );
}
