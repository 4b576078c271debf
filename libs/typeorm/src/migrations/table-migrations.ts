import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  APP_SEGMENT_TABLE,
  BUSINESS_NUMBER_TABLE,
  createMissing,
  dialectOf,
  dropTables,
  historyTableOf,
  parseTableName,
  refuseNonObject,
  SEGMENT_TABLE,
  type Table,
  type TableKind,
  WORKER_HISTORY_TABLE,
  WORKER_NODE_TABLE,
  WORKER_TABLE,
} from '@raindrop/node/internal';
import { ConfigurationError } from '@raindrop/core';
import { dataSourceOf, runSqlOf } from '../connection/data-source-of.js';

/**
 * A TypeORM migration that creates the worker table and those beside it, or adds Raindrop's columns to a table of the
 * Go original. Rows are added by the service itself.
 *
 * Its `down` drops these tables, and with them the record of what was issued. Run it only when no process issues IDs, and
 * do not run `up` again within the next minutes: IDs could repeat.
 *
 * @example migrations: [workerTableMigration(), ...]
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function workerTableMigration(options: TableMigrationOptions = {}): TableMigration {
  refuseNonObject('options', options, 'must be an object with the options');
  const { tableName = WORKER_TABLE.defaultName, timestamp = 1_704_067_200_000 } = options;
  return tableMigration(WORKER_TABLE, { tableName, timestamp });
}

/**
 * A TypeORM migration that creates the table of the option `workerHistory`, for accounts that may not create tables.
 * `tableName` is the worker table's. Its `down` drops the table, and with it the record of which process issued what.
 *
 * @example migrations: [workerTableMigration(), workerHistoryTableMigration(), ...]
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function workerHistoryTableMigration(options: TableMigrationOptions = {}): TableMigration {
  refuseNonObject('options', options, 'must be an object with the options');
  const { tableName = WORKER_TABLE.defaultName, timestamp = 1_704_067_203_000 } = options;
  const { schema, name } = historyTableOf(parseTableName(tableName));
  return tableMigration(WORKER_HISTORY_TABLE, {
    tableName: schema === undefined ? name : `${schema}.${name}`,
    timestamp,
  });
}

/**
 * A TypeORM migration that creates the table of codes and their segments where it is missing.
 *
 * Its `down` drops the table, and with it the record of what was issued: codes that are used again repeat their numbers.
 *
 * @example migrations: [segmentTableMigration(), ...]
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function segmentTableMigration(options: TableMigrationOptions = {}): TableMigration {
  refuseNonObject('options', options, 'must be an object with the options');
  const { tableName = SEGMENT_TABLE.defaultName, timestamp = 1_704_067_200_000 } = options;
  return tableMigration(SEGMENT_TABLE, { tableName, timestamp });
}

/**
 * The same for the table of apps and their shards. `registerApp` adds the rows.
 *
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function appSegmentTableMigration(options: TableMigrationOptions = {}): TableMigration {
  refuseNonObject('options', options, 'must be an object with the options');
  const { tableName = APP_SEGMENT_TABLE.defaultName, timestamp = 1_704_067_201_000 } = options;
  return tableMigration(APP_SEGMENT_TABLE, { tableName, timestamp });
}

/**
 * A TypeORM migration that creates the table of starts, for `workerIdAssigner: 'disposable'`.
 *
 * Its `down` drops the table, and with it the record of which worker ids were used: IDs could repeat.
 *
 * @example migrations: [workerNodeTableMigration(), ...]
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function workerNodeTableMigration(options: TableMigrationOptions = {}): TableMigration {
  refuseNonObject('options', options, 'must be an object with the options');
  const { tableName = WORKER_NODE_TABLE.defaultName, timestamp = 1_704_067_202_000 } = options;
  return tableMigration(WORKER_NODE_TABLE, { tableName, timestamp });
}

/**
 * A TypeORM migration that creates the table of business numbers.
 *
 * Its `down` drops the table, and with it the record of what was given out: afterwards every series starts anew.
 *
 * @example migrations: [businessNumberTableMigration(), ...]
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function businessNumberTableMigration(options: TableMigrationOptions = {}): TableMigration {
  refuseNonObject('options', options, 'must be an object with the options');
  const { tableName = BUSINESS_NUMBER_TABLE.defaultName, timestamp = 1_704_067_200_000 } = options;
  return tableMigration(BUSINESS_NUMBER_TABLE, { tableName, timestamp });
}

/** The table of a migration, and the place of the migration among the others. */
export interface TableMigrationOptions {
  /** `table` or `schema.table`. Default the name that the table has in the options of the service. */
  readonly tableName?: string;
  /**
   * The migration's place among the others: Unix ms. It must not change once it has run. Default a moment of 2024-01-01
   * that each kind of table has for itself.
   */
  readonly timestamp?: number;
}

/** A migration as TypeORM's `migrations` option takes it. */
export type TableMigration = new () => MigrationInterface & { readonly name: string };

/**
 * A TypeORM migration that creates a table of this kind where it is missing, and drops it.
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
function tableMigration(kind: TableKind, options: Required<TableMigrationOptions>): TableMigration {
  const { tableName, timestamp } = options;
  const { name } = parseTableName(tableName);
  requireTimestamp(timestamp);
  return class implements MigrationInterface {
    readonly name = `Create${kind.name[0]!.toUpperCase()}${kind.name.slice(1)}Table_${name}_${timestamp}`;

    async up(runner: QueryRunner): Promise<void> {
      await createMissing(runSqlOf(runner), tableAt(runner), { autoCreateTable: true });
    }

    async down(runner: QueryRunner): Promise<void> {
      for (const statement of dropTables(tableAt(runner))) await runner.query(statement);
    }
  };

  function tableAt(runner: QueryRunner): Table {
    const { type, schema } = dataSourceOf(runner).options as { type: string; schema?: string };
    return { kind, dialect: dialectOf(type), name: parseTableName(tableName, schema) };
  }
}

/** @throws ConfigurationError when TypeORM would not find the timestamp at the end of a migration's name */
export function requireTimestamp(timestamp: number): void {
  if (/^\d{13}$/.test(String(timestamp))) return;
  const message = 'must be Unix milliseconds of 13 digits, such as 1767225600000: TypeORM reads it from the name';
  throw new ConfigurationError([{ option: 'timestamp', given: String(timestamp), message }]);
}
