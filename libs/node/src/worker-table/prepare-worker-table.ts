import { ConfigurationError, type WorkerRange } from '@raindrop/core';
import { ForeignRowsError } from '@raindrop/core/internal';
import { retried } from '../database/retried.js';
import { quoteTable } from '../database/dialect.js';
import { isOfOthers } from './look-statements.js';
import type { RunSql } from '../database/run-sql.js';
import { prepareTable } from '../tables/prepare-table.js';
import type { MissingParts } from '../tables/table-errors.js';
import type { Table } from '../tables/table-kind.js';
import { insertRowsSql } from './worker-rows-sql.js';

/** What may be done to the table. */
export interface PrepareOptions {
  readonly autoCreateTable: boolean;
  /** Whether rows of other programs are expected there. */
  readonly adoptForeign?: boolean;
  /** Whether other programs create the table, and take any row that is in it. */
  readonly sharedWithOriginal?: boolean;
}

/**
 * Creates what is missing of tables and rows; changes nothing where another program may be at work that nobody has told us
 * of. Nor are rows added to a table that is shared: the original takes any row, be it outside its own bits.
 *
 * @throws ForeignRowsError, and what prepareTable throws
 */
export async function prepareWorkerTable(
  run: RunSql,
  table: Table,
  workers: WorkerRange,
  options: PrepareOptions,
): Promise<void> {
  const judge = (found: MissingParts): Promise<void> => refuseForeign(run, table, options, found);
  await prepareTable(run, table, { autoCreateTable: options.autoCreateTable, judge });
  if (options.sharedWithOriginal === true) return;
  await retried(async () => {
    const missing = await missingIds(run, table, workers);
    // Where nothing is to be changed, whoever acquires a row finds out.
    if (missing.length > 0) await refuseForeign(run, table, options, undefined);
    // Existing rows, deleted or not, and those outside of the range are left alone.
    for (const statement of insertRowsSql(table, missing)) await run(statement);
  });
}

async function refuseForeign(
  run: RunSql,
  { dialect, name }: Table,
  { adoptForeign = false, sharedWithOriginal = false }: PrepareOptions,
  found: MissingParts | undefined,
): Promise<void> {
  if (found?.missing.includes(name.name) === true) {
    if (!sharedWithOriginal) return;
    const message = `there is no table ${name.name}: let the original create it, with its rows, first`;
    throw new ConfigurationError([{ option: 'sharedWithOriginal', given: 'true', message }]);
  }
  if (adoptForeign || sharedWithOriginal) return;
  // Without our columns any row that has a code is another program's.
  const isOurs = found?.missing.includes(`${name.name}.own_version`) !== true;
  const isForeign = isOurs
    ? isOfOthers(dialect, 'w')
    : `w.${dialect.quote('del_flag')} = 2 AND w.${dialect.quote('code')} <> ''`;
  const id = `w.${dialect.quote('id')}`;
  const { records } = await run(`SELECT ${id} FROM ${quoteTable(dialect, name)} w WHERE ${isForeign} ORDER BY ${id}`);
  if (records.length > 0) throw new ForeignRowsError(records.map((record) => Number(record['id'])));
}

async function missingIds(run: RunSql, { dialect, name }: Table, { min, max }: WorkerRange): Promise<number[]> {
  const id = dialect.quote('id');
  const inRange = `FROM ${quoteTable(dialect, name)} WHERE ${id} BETWEEN ${dialect.placeholder(1)} AND ${dialect.placeholder(2)}`;
  // Nearly always all are there: one number tells.
  const counted = await run(`SELECT COUNT(DISTINCT ${id}) AS present ${inRange}`, [min, max]);
  if (Number(counted.records[0]?.['present']) === max - min + 1) return [];
  const { records } = await run(`SELECT ${id} ${inRange}`, [min, max]);
  const present = new Set(records.map((record) => Number(record['id'])));
  return Array.from({ length: max - min + 1 }, (_, index) => min + index).filter((each) => !present.has(each));
}
