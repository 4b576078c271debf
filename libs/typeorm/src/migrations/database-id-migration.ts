import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ConfigurationError } from '@raindrop/core';
import { wallClock } from '@raindrop/core/internal';
import { databaseIdSql, type DatabaseIdOptions, type SnowflakeModuleOptions } from '@raindrop/node';
import {
  createMissing,
  DEFAULT_ID_FUNCTION,
  dialectOf,
  hasIdFunction,
  parseTableName,
  quoteTable,
  resolveSnowflakeOptions,
  WORKER_TABLE,
} from '@raindrop/node/internal';
import { dataSourceOf, runSqlOf } from '../connection/data-source-of.js';
import { requireTimestamp, type TableMigration } from './table-migrations.js';

/** The function of {@link databaseIdMigration}, and the place of the migration among the others. */
export interface DatabaseIdMigrationOptions extends DatabaseIdOptions {
  /**
   * The migration's place among the others: Unix ms of 13 digits. It must not change once it has run. Default a moment of
   * 2024-01-01, after that of `workerTableMigration()`.
   */
  readonly timestamp?: number;
}

/**
 * A TypeORM migration that creates the worker table where it is missing, and runs `databaseIdSql()`: a function of
 * PostgreSQL 15 and later that makes IDs, for rows that no process of yours inserts. Table and function are in the schema of
 * the DataSource, unless their names say another one.
 *
 * In the transaction that installs it, the function cannot be used: it raises `RD001`. Later migrations of the same run may
 * name it in a DEFAULT. Those that insert rows by it need `migrationsTransactionMode: 'each'` or `'none'`: with TypeORM's
 * default, `'all'`, the whole run is one transaction.
 *
 * Its `down` drops the function and its two sequences. It fails while a column has the default. The worker row stays the
 * database's for good, so a later `up` needs another `workerId` and another `timestamp`.
 *
 * @param options the service's own: they name layout and worker table. Without a layout it is the default one
 * @example migrations: [databaseIdMigration({ layout: 'number' }, { grantTo: ['app'] }), ...]
 * @throws ConfigurationError; its `up` too, on a database other than PostgreSQL
 */
export function databaseIdMigration(
  options: SnowflakeModuleOptions = {},
  given: DatabaseIdMigrationOptions = {},
): TableMigration {
  // Refuses what is wrong before a migration runs.
  databaseIdSql(options, given);
  const { name = DEFAULT_ID_FUNCTION, timestamp = 1_704_067_204_000 } = given;
  requireTimestamp(timestamp);
  const { tableName, dbConfig } = resolveSnowflakeOptions(options, wallClock.now());

  return class implements MigrationInterface {
    readonly name = `InstallDatabaseIds_${parseTableName(name).name}_${timestamp}`;

    async up(runner: QueryRunner): Promise<void> {
      const { type } = dataSourceOf(runner).options;
      const dialect = dialectOf(type);
      if (!hasIdFunction(dialect)) {
        const message =
          'databaseIdMigration() is for PostgreSQL: leave it out of the migrations of other databases. See docs/sql.md';
        throw new ConfigurationError([{ option: 'type', given: type, message }]);
      }
      const schema = schemaOf(runner);
      const table = { kind: WORKER_TABLE, dialect, name: parseTableName(tableName, schema) };
      await createMissing(runSqlOf(runner), table, { autoCreateTable: true });
      const [tableHere, nameHere] = [tableName, name].map((each) => withSchema(each, schema));
      await runner.query(databaseIdSql({ ...options, tableName: tableHere! }, { ...given, name: nameHere! }));
    }

    async down(runner: QueryRunner): Promise<void> {
      const dialect = dialectOf(dataSourceOf(runner).options.type);
      const { schema, name: stem } = parseTableName(name, schemaOf(runner));
      const place = (suffix: string): string => quoteTable(dialect, { schema, name: stem + suffix });
      await runner.query(
        `DROP FUNCTION ${place('')}(), ${place('_open')}(bigint), ${place('_close')}(bigint, boolean)`,
      );
      await runner.query(`DROP SEQUENCE ${place('_position')}, ${place('_tick')}`);
    }
  };

  function schemaOf(runner: QueryRunner): string | undefined {
    return (dataSourceOf(runner).options as { schema?: string }).schema ?? dbConfig?.schema;
  }
}

function withSchema(text: string, schema: string | undefined): string {
  return schema === undefined || text.includes('.') ? text : `${schema}.${text}`;
}
