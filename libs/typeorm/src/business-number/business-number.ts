import { TableMissingError } from '@raindrop/node';
import { createTable, type Table } from '@raindrop/node/internal';
import type { EntityManager, QueryRunner } from 'typeorm';
import { dataSourceOf } from '../connection/data-source-of.js';
import { endSqliteTransactions } from '../connection/sqlite-transactions.js';
import {
  BusinessNumbersExhaustedError,
  conflictOf,
  isMissingTable,
  NumberResetChangedError,
  TransactionRequiredError,
} from './business-number-errors.js';
import { readNumberRequest, type BusinessNumberOptions, type NumberRequest } from './business-number-options.js';
import { keysHeldBy, type HeldKeys } from './transaction-turns.js';
import { NumberRow, ResetRow } from './number-row.js';
import { numberTable } from './prepare-business-numbers.js';

/**
 * Takes the next number of a series, such as `INV-2026-000001`, as part of the transaction of `manager`: committed with
 * it, and given back by its rollback, also by the rollback of a nested one. The committed numbers of a key (series,
 * `per`, period) have no gap and no repetition.
 *
 * The price: until the transaction ends, other transactions wait for a number of the key. Ask for the number late, and
 * for several keys always in the same order. A call takes one round trip to the database; two for the first number of a
 * period, three for the first number of the series.
 *
 * Do not send a number out of the process before the commit: after a rollback the next transaction gets the same number.
 *
 * @param template text with one `{seq}` or `{seq:6}`, and `{yyyy}`, `{yy}`, `{MM}`, `{dd}` of the date in `timeZone`
 * @throws InvalidNumberTemplateError, ConfigurationError, InvalidTableNameError
 * @throws TransactionRequiredError when the manager is in no transaction
 * @throws BusinessNumbersExhaustedError, NumberResetChangedError; nothing was consumed, and the transaction can go on
 * @throws BusinessNumberConflictError when the whole transaction has to be run again, see transactionWithRetries
 * @throws TableMissingError; PostgreSQL then refuses the transaction's further statements
 */
export async function businessNumber(
  manager: EntityManager,
  template: string,
  options: BusinessNumberOptions = {},
): Promise<string> {
  const request = readNumberRequest(template, options);
  const dataSource = dataSourceOf(manager);
  endSqliteTransactions(dataSource);
  const runner = runnerInTransaction(manager);
  const held = keysHeldBy(runner, dataSource);
  const place = numberTable(dataSource.options, request.tableName);
  try {
    return request.textOf(await allocate(held, place, request));
  } catch (error) {
    if (!isMissingTable(error)) throw conflictOf(error) ?? error;
    const missing = { missing: [place.name.name], sql: createTable(place) };
    throw new TableMissingError(place, missing, 'a number needs it');
  }
}

function runnerInTransaction({ queryRunner }: EntityManager): QueryRunner {
  if (queryRunner?.isTransactionActive !== true) throw new TransactionRequiredError('none');
  return queryRunner;
}

async function allocate(held: HeldKeys, place: Table, { key, start, last }: NumberRequest): Promise<bigint> {
  const { series, per, period } = key;
  const row = new NumberRow(held, place, key);
  const increment = await row.increment(start, last);
  if (increment === undefined) throw new BusinessNumbersExhaustedError(series, per, period, last);
  if (increment.isFirst) {
    const formerPeriod = await new ResetRow(held, place, key).claim();
    if (formerPeriod !== undefined) {
      await row.takeBack(increment);
      throw new NumberResetChangedError(series, per, period, formerPeriod);
    }
  }
  return increment.value;
}
