import {
  APP_SEGMENTS,
  CODE_SEGMENTS,
  createSegmentTable,
  DEFAULT_APP_SEGMENT_TABLE,
  DEFAULT_SEGMENT_TABLE,
  quoteTable,
  type SegmentTable,
} from '@raindrop/node/internal';
import { tableMigration, type TableMigration, type TableMigrationOptions } from './table-migration.js';

/**
 * Makes a TypeORM migration that creates the table of codes and their segments where it is missing.
 *
 * Its `down` drops it, and with it the memory of what was issued: numbers of codes that are used again would repeat.
 *
 * @example migrations: [segmentTableMigration(), ...]
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function segmentTableMigration(options: TableMigrationOptions = {}): TableMigration {
  const { tableName = DEFAULT_SEGMENT_TABLE, timestamp = 1_704_067_200_000 } = options;
  return migrationOf(CODE_SEGMENTS, 'CreateSegmentTable', tableName, timestamp);
}

/**
 * Makes a TypeORM migration that creates the table of apps and their shards. `registerApp` adds the rows.
 *
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function appSegmentTableMigration(options: TableMigrationOptions = {}): TableMigration {
  const { tableName = DEFAULT_APP_SEGMENT_TABLE, timestamp = 1_704_067_201_000 } = options;
  return migrationOf(APP_SEGMENTS, 'CreateAppSegmentTable', tableName, timestamp);
}

function migrationOf(kind: SegmentTable, title: string, tableName: string, timestamp: number): TableMigration {
  return tableMigration({
    ...{ title, tableName, timestamp },
    async up(runner, { dialect, table }) {
      for (const statement of createSegmentTable(dialect, table, kind)) await runner.query(statement);
    },
    async down(runner, { dialect, table }) {
      await runner.query(`DROP TABLE IF EXISTS ${quoteTable(dialect, table)}`);
    },
  });
}
