import { ConfigurationError } from '@raindrop/core';
import type { SupportedDatabase } from '@raindrop/node';
import { dialectOf, parseTableName, type Dialect, type TableName } from '@raindrop/node/internal';
import type { MigrationInterface, QueryRunner } from 'typeorm';

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

/** Where a migration finds its table. */
export interface TablePlace {
  readonly type: SupportedDatabase;
  readonly dialect: Dialect;
  readonly table: TableName;
}

/** What a migration of a table does. */
export interface TableWork {
  /** The first part of its name, such as `CreateWorkerTable`. */
  readonly title: string;
  readonly tableName: string;
  readonly timestamp: number;
  up(runner: QueryRunner, place: TablePlace): Promise<void>;
  down(runner: QueryRunner, place: TablePlace): Promise<void>;
}

/**
 * A TypeORM migration of one of our tables.
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function tableMigration(work: TableWork): TableMigration {
  const { title, tableName, timestamp } = work;
  const { name } = parseTableName(tableName);
  if (!/^\d{13}$/.test(String(timestamp))) {
    const message = `must be Unix milliseconds of 13 digits, such as ${Date.now()}: TypeORM reads it from the name`;
    throw new ConfigurationError([{ option: 'timestamp', given: String(timestamp), message }]);
  }
  return class implements MigrationInterface {
    readonly name = `${title}_${name}_${timestamp}`;

    async up(runner: QueryRunner): Promise<void> {
      await work.up(runner, placeOf(runner, tableName));
    }

    async down(runner: QueryRunner): Promise<void> {
      await work.down(runner, placeOf(runner, tableName));
    }
  };
}

function placeOf(runner: QueryRunner, tableName: string): TablePlace {
  // TypeORM 0.3 calls it connection.
  const { options } = runner.dataSource ?? (runner as unknown as { connection: QueryRunner['dataSource'] }).connection;
  const { type, schema } = options as { type: SupportedDatabase; schema?: string };
  return { type, dialect: dialectOf(type), table: parseTableName(tableName, schema) };
}
