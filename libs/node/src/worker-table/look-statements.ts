import type { SampleRequest } from '@raindrop/core';
import { quoteTable, type Dialect, type Statement } from '../database/dialect.js';
import { bindings } from '../database/statement.js';
import { type TableName } from '../database/table-name.js';
import { stateColumns, STATE_FIELDS } from './worker-state.js';
import { layoutTableOf } from './worker-table.js';
import { isUnreadable, WORKER_ROW_FIELDS, workerRowColumns } from './worker-row-reader.js';

/** What a record of a look is about, in its column `kind`. */
export const KIND = { row: 0, unreadable: 1, noted: 2, ofRow: 3 } as const;

/** The columns beside those of a row; a record has NULL where one does not concern it. */
const BEFORE_ROW = [...STATE_FIELDS, 'total', 'live', 'foreign_rows'];

/**
 * In one statement: the clock and the numbers of rows, with the rows of the sample or one record of empty columns; every
 * row of the table that cannot be read; all layouts.
 */
export function selectSample(dialect: Dialect, table: TableName, request: SampleRequest): Statement {
  const { workers, from, atMost, graceMs } = request;
  const { values, value } = bindings(dialect);
  const column = (name: string): string => `r.${dialect.quote(name)}`;
  const [id, token, leaseUntil] = [column('id'), column('token'), column('lease_until')];
  const source = `FROM ${quoteTable(dialect, table)} r`;
  const inRange = (): string =>
    `${column('del_flag')} = 2 AND ${id} BETWEEN ${value(workers.min)} AND ${value(workers.max)}`;
  const isFree = (): string => `(${token} = '' OR ${leaseUntil} <= ${dialect.nowMs} - ${value(graceMs)})`;

  const live = `COUNT(*) - COUNT(CASE WHEN ${isFree()} THEN 1 END)`;
  const foreign = `SELECT COUNT(*) FROM ${quoteTable(dialect, table)} f WHERE ${isOfOthers(dialect, 'f')}`;
  const counts = `SELECT ${stateColumns(dialect, table)}, COUNT(*) AS total, ${live} AS live, (${foreign}) AS foreign_rows ${source} WHERE ${inRange()}`;
  // Never stricter than the rules of who chooses: what is left out here is looked at only in the whole table.
  const free =
    `SELECT r.* ${source} WHERE ${inRange()} AND ${isFree()}` +
    ` AND NOT (${isOfOthers(dialect, 'r')})` +
    ` ORDER BY CASE WHEN ${token} = '' THEN 0 ELSE ${leaseUntil} END,` +
    ` CASE WHEN ${id} < ${value(from)} THEN 1 ELSE 0 END, ${id} LIMIT ${value(atMost)}`;
  const before = BEFORE_ROW.map((field) => `c.${field}`).join(', ');
  const rows = `SELECT ${KIND.row} AS kind, ${before}, ${workerRowColumns(dialect, 'w')}, NULL AS fingerprint FROM (${counts}) c LEFT JOIN (${free}) w ON 1 = 1`;

  const unreadable =
    `SELECT ${KIND.unreadable}, ${nulls(BEFORE_ROW)}, ${workerRowColumns(dialect, 'r')}, NULL ${source}` +
    ` WHERE ${column('del_flag')} = 2 AND ${isUnreadable(dialect, 'r')}`;
  return { sql: [rows, unreadable, ...selectLayouts(dialect, table)].join(' UNION ALL '), values };
}

/** The condition for rows that another program wrote last, see isForeign in the core. */
export function isOfOthers(dialect: Dialect, alias: string): string {
  const column = (name: string): string => `${alias}.${dialect.quote(name)}`;
  return `${column('del_flag')} = 2 AND ${column('code')} <> '' AND ${column('own_version')} <> ${column('version')}`;
}

function selectLayouts(dialect: Dialect, table: TableName): string[] {
  const layout = dialect.quote('layout');
  const nothing = nulls([...BEFORE_ROW, ...WORKER_ROW_FIELDS]);
  return [
    `SELECT ${KIND.noted}, ${nothing}, ${dialect.quote('fingerprint')} FROM ${quoteTable(dialect, layoutTableOf(table))}`,
    // By length too: to MySQL a text and the same one with a space behind it are equal.
    `SELECT ${KIND.ofRow}, ${nothing}, ${layout} FROM ${quoteTable(dialect, table)} GROUP BY ${layout}, LENGTH(${layout})`,
  ];
}

function nulls(columns: readonly string[]): string {
  return columns.map(() => 'NULL').join(', ');
}
