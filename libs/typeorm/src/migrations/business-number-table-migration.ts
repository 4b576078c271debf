import { ConfigurationError } from '@raindrop/core';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { parseTableName } from '@raindrop/node/internal';
import { DEFAULT_NUMBER_TABLE, dropNumberTable, numberTableOf } from '../business-number/number-table.js';
import { createIfMissing } from '../business-number/prepare-business-numbers.js';

/** Of which table, under which name. */
export interface BusinessNumberTableMigrationOptions {
  /** `table` or `schema.table`. Default `raindrop_business_number`. */
  readonly tableName?: string;
  /** The migration's place among the others: Unix ms. It must not change once it has run. Default 2024-01-01. */
  readonly timestamp?: number;
}

/** A migration as TypeORM's `migrations` option takes it. */
export type BusinessNumberTableMigration = new () => MigrationInterface & { readonly name: string };

/**
 * A TypeORM migration that creates the table of business numbers.
 *
 * Its `down` drops the table, and with it the memory of what was given out: afterwards every series starts anew.
 *
 * @example migrations: [businessNumberTableMigration(), ...]
 * @throws InvalidTableNameError; ConfigurationError when `timestamp` does not have the 13 digits that TypeORM looks for
 */
export function businessNumberTableMigration(
  options: BusinessNumberTableMigrationOptions = {},
): BusinessNumberTableMigration {
  const { tableName = DEFAULT_NUMBER_TABLE, timestamp = 1_704_067_200_000 } = options;
  const { name } = parseTableName(tableName);
  if (!/^\d{13}$/.test(String(timestamp))) {
    const message = `must be Unix milliseconds of 13 digits, such as ${Date.now()}: TypeORM reads it from the name`;
    throw new ConfigurationError([{ option: 'timestamp', given: String(timestamp), message }]);
  }
  return class implements MigrationInterface {
    readonly name = `CreateBusinessNumberTable_${name}_${timestamp}`;

    async up(runner: QueryRunner): Promise<void> {
      await createIfMissing(runner, numberTableOf(runner, tableName));
    }

    async down(runner: QueryRunner): Promise<void> {
      await runner.query(dropNumberTable(numberTableOf(runner, tableName)));
    }
  };
}
