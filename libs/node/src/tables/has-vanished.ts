import { DatabaseCallError } from '../database/database-call-error.js';
import { DatabaseRefusedError } from '../database/database-refused-error.js';
import { quoteTable, type Dialect } from '../database/dialect.js';
import type { RunSql } from '../database/run-sql.js';
import { stateTableOf } from './state-table.js';
import type { MissingParts } from './table-errors.js';
import type { Table } from './table-kind.js';

/** Whether an error says that something a statement names is not there. */
export function saysGone(dialect: Dialect, error: unknown): boolean {
  const { driverCode, reason } = error instanceof DatabaseRefusedError ? error : DatabaseCallError.from(error);
  return dialect.isGone(driverCode, reason);
}

/**
 * Whether a statement on the table alone says that it is not there, or that it is another program's, without our columns.
 * @throws everything else, such as a refusal of rights, which says neither
 */
export async function isGone(run: RunSql, { dialect, name, kind }: Table): Promise<boolean> {
  const [column] = kind.addedColumns ?? kind.columns;
  try {
    // With its alias: SQLite would take the name of a column that is missing for a text.
    await run(`SELECT w.${dialect.quote(column!.name)} FROM ${quoteTable(dialect, name)} w WHERE 1 = 0`);
    return false;
  } catch (error) {
    if (saysGone(dialect, error)) return true;
    throw error;
  }
}

/**
 * Whether the table, or all that we add to it, is missing beside its state. What a catalog does not show it may only hide
 * from the account; and the table is made before its state: who has seen that, and asks once more, does not take for a loss
 * what others are making at this moment.
 */
export async function hasVanished(run: RunSql, table: Table, { missing }: MissingParts): Promise<boolean> {
  const { name, kind } = table;
  const { addedColumns: added = [] } = kind;
  const isBare = added.length > 0 && added.every((column) => missing.includes(`${name.name}.${column.name}`));
  if (!isBare && !missing.includes(name.name)) return false;
  return !missing.includes(stateTableOf(name).name) && (await isGone(run, table));
}
