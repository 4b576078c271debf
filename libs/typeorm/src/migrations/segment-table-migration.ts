import { ConfigurationError } from '@raindrop/core';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  quoteTable,
  dialectOf,
  parseTableName,
  type SegmentTablePlace,
  createSegmentTable,
  APP_SEGMENTS,
  CODE_SEGMENTS,
  DEFAULT_APP_SEGMENT_TABLE,
  DEFAULT_SEGMENT_TABLE,
  type SegmentTable,
} from '@raindrop/node/internal';

/** Of which table, under which name. */
export interface SegmentTableMigrationOptions {
  /** `table` or `schema.table`. Default `raindrop_segment`; of apps `raindrop_app_segment`. */
  readonly tableName?: string;
  /**
   * The migration's place among the others: Unix ms. It must not change once it has run. Default 2024-01-01; of apps one
   * second later.
   */
  readonly timestamp?: number;
}

/** A migration as TypeORM's `migrations` option takes it. */
export type SegmentTableMigration = new () => MigrationInterface & { readonly name: string };

/**
 * A TypeORM migration that creates the table of codes and their segments where it is missing.
 *
 * Its `down` drops it, and with it the memory of what was issued: numbers of codes that are used again would repeat.
 *
 * @example migrations: [segmentTableMigration(), ...]
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function segmentTableMigration(options: SegmentTableMigrationOptions = {}): SegmentTableMigration {
  const { tableName = DEFAULT_SEGMENT_TABLE, timestamp = 1_704_067_200_000 } = options;
  return migrationOf(CODE_SEGMENTS, 'CreateSegmentTable', tableName, timestamp);
}

/**
 * The same for the table of apps and their shards. `registerApp` adds the rows.
 *
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function appSegmentTableMigration(options: SegmentTableMigrationOptions = {}): SegmentTableMigration {
  const { tableName = DEFAULT_APP_SEGMENT_TABLE, timestamp = 1_704_067_201_000 } = options;
  return migrationOf(APP_SEGMENTS, 'CreateAppSegmentTable', tableName, timestamp);
}

function migrationOf(table: SegmentTable, title: string, tableName: string, timestamp: number): SegmentTableMigration {
  const { name } = parseTableName(tableName);
  if (!/^\d{13}$/.test(String(timestamp))) {
    const message = `must be Unix milliseconds of 13 digits, such as ${Date.now()}: TypeORM reads it from the name`;
    throw new ConfigurationError([{ option: 'timestamp', given: String(timestamp), message }]);
  }
  return class implements MigrationInterface {
    readonly name = `${title}_${name}_${timestamp}`;

    async up(runner: QueryRunner): Promise<void> {
      const { dialect, name: place } = placeOf(runner, tableName);
      for (const statement of createSegmentTable(dialect, place, table)) await runner.query(statement);
    }

    async down(runner: QueryRunner): Promise<void> {
      const { dialect, name: place } = placeOf(runner, tableName);
      await runner.query(`DROP TABLE IF EXISTS ${quoteTable(dialect, place)}`);
    }
  };
}

function placeOf(runner: QueryRunner, tableName: string): Pick<SegmentTablePlace, 'dialect' | 'name'> {
  // TypeORM 0.3 calls it connection.
  const { options } = runner.dataSource ?? (runner as unknown as { connection: QueryRunner['dataSource'] }).connection;
  const { type, schema } = options as { type: string; schema?: string };
  return { dialect: dialectOf(type), name: parseTableName(tableName, schema) };
}
