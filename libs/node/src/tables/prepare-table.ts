import { DatabaseCallError } from '../database/database-call-error.js';
import { DatabaseRefusedError } from '../database/database-refused-error.js';
import { retried } from '../database/retried.js';
import type { RunSql } from '../database/run-sql.js';
import { findMissing } from './find-missing.js';
import { TableMissingError, type MissingParts } from './table-errors.js';
import type { Table } from './table-kind.js';

export interface PrepareTableOptions {
  /** Whether what is missing is created. */
  readonly autoCreateTable: boolean;
  /** Is called before anything is created, and throws where nothing may be. */
  judge?(found: MissingParts): Promise<void>;
}

/**
 * Creates what is missing of a table and those beside it. Any number of processes may do so at once: where one is
 * overtaken by another its statement fails, it waits a little and looks again.
 *
 * @throws what {@link createMissing} throws
 */
export function prepareTable(run: RunSql, table: Table, options: PrepareTableOptions): Promise<void> {
  return retried(() => createMissing(run, table, options));
}

/**
 * The same without a second try. It looks first: an account needs no right to create what is there.
 *
 * @throws TableMissingError when something is missing and `autoCreateTable` is false or the account lacks the rights
 * @throws NotOurTableError
 */
export async function createMissing(run: RunSql, table: Table, options: PrepareTableOptions): Promise<void> {
  const found = await findMissing(run, table);
  if (found === undefined) return;
  await options.judge?.(found);
  if (!options.autoCreateTable) throw new TableMissingError(table, found, 'autoCreateTable is false');
  try {
    for (const statement of found.sql) await run(statement);
  } catch (error) {
    const { reason, driverCode } = error instanceof DatabaseRefusedError ? error : DatabaseCallError.from(error);
    if (table.dialect.refusal(driverCode) !== 'rights') throw error;
    throw new TableMissingError(table, found, `its account may not create it: ${reason}`);
  }
}
