import { createNodeTable, DEFAULT_DISPOSABLE_TABLE, quoteTable } from '@raindrop/node/internal';
import { tableMigration, type TableMigration, type TableMigrationOptions } from './table-migration.js';

/**
 * Makes a TypeORM migration that creates the table of starts, for `workerIdAssigner: 'disposable'`.
 *
 * Its `down` drops it, and with it the memory of which worker ids were used: IDs could repeat.
 *
 * @example migrations: [workerNodeTableMigration(), ...]
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function workerNodeTableMigration(options: TableMigrationOptions = {}): TableMigration {
  return tableMigration({
    title: 'CreateWorkerNodeTable',
    tableName: options.tableName ?? DEFAULT_DISPOSABLE_TABLE,
    timestamp: options.timestamp ?? 1_704_067_202_000,
    async up(runner, { type, dialect, table }) {
      for (const statement of createNodeTable({ type, dialect, name: table })) await runner.query(statement);
    },
    async down(runner, { dialect, table }) {
      await runner.query(`DROP TABLE IF EXISTS ${quoteTable(dialect, table)}`);
    },
  });
}
