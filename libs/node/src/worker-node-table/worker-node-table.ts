import type { SupportedDatabase } from '../database/supported-database.js';
import type { TableKind } from '../tables/table-kind.js';
import { tableSql } from '../tables/table-sql.js';
import { counterFlaw } from './counter-flaw.js';

/** Characters kept of a host's name, as many as uid-generator keeps. */
export const HOST_NAME_LENGTH = 64;

/** A row for each start. Columns are uid-generator's. */
export const WORKER_NODE_TABLE: TableKind = {
  name: 'workerNode',
  title: 'table of starts',
  defaultName: 'raindrop_worker_node',
  columns: [
    { name: 'id', kind: 'counter' },
    { name: 'host_name', kind: { text: HOST_NAME_LENGTH } },
    { name: 'port', kind: { text: 64 } },
    { name: 'type', kind: 'int' },
    { name: 'launch_date', kind: 'time', defaultValue: 'now' },
    { name: 'modified', kind: 'time', defaultValue: 'touched' },
    { name: 'created', kind: 'time', defaultValue: 'now' },
  ],
  key: [],
  options: 'tableOptions',
  flaw: counterFlaw,
};

/**
 * Returns the statements that create the table of starts, for `workerIdAssigner: 'disposable'`: what Raindrop itself
 * runs at the first start, for those who want to run it by hand.
 *
 * @param tableName `table` or `schema.table`, by default `raindrop_worker_node`
 * @throws UnsupportedDatabaseError, InvalidTableNameError
 */
export function workerNodeTableSql(type: SupportedDatabase, tableName?: string): string[] {
  return tableSql(WORKER_NODE_TABLE, type, tableName);
}
