import type { SupportedDatabase } from '../database/supported-database.js';
import { storageWarnings } from '../tables/prepare-table.js';
import { type TableKind, tableSql } from '../tables/table-kind.js';

/** The part of the key that people choose. */
export const NAME_COLUMNS = ['series', 'per'] as const;

export const KEY_COLUMNS = [...NAME_COLUMNS, 'period'] as const;

/**
 * A row for each series, tenant and period: start_value to value were given out. Both times are Unix ms of the database.
 * And one row for each series and tenant that says when it starts anew.
 */
export const BUSINESS_NUMBER_TABLE: TableKind = {
  name: 'businessNumber',
  title: 'table of business numbers',
  defaultName: 'raindrop_business_number',
  columns: [
    { name: 'series', kind: { key: 128 } },
    { name: 'per', kind: { key: 64 } },
    { name: 'period', kind: { exact: 10 } },
    { name: 'value', kind: 'bigint' },
    { name: 'start_value', kind: 'bigint' },
    { name: 'created_ms', kind: 'bigint' },
    { name: 'updated_ms', kind: 'bigint' },
  ],
  key: KEY_COLUMNS,
  options: 'keyTableOptions',
  preparedBy: 'prepareBusinessNumbers(dataSource)',
  // A number is taken in the caller's transaction, and goes back with it.
  flaw: async (run, table) => (await storageWarnings(run, table))[0],
};

/**
 * The statements that create the table of business numbers where it is missing: what prepareBusinessNumbers() runs, for
 * those who want to run it by hand.
 *
 * @param tableName `table` or `schema.table`, by default `raindrop_business_number`
 * @throws UnsupportedDatabaseError, InvalidTableNameError
 */
export function businessNumberTableSql(type: SupportedDatabase, tableName?: string): string[] {
  return tableSql(BUSINESS_NUMBER_TABLE, type, tableName);
}
