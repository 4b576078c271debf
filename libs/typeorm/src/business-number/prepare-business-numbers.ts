import { ConfigurationError } from '@raindrop/core';
import type { DataSource } from 'typeorm';
import { BUSINESS_NUMBER_TABLE, prepareTable } from '@raindrop/node/internal';
import { runSqlOf } from '../connection/run-sql-of.js';
import { endSqliteTransactions } from '../connection/sqlite-transactions.js';
import { numberTable } from './number-table.js';

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
  // SQLite: its one connection is everybody's, and a rollback would take the table away.
  if (runner.isTransactionActive) refuse('in a transaction', 'must be in none: call this before the first one');
  try {
    await prepareTable(runSqlOf(runner), place, { autoCreateTable: true });
  } finally {
    await runner.release();
  }
}

function refuse(given: string, message: string): never {
  throw new ConfigurationError([{ option: 'dataSource', given, message }]);
}
