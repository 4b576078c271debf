import { ConfigurationError } from '@raindrop/core';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  quoteTable,
  type Dialect,
  findMissingTables,
  type RunSql,
  dialectOf,
  DEFAULT_WORKER_TABLE,
  layoutTableOf,
  parseTableName,
  type TableName,
} from '@raindrop/node/internal';

/** Of which table, under which name. */
export interface WorkerTableMigrationOptions {
  /** `table` or `schema.table`. Default `soc_raindrop_worker`. */
  readonly tableName?: string;
  /** The migration's place among the others: Unix ms. It must not change once it has run. Default 2024-01-01. */
  readonly timestamp?: number;
}

/** A migration as TypeORM's `migrations` option takes it. */
export type WorkerTableMigration = new () => MigrationInterface & { readonly name: string };

/**
 * A TypeORM migration that creates the worker table and its layout table, or adds Raindrop's columns to a table of the
 * Go original. Rows are added by the service itself.
 *
 * Its `down` drops both tables, and with them the memory of what was issued: only when no process runs, and not to be
 * undone within the next minutes, or IDs could repeat.
 *
 * @example migrations: [workerTableMigration(), ...]
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function workerTableMigration(options: WorkerTableMigrationOptions = {}): WorkerTableMigration {
  const { tableName = DEFAULT_WORKER_TABLE, timestamp = 1_704_067_200_000 } = options;
  const { name } = parseTableName(tableName);
  if (!/^\d{13}$/.test(String(timestamp))) {
    const message = `must be Unix milliseconds of 13 digits, such as ${Date.now()}: TypeORM reads it from the name`;
    throw new ConfigurationError([{ option: 'timestamp', given: String(timestamp), message }]);
  }
  return class implements MigrationInterface {
    readonly name = `CreateWorkerTable_${name}_${timestamp}`;

    async up(runner: QueryRunner): Promise<void> {
      const { dialect, table } = placeOf(runner, tableName);
      const run: RunSql = async (sql, values = []) => {
        const { records, affected } = await runner.query(sql, [...values], true);
        return { records: records as Record<string, unknown>[], affected };
      };
      const found = await findMissingTables(run, dialect, table);
      for (const statement of found?.sql ?? []) await runner.query(statement);
    }

    async down(runner: QueryRunner): Promise<void> {
      const { dialect, table } = placeOf(runner, tableName);
      await runner.query(`DROP TABLE IF EXISTS ${quoteTable(dialect, layoutTableOf(table))}`);
      await runner.query(`DROP TABLE IF EXISTS ${quoteTable(dialect, table)}`);
    }
  };
}

function placeOf(runner: QueryRunner, tableName: string): { dialect: Dialect; table: TableName } {
  // TypeORM 0.3 calls it connection.
  const { options } = runner.dataSource ?? (runner as unknown as { connection: QueryRunner['dataSource'] }).connection;
  const { type, schema } = options as { type: string; schema?: string };
  return { dialect: dialectOf(type), table: parseTableName(tableName, schema) };
}
