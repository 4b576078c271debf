import type { DataSource, DataSourceOptions } from 'typeorm';
import { ConfigurationError } from '@raindrop/core';
import {
  BUSINESS_NUMBER_TABLE,
  dialectOf,
  isSupportedDatabase,
  parseTableName,
  prepareTable,
  SUPPORTED_DATABASES,
  type Table,
} from '@raindrop/node/internal';
import { runSqlOf } from '../connection/data-source-of.js';
import { endSqliteTransactions } from '../connection/sqlite-transactions.js';

/**
 * Creates the table of business numbers where it is missing. Any number of processes may do so at once; for the start of
 * the application, outside any transaction. The table is `tableName`: `table` or `schema.table`, by default
 * `raindrop_business_number`.
 *
 * @throws TableMissingError when the account may not create it
 * @throws NotOurTableError when the table of that name has other columns
 * @throws ConfigurationError when the database is not supported or the DataSource not initialised; InvalidTableNameError
 */
export async function prepareBusinessNumbers(
  dataSource: DataSource,
  { tableName = BUSINESS_NUMBER_TABLE.defaultName }: { readonly tableName?: string } = {},
): Promise<void> {
  const place = numberTable(dataSource.options, tableName);
  if (!dataSource.isInitialized) refuse('not initialised', 'must be initialised: await dataSource.initialize() first');
  endSqliteTransactions(dataSource);
  const runner = dataSource.createQueryRunner('master');
  // A SQLite DataSource has one connection: the rollback of a transaction that is open on it would undo the CREATE TABLE.
  if (runner.isTransactionActive) refuse('in a transaction', 'must not be in one: call this before the first one');
  try {
    await prepareTable(runSqlOf(runner), place, { autoCreateTable: true });
  } finally {
    await runner.release();
  }
}

function refuse(given: string, message: string): never {
  throw new ConfigurationError([{ option: 'dataSource', given, message }]);
}

/**
 * The table of business numbers of a DataSource with these options.
 * @throws ConfigurationError when the database is not supported; InvalidTableNameError
 */
export function numberTable(options: DataSourceOptions, tableName: string): Table {
  const { type, schema } = options as { type: string; schema?: string };
  if (!isSupportedDatabase(type)) {
    const message = `cannot keep business numbers; supported are ${SUPPORTED_DATABASES.join(', ')}`;
    throw new ConfigurationError([{ option: "the DataSource's type", given: `'${type}'`, message }]);
  }
  return { kind: BUSINESS_NUMBER_TABLE, dialect: dialectOf(type), name: parseTableName(tableName, schema) };
}
