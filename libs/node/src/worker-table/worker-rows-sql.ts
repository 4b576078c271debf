import type { WorkerRange } from '@raindrop/core';
import { quoteTable } from '../database/dialect.js';
import { dialectOf, type SupportedDatabase } from '../database/supported-database.js';
import { parseTableName } from '../database/table-name.js';
import type { Table } from '../tables/table-kind.js';

/** One statement's worth of rows. */
const CHUNK = 256;

/**
 * Returns the statements that add the rows of a range of worker ids, as the first start adds them: for those who want
 * to run them by hand, after {@link workerTableSql}. Rows that are there are left alone.
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
