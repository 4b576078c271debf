import { ConfigurationError, type WorkerRange, ForeignRowsError } from '@raindrop/core';
import type { WrittenRow } from '@raindrop/core/internal';
import { retried } from '../database/own-database.js';
import { type Bind, quoteTable, type RunSql } from '../database/dialect.js';
import { isOfOthers } from './worker-statements.js';
import { hasVanished, type MissingParts, prepareTable, wholeness } from '../tables/prepare-table.js';
import type { Table } from '../tables/table-kind.js';
import { insertRowsSql, layoutTableOf } from './worker-table.js';

/** The permitted changes to the table. */
export interface PrepareOptions {
  readonly autoCreateTable: boolean;
  /** Whether rows of other programs are expected there. */
  readonly adoptForeign?: boolean;
  /** Whether other programs create the table, and take any row that is in it. */
  readonly sharedWithOriginal?: boolean;
}

/** The knowledge of a process about the table that it prepares. */
interface PrepareBasis {
  /** Whether IDs were issued on it, as this process has seen. */
  readonly hasServed: boolean;
  /** Its row that was lost: then rows are added only where all are gone, not for one that an operator has deleted. */
  readonly lost?: WrittenRow | undefined;
  /** Records that the odometers are gone with the rows. It is awaited before table or rows are made anew or used. */
  readonly rowsAreGone: () => Promise<void>;
}

/**
 * Creates the tables and rows that are missing. Nothing is changed where another program may use the table and no
 * option says so. No rows are added to a shared table: the original takes any row, also one outside its own bits.
 *
 * @throws ForeignRowsError, and what prepareTable throws
 */
export async function prepareWorkerTable(
  run: RunSql,
  table: Table,
  workers: WorkerRange,
  options: PrepareOptions,
  basis: PrepareBasis,
): Promise<void> {
  let isNoted = false;
  const note = async (): Promise<void> => {
    if (!isNoted) await basis.rowsAreGone();
    isNoted = true;
  };
  const { autoCreateTable, sharedWithOriginal = false } = options;
  const judge = async (found: MissingParts): Promise<void> => {
    await refuseForeign(run, table, options, found);
    // Without autoCreateTable the start is refused: it would record a loss at every try.
    if (autoCreateTable && (await hasVanished(run, table, found))) await note();
  };
  await prepareTable(run, table, { autoCreateTable, judge });
  await retried(async () => {
    const { missing, areGone } = await lookAtRows(run, table, workers, basis);
    const isLeft = sharedWithOriginal || (basis.lost !== undefined && !areGone && !isNoted);
    const added = isLeft ? [] : missing;
    // Where no row is added, the acquisition of a row finds rows of other programs.
    if (added.length > 0) await refuseForeign(run, table, options, undefined);
    if (areGone) await note();
    // Existing rows, deleted or not, and rows outside of the range stay as they are.
    for (const statement of insertRowsSql(table, added)) await run(statement);
    if (isNoted) await run(markRows(table));
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

/**
 * What {@link prepareWorkerTable} looks at, as a part of another statement: expressions, by name. `isPrepared` judges a
 * record of them: whether it would change nothing.
 */
export function preparedness(
  table: Table,
  { min, max }: WorkerRange,
  basis: Omit<PrepareBasis, 'rowsAreGone'>,
): {
  readonly expressions: (value: Bind) => readonly (readonly [name: string, sql: string])[];
  readonly isPrepared: (record: Readonly<Record<string, unknown>>) => boolean;
} {
  const { dialect, name } = table;
  const { expressions, isWhole } = wholeness(table);
  const id = `p.${dialect.quote('id')}`;
  return {
    expressions: (value) => [
      ...expressions(value),
      [
        'present',
        `(SELECT COUNT(DISTINCT ${id}) FROM ${quoteTable(dialect, name)} p WHERE ${id} BETWEEN ${value(min)} AND ${value(max)})`,
      ],
      ['gone', rowsGone(table, basis)],
    ],
    isPrepared: (record) =>
      isWhole(record) && Number(record['present']) === max - min + 1 && Number(record['gone']) === 0,
  };
}

/** Which rows of the range are missing, and whether what was granted on the rows is gone, in one statement. */
async function lookAtRows(
  run: RunSql,
  table: Table,
  { min, max }: WorkerRange,
  basis: PrepareBasis,
): Promise<{ readonly missing: readonly number[]; readonly areGone: boolean }> {
  const { dialect, name } = table;
  const id = dialect.quote('id');
  const inRange = `FROM ${quoteTable(dialect, name)} WHERE ${id} BETWEEN ${dialect.placeholder(1)} AND ${dialect.placeholder(2)}`;
  // Nearly always all are there: one number tells.
  const counts = `SELECT COUNT(DISTINCT ${id}) AS present, ${rowsGone(table, basis)} AS gone ${inRange}`;
  const [counted] = (await run(counts, [min, max])).records;
  const areGone = Number(counted?.['gone']) === 1;
  if (Number(counted?.['present']) === max - min + 1) return { missing: [], areGone };
  const { records } = await run(`SELECT ${id} ${inRange}`, [min, max]);
  const present = new Set(records.map((record) => Number(record['id'])));
  const ids = Array.from({ length: max - min + 1 }, (_, index) => min + index);
  return { missing: ids.filter((each) => !present.has(each)), areGone };
}

/**
 * An SQL expression: 1 where IDs were issued on the table and no row was written since it was made. A layout is
 * remembered after the first write of a row, and a row that was ever written stays above version 1: deleted, fenced or
 * given back. It is also 1 where the lost row has an earlier version than it had. It is 0 where an operator has deleted
 * the only row in use: the layout is still remembered.
 */
function rowsGone({ dialect, name }: Table, { hasServed, lost }: Omit<PrepareBasis, 'rowsAreGone'>): string {
  const [id, version] = [`w.${dialect.quote('id')}`, `w.${dialect.quote('version')}`];
  const isAny = (condition: string): string =>
    `EXISTS (SELECT 1 FROM ${quoteTable(dialect, name)} w WHERE ${condition})`;
  const isNoted = `EXISTS (SELECT 1 FROM ${quoteTable(dialect, layoutTableOf(name))})`;
  const ofOthers = `(NOT ${isNoted} OR NOT ${isAny('1 = 1')})`;
  const served = lost === undefined ? (hasServed ? '1 = 1' : isNoted) : ofOthers;
  const older = lost && `WHEN ${isAny(`${id} = ${lost.id} AND ${version} < ${lost.version}`)} THEN 1 `;
  return `CASE ${older ?? ''}WHEN ${served} AND NOT ${isAny(`${version} > 1`)} THEN 1 ELSE 0 END`;
}

/** Marks rows for which a loss is recorded as used: the next process does not record the loss again. */
function markRows({ dialect, name }: Table): string {
  const next = (column: string): string => `${dialect.quote(column)} = ${dialect.quote(column)} + 1`;
  const unused = `${dialect.quote('version')} = 1 AND ${dialect.quote('token')} = '' AND ${dialect.quote('code')} = ''`;
  return `UPDATE ${quoteTable(dialect, name)} SET ${next('version')}, ${next('own_version')} WHERE ${unused}`;
}
