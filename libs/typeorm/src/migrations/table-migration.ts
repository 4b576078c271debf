import { ConfigurationError } from '@raindrop/core';
import {
  createMissing,
  dialectOf,
  dropTables,
  parseTableName,
  type Table,
  type TableKind,
} from '@raindrop/node/internal';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { dataSourceOf } from '../connection/data-source-of.js';
import { runSqlOf } from '../connection/run-sql-of.js';

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
export function tableMigration(kind: TableKind, options: Required<TableMigrationOptions>): TableMigration {
  const { tableName, timestamp } = options;
  const { name } = parseTableName(tableName);
  if (!/^\d{13}$/.test(String(timestamp))) {
    const message = `must be Unix milliseconds of 13 digits, such as 1767225600000: TypeORM reads it from the name`;
    throw new ConfigurationError([{ option: 'timestamp', given: String(timestamp), message }]);
  }
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
