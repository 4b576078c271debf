import { ConfigurationError } from '@raindrop/core';
import type { DataSource, QueryRunner } from 'typeorm';
import { retried, driverCodeOf, type SqlValue } from '@raindrop/node/internal';
import { endSqliteTransactions } from '../connection/sqlite-transactions.js';
import { BusinessNumberTableMissingError } from './business-number-errors.js';
import {
  createNumberTable,
  DEFAULT_NUMBER_TABLE,
  NUMBER_COLUMNS,
  numberTable,
  type NumberTable,
} from './number-table.js';

/**
 * Creates the table of business numbers where it is missing. Any number of processes may do so at once; for the start of
 * the application, outside any transaction. The table is `tableName`: `table` or `schema.table`, by default
 * `raindrop_business_number`.
 *
 * @throws BusinessNumberTableMissingError when the account may not create it
 * @throws ConfigurationError when the database is not supported, the DataSource not initialised, or a table of that name
 *   somebody else's; InvalidTableNameError
 */
export async function prepareBusinessNumbers(
  dataSource: DataSource,
  { tableName = DEFAULT_NUMBER_TABLE }: { readonly tableName?: string } = {},
): Promise<void> {
  const place = numberTable(dataSource.options, tableName);
  if (!dataSource.isInitialized) refuse('not initialised', 'must be initialised: await dataSource.initialize() first');
  endSqliteTransactions(dataSource);
  const runner = dataSource.createQueryRunner('master');
  // SQLite: its one connection is everybody's, and a rollback would take the table away.
  if (runner.isTransactionActive) refuse('in a transaction', 'must be in none: call this before the first one');
  try {
    await retried(() => createIfMissing(runner, place));
  } finally {
    await runner.release();
  }
}

function refuse(given: string, message: string): never {
  throw new ConfigurationError([{ option: 'dataSource', given, message }]);
}

/** Looks first: an account without the right to create needs none when the table is there. */
export async function createIfMissing(runner: QueryRunner, place: NumberTable): Promise<void> {
  if (await isPresent(runner, place)) return;
  const sql = createNumberTable(place);
  try {
    for (const statement of sql) await runner.query(statement);
  } catch (error) {
    if (place.dialect.refusal(driverCodeOf(error)) !== 'rights') throw error;
    throw new BusinessNumberTableMissingError(place.table.name, sql, 'this account may not create it');
  }
}

async function isPresent(runner: QueryRunner, { dialect, table }: NumberTable): Promise<boolean> {
  const values: SqlValue[] = [];
  const sql = dialect.columnsOf(table, (value) => dialect.placeholder(values.push(value)));
  const { records } = await runner.query(sql, values, true);
  const found = new Set((records as { name: string }[]).map(({ name }) => name.toLowerCase()));
  const lacking = NUMBER_COLUMNS.map(({ name }) => name).filter((name) => !found.has(name));
  if (lacking.length > 0 && found.size > 0) {
    const message = `is no table of business numbers: it lacks ${lacking.join(', ')}. Choose another tableName`;
    throw new ConfigurationError([{ option: 'tableName', given: `'${table.name}'`, message }]);
  }
  return lacking.length === 0;
}
