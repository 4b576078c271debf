import { ConfigurationError, type WorkerRange } from '@raindrop/core';
import { ForeignRowsError } from '@raindrop/core/internal';
import { retried } from '../database/retried.js';
import { DatabaseRefusedError } from '../database/database-refused-error.js';
import { quoteTable, type Dialect } from '../database/dialect.js';
import { isOfOthers } from './look-statements.js';
import { findMissingTables, WorkerTableMissingError, type MissingTables } from './missing-tables.js';
import type { RunSql } from '../database/run-sql.js';
import type { TableName } from '../database/table-name.js';

export interface WorkerTableContext {
  readonly run: RunSql;
  readonly dialect: Dialect;
  readonly table: TableName;
}

/** What may be done to the table. */
export interface PrepareOptions {
  readonly autoCreateTable: boolean;
  /** Whether rows of other programs are expected there. */
  readonly adoptForeign?: boolean;
  /** Whether other programs create the table, and take any row that is in it. */
  readonly sharedWithOriginal?: boolean;
}

/** One statement's worth of rows. */
const CHUNK = 256;

/**
 * Creates what is missing of tables and rows; changes nothing where another program may be at work that nobody has told us
 * of. Nor are rows added to a table that is shared: the original takes any row, be it outside its own bits.
 *
 * @throws what {@link createMissingTables} throws
 */
export async function prepareWorkerTable(
  context: WorkerTableContext,
  options: PrepareOptions,
  workers: WorkerRange,
): Promise<void> {
  await createMissingTables(context, options);
  if (options.sharedWithOriginal !== true) await addMissingRows(context, options, workers);
}

/**
 * Creates what is missing of the tables. Any number of processes may do so at once: where one is overtaken by another
 * its statement fails, it waits a little and looks again.
 *
 * @throws WorkerTableMissingError when something is missing and `autoCreate` is false or the account lacks the rights
 * @throws NotAWorkerTableError when a table of that name is somebody else's
 * @throws ForeignRowsError
 */
async function createMissingTables(context: WorkerTableContext, options: PrepareOptions): Promise<void> {
  const { run, dialect, table } = context;
  await retried(async () => {
    const found = await findMissingTables(run, dialect, table);
    if (found === undefined) return;
    await refuseForeign(context, options, found);
    if (!options.autoCreateTable) throw new WorkerTableMissingError(found, 'autoCreateTable is false');
    try {
      for (const statement of found.sql) await run(statement);
    } catch (error) {
      const isDenied = error instanceof DatabaseRefusedError && error.refusal === 'rights';
      throw isDenied ? new WorkerTableMissingError(found, `its account may not create it: ${error.reason}`) : error;
    }
  });
}

async function refuseForeign(
  { run, dialect, table }: WorkerTableContext,
  { adoptForeign = false, sharedWithOriginal = false }: PrepareOptions,
  found: MissingTables | undefined,
): Promise<void> {
  if (found?.missing.includes(table.name) === true) {
    if (!sharedWithOriginal) return;
    const message = `there is no table ${table.name}: let the original create it, with its rows, first`;
    throw new ConfigurationError([{ option: 'sharedWithOriginal', given: 'true', message }]);
  }
  if (adoptForeign || sharedWithOriginal) return;
  // Without our columns any row that has a code is another program's.
  const isOurs = found?.missing.includes(`${table.name}.own_version`) !== true;
  const isForeign = isOurs
    ? isOfOthers(dialect, 'w')
    : `w.${dialect.quote('del_flag')} = 2 AND w.${dialect.quote('code')} <> ''`;
  const id = `w.${dialect.quote('id')}`;
  const { records } = await run(`SELECT ${id} FROM ${quoteTable(dialect, table)} w WHERE ${isForeign} ORDER BY ${id}`);
  if (records.length > 0) throw new ForeignRowsError(records.map((record) => Number(record['id'])));
}

/** Adds the rows of the range that are missing; existing ones, deleted or not, and those outside are left alone. */
async function addMissingRows(
  context: WorkerTableContext,
  options: PrepareOptions,
  workers: WorkerRange,
): Promise<void> {
  await retried(async () => {
    const missing = await missingIds(context, workers);
    // Where nothing is to be changed, whoever acquires a row finds out.
    if (missing.length > 0) await refuseForeign(context, options, undefined);
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
