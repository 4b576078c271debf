import { DatabaseRefusedError } from '../database/database-refused-error.js';
import type { SqlValue } from '../database/dialect.js';
import type { RunSql } from '../database/run-sql.js';
import { counterFlaw } from './counter-flaw.js';
import { NotAWorkerNodeTableError, WorkerNodeTableMissingError } from './disposable-errors.js';
import { createNodeTable, NODE_COLUMNS, type WorkerNodeTable } from './worker-node-table.js';

/**
 * Creates the table of starts when it is missing. Any number of processes may do so at once: where one is overtaken its
 * statement fails, and it has to be called again.
 *
 * @throws WorkerNodeTableMissingError when it is missing and `autoCreate` is false or the account lacks the rights
 * @throws NotAWorkerNodeTableError
 */
export async function prepareWorkerNodes(run: RunSql, table: WorkerNodeTable, autoCreate: boolean): Promise<void> {
  if (await isPresent(run, table)) return;
  const sql = createNodeTable(table);
  if (!autoCreate) throw new WorkerNodeTableMissingError(table.name.name, sql, 'autoCreateTable is false');
  try {
    for (const statement of sql) await run(statement);
  } catch (error) {
    if (!(error instanceof DatabaseRefusedError) || error.refusal !== 'rights') throw error;
    const reason = `its account may not create it: ${error.reason}`;
    throw new WorkerNodeTableMissingError(table.name.name, sql, reason);
  }
}

async function isPresent(run: RunSql, table: WorkerNodeTable): Promise<boolean> {
  const { dialect, name } = table;
  const values: SqlValue[] = [];
  const placeholderOf = (value: SqlValue): string => dialect.placeholder(values.push(value));
  const { records } = await run(dialect.columnsOf(name, placeholderOf), values);
  const found = new Set(records.map((record) => String(Object.values(record)[0]).toLowerCase()));
  if (found.size === 0) return false;
  const lacking = ['id', ...NODE_COLUMNS.map((column) => column.name)].filter((column) => !found.has(column));
  if (lacking.length > 0) throw new NotAWorkerNodeTableError(name.name, `it lacks ${lacking.join(', ')}`);
  const flaw = await counterFlaw(run, table);
  if (flaw !== undefined) throw new NotAWorkerNodeTableError(name.name, flaw);
  return true;
}
