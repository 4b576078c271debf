import { createIfMissing } from '../business-number/prepare-business-numbers.js';
import { DEFAULT_NUMBER_TABLE, dropNumberTable } from '../business-number/number-table.js';
import { tableMigration, type TableMigration, type TableMigrationOptions } from './table-migration.js';

/**
 * Makes a TypeORM migration that creates the table of business numbers.
 *
 * Its `down` drops the table, and with it the memory of what was given out: afterwards every series starts anew.
 *
 * @example migrations: [businessNumberTableMigration(), ...]
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function businessNumberTableMigration(options: TableMigrationOptions = {}): TableMigration {
  return tableMigration({
    title: 'CreateBusinessNumberTable',
    tableName: options.tableName ?? DEFAULT_NUMBER_TABLE,
    timestamp: options.timestamp ?? 1_704_067_200_000,
    up: (runner, place) => createIfMissing(runner, place),
    down: async (runner, place) => void (await runner.query(dropNumberTable(place))),
  });
}
