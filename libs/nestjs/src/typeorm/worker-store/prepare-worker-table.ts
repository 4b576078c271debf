import type { WorkerRange } from '@raindrop/core';
import { retried } from '../database/retried.js';
import { DatabaseRefusedError } from '../database/database-refused-error.js';
import { quoteTable, type Dialect } from '../database/dialect.js';
import { findMissingTables, WorkerTableMissingError } from './missing-tables.js';
import type { RunSql } from '../database/run-sql.js';
import type { TableName } from '../database/table-name.js';

export interface WorkerTableContext {
  readonly run: RunSql;
  readonly dialect: Dialect;
  readonly table: TableName;
}

/** One statement's worth of rows. */
const CHUNK = 256;

/**
 * Creates what is missing of the tables. Any number of processes may do so at once: where one is overtaken by another
 * its statement fails, it waits a little and looks again.
 *
 * @throws WorkerTableMissingError when something is missing and `autoCreate` is false or the account lacks the rights
 * @throws NotAWorkerTableError when a table of that name is somebody else's
 */
export async function createMissingTables(context: WorkerTableContext, autoCreate: boolean): Promise<void> {
  const { run, dialect, table } = context;
  await retried(async () => {
    const found = await findMissingTables(run, dialect, table);
    if (found === undefined) return;
    if (!autoCreate) throw new WorkerTableMissingError(found, 'autoCreateTable is false');
    try {
      for (const statement of found.sql) await run(statement);
    } catch (error) {
      const isDenied = error instanceof DatabaseRefusedError && error.refusal === 'rights';
      throw isDenied ? new WorkerTableMissingError(found, `its account may not create it: ${error.reason}`) : error;
    }
  });
}

/** Adds the rows of the range that are missing; existing ones, deleted or not, and those outside are left alone. */
export async function addMissingRows(context: WorkerTableContext, workers: WorkerRange): Promise<void> {
  await retried(async () => {
    const missing = await missingIds(context, workers);
    for (let start = 0; start < missing.length; start += CHUNK) {
      await insertRows(context, missing.slice(start, start + CHUNK));
    }
  });
}

async function missingIds({ run, dialect, table }: WorkerTableContext, { min, max }: WorkerRange): Promise<number[]> {
  const id = dialect.quote('id');
  const inRange = `FROM ${quoteTable(dialect, table)} WHERE ${id} BETWEEN ${dialect.placeholder(1)} AND ${dialect.placeholder(2)}`;
  // Nearly always all are there: one number tells.
  const counted = await run(`SELECT COUNT(DISTINCT ${id}) AS present ${inRange}`, [min, max]);
  if (Number(counted.records[0]?.['present']) === max - min + 1) return [];
  const { records } = await run(`SELECT ${id} ${inRange}`, [min, max]);
  const present = new Set(records.map((record) => Number(record['id'])));
  return Array.from({ length: max - min + 1 }, (_, index) => min + index).filter((each) => !present.has(each));
}

async function insertRows({ run, dialect, table }: WorkerTableContext, ids: readonly number[]): Promise<void> {
  const columns = ['id', 'heartbeat_time', 'version', 'own_version'].map((column) => dialect.quote(column));
  const rows = ids.map((_, index) => `(${dialect.placeholder(index + 1)}, ${dialect.unusedTime}, 1, 1)`);
  await run(dialect.insertMissing(quoteTable(dialect, table), columns, dialect.quote('id'), rows), ids);
}
