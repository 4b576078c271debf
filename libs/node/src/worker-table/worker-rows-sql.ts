import type { WorkerRange } from '@raindrop/core';
import { quoteTable } from '../database/dialect.js';
import { dialectOf, type SupportedDatabase } from '../database/supported-database.js';
import { parseTableName } from '../database/table-name.js';

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
  const dialect = dialectOf(type);
  const table = quoteTable(dialect, parseTableName(tableName));
  const columns = ['id', 'heartbeat_time', 'version', 'own_version'].map((column) => dialect.quote(column));
  const statements: string[] = [];
  for (let first = min; first <= max; first += CHUNK) {
    const ids = Array.from({ length: Math.min(CHUNK, max - first + 1) }, (_, index) => first + index);
    const rows = ids.map((id) => `(${id}, ${dialect.unusedTime}, 1, 1)`);
    statements.push(dialect.insertMissing(table, columns, dialect.quote('id'), rows));
  }
  return statements;
}
