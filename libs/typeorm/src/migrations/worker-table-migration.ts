import {
  DEFAULT_WORKER_TABLE,
  findMissingTables,
  layoutTableOf,
  quoteTable,
  type RunSql,
} from '@raindrop/node/internal';
import { tableMigration, type TableMigration, type TableMigrationOptions } from './table-migration.js';

/**
 * Makes a TypeORM migration that creates the worker table and its layout table, or adds Raindrop's columns to a table
 * of the Go original. Rows are added by the service itself.
 *
 * Its `down` drops both tables, and with them the memory of what was issued: only when no process runs, and not to be
 * undone within the next minutes, or IDs could repeat.
 *
 * @example migrations: [workerTableMigration(), ...]
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function workerTableMigration(options: TableMigrationOptions = {}): TableMigration {
  return tableMigration({
    title: 'CreateWorkerTable',
    tableName: options.tableName ?? DEFAULT_WORKER_TABLE,
    timestamp: options.timestamp ?? 1_704_067_200_000,
    async up(runner, { dialect, table }) {
      const run: RunSql = async (sql, values = []) => {
        const { records, affected } = await runner.query(sql, [...values], true);
        return { records: records as Record<string, unknown>[], affected };
      };
      const found = await findMissingTables(run, dialect, table);
      for (const statement of found?.sql ?? []) await runner.query(statement);
    },
    async down(runner, { dialect, table }) {
      await runner.query(`DROP TABLE IF EXISTS ${quoteTable(dialect, layoutTableOf(table))}`);
      await runner.query(`DROP TABLE IF EXISTS ${quoteTable(dialect, table)}`);
    },
  });
}
