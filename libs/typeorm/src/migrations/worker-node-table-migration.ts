import { ConfigurationError } from '@raindrop/core';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  quoteTable,
  dialectOf,
  parseTableName,
  DEFAULT_DISPOSABLE_TABLE,
  createNodeTable,
  type WorkerNodeTable,
} from '@raindrop/node/internal';
import type { SupportedDatabase } from '@raindrop/node';

/** Of which table, under which name. */
export interface WorkerNodeTableMigrationOptions {
  /** `table` or `schema.table`. Default `raindrop_worker_node`. */
  readonly tableName?: string;
  /**
   * The migration's place among the others: Unix ms. It must not change once it has run. Default 2024-01-01 and two
   * seconds.
   */
  readonly timestamp?: number;
}

/** A migration as TypeORM's `migrations` option takes it. */
export type WorkerNodeTableMigration = new () => MigrationInterface & { readonly name: string };

/**
 * A TypeORM migration that creates the table of starts, for `workerIdAssigner: 'disposable'`.
 *
 * Its `down` drops it, and with it the memory of which worker ids were used: IDs could repeat.
 *
 * @example migrations: [workerNodeTableMigration(), ...]
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function workerNodeTableMigration(options: WorkerNodeTableMigrationOptions = {}): WorkerNodeTableMigration {
  const { tableName = DEFAULT_DISPOSABLE_TABLE, timestamp = 1_704_067_202_000 } = options;
  const { name } = parseTableName(tableName);
  if (!/^\d{13}$/.test(String(timestamp))) {
    const message = `must be Unix milliseconds of 13 digits, such as ${Date.now()}: TypeORM reads it from the name`;
    throw new ConfigurationError([{ option: 'timestamp', given: String(timestamp), message }]);
  }
  return class implements MigrationInterface {
    readonly name = `CreateWorkerNodeTable_${name}_${timestamp}`;

    async up(runner: QueryRunner): Promise<void> {
      for (const statement of createNodeTable(placeOf(runner, tableName))) await runner.query(statement);
    }

    async down(runner: QueryRunner): Promise<void> {
      const { dialect, name: table } = placeOf(runner, tableName);
      await runner.query(`DROP TABLE IF EXISTS ${quoteTable(dialect, table)}`);
    }
  };
}

function placeOf(runner: QueryRunner, tableName: string): WorkerNodeTable {
  // TypeORM 0.3 calls it connection.
  const { options } = runner.dataSource ?? (runner as unknown as { connection: QueryRunner['dataSource'] }).connection;
  const { type, schema } = options as { type: SupportedDatabase; schema?: string };
  return { type, dialect: dialectOf(type), name: parseTableName(tableName, schema) };
}
