import {
  APP_SEGMENT_TABLE,
  BUSINESS_NUMBER_TABLE,
  SEGMENT_TABLE,
  WORKER_NODE_TABLE,
  WORKER_TABLE,
} from '@raindrop/node/internal';
import { tableMigration, type TableMigration, type TableMigrationOptions } from './table-migration.js';

/**
 * A TypeORM migration that creates the worker table and those beside it, or adds Raindrop's columns to a table of the
 * Go original. Rows are added by the service itself.
 *
 * Its `down` drops them, and with them the memory of what was issued: only when no process runs, and not to be
 * undone within the next minutes, or IDs could repeat.
 *
 * @example migrations: [workerTableMigration(), ...]
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function workerTableMigration(options: TableMigrationOptions = {}): TableMigration {
  const { tableName = WORKER_TABLE.defaultName, timestamp = 1_704_067_200_000 } = options;
  return tableMigration(WORKER_TABLE, { tableName, timestamp });
}

/**
 * A TypeORM migration that creates the table of codes and their segments where it is missing.
 *
 * Its `down` drops it, and with it the memory of what was issued: numbers of codes that are used again would repeat.
 *
 * @example migrations: [segmentTableMigration(), ...]
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function segmentTableMigration(options: TableMigrationOptions = {}): TableMigration {
  const { tableName = SEGMENT_TABLE.defaultName, timestamp = 1_704_067_200_000 } = options;
  return tableMigration(SEGMENT_TABLE, { tableName, timestamp });
}

/**
 * The same for the table of apps and their shards. `registerApp` adds the rows.
 *
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function appSegmentTableMigration(options: TableMigrationOptions = {}): TableMigration {
  const { tableName = APP_SEGMENT_TABLE.defaultName, timestamp = 1_704_067_201_000 } = options;
  return tableMigration(APP_SEGMENT_TABLE, { tableName, timestamp });
}

/**
 * A TypeORM migration that creates the table of starts, for `workerIdAssigner: 'disposable'`.
 *
 * Its `down` drops it, and with it the memory of which worker ids were used: IDs could repeat.
 *
 * @example migrations: [workerNodeTableMigration(), ...]
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function workerNodeTableMigration(options: TableMigrationOptions = {}): TableMigration {
  const { tableName = WORKER_NODE_TABLE.defaultName, timestamp = 1_704_067_202_000 } = options;
  return tableMigration(WORKER_NODE_TABLE, { tableName, timestamp });
}

/**
 * A TypeORM migration that creates the table of business numbers.
 *
 * Its `down` drops the table, and with it the memory of what was given out: afterwards every series starts anew.
 *
 * @example migrations: [businessNumberTableMigration(), ...]
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function businessNumberTableMigration(options: TableMigrationOptions = {}): TableMigration {
  const { tableName = BUSINESS_NUMBER_TABLE.defaultName, timestamp = 1_704_067_200_000 } = options;
  return tableMigration(BUSINESS_NUMBER_TABLE, { tableName, timestamp });
}
