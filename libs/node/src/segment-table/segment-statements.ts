import { quoteTable, type Dialect, type SqlValue, type Statement } from '../database/dialect.js';
import type { StatementResult } from '../database/run-sql.js';
import { statement, type Bind } from '../database/statement.js';
import type { Table } from '../tables/table-kind.js';
import { wholeNumber, type SegmentRow } from './segment-row.js';

/** One row of a table of segments. */
export interface RowAddress extends Pick<Table, 'dialect' | 'name'> {
  /** The columns of the primary key, and this row's values. */
  readonly key: Readonly<Record<string, SqlValue>>;
}

export interface Taking {
  /** Settings that the row must still have, since the range was computed with them. */
  readonly row: Pick<SegmentRow, 'step' | 'maxLimitId'>;
  readonly above: bigint;
  readonly count: bigint;
  /** The highest that `max_id` may become. */
  readonly ceiling: bigint;
  /** The row's new version; undefined in a table that has none. */
  readonly version: bigint | undefined;
}

export interface GivingBack {
  /** What `max_id` must still be, and what it becomes. */
  readonly last: bigint;
  readonly maxId: bigint;
  /** What the version must still be, and what it becomes. */
  readonly versions: { readonly expected: bigint; readonly next: bigint } | undefined;
}

/** The key, the settings and what was reserved. */
export function selectSegmentRow(address: RowAddress): Statement {
  const { dialect, key } = address;
  const integers = ['max_id', 'step', 'max_limit_id'].map((name) => {
    const column = dialect.quote(name);
    return `${dialect.exactInteger(column)} AS ${column}`;
  });
  const columns = [...Object.keys(key).map((name) => dialect.quote(name)), ...integers].join(', ');
  return statement(dialect, (value) => `SELECT ${columns} FROM ${tableOf(address)} WHERE ${isRow(address, value)}`);
}

/**
 * `max_id` becomes the larger of itself and `above`, plus `count`, in one step; {@link takenUpTo} reads what it became.
 * Nothing is written when the row's settings have changed or the ceiling is too near.
 */
export function takeNumbers(address: RowAddress, { row, above, count, ceiling, version }: Taking): Statement {
  const { dialect } = address;
  const maxId = dialect.quote('max_id');
  return statement(dialect, (value) => {
    const next = `CASE WHEN ${maxId} > ${value(above)} THEN ${maxId} ELSE ${value(above)} END + ${value(count)}`;
    const changes = [
      `${maxId} = ${dialect.hasReturning ? next : `LAST_INSERT_ID(${next})`}`,
      ...(version === undefined ? [] : [`${dialect.quote('version')} = ${value(version)}`]),
      `${dialect.quote('update_time')} = ${dialect.nowTime}`,
    ];
    const conditions = [
      isRow(address, value),
      `${dialect.quote('step')} = ${value(row.step)}`,
      `${dialect.quote('max_limit_id')} = ${value(row.maxLimitId)}`,
      // The sum is never formed where it would overflow.
      `${maxId} BETWEEN 0 AND ${value(ceiling - count)}`,
      `${dialect.exactInteger(maxId)} IS NOT NULL`,
    ];
    const returning = dialect.hasReturning ? ` RETURNING ${dialect.exactInteger(maxId)} AS ${maxId}` : '';
    return `UPDATE ${tableOf(address)} SET ${changes.join(', ')} WHERE ${conditions.join(' AND ')}${returning}`;
  });
}

/**
 * What takeNumbers has made of `max_id`: 'nothing' when it has not written, undefined when the database does not say.
 */
export function takenUpTo(
  dialect: Dialect,
  { records, affected, insertId }: StatementResult,
): bigint | 'nothing' | undefined {
  const written = dialect.hasReturning ? records.length : affected;
  if (written === 0) return 'nothing';
  if (written !== 1) return undefined;
  return wholeNumber(dialect.hasReturning ? records[0]!['max_id'] : insertId);
}

export function giveNumbersBack(address: RowAddress, { last, maxId, versions }: GivingBack): Statement {
  const { dialect } = address;
  const [max, version] = [dialect.quote('max_id'), dialect.quote('version')];
  return statement(dialect, (value) => {
    const changes = [`${max} = ${value(maxId)}`];
    if (versions !== undefined) changes.push(`${version} = ${value(versions.next)}`);
    changes.push(`${dialect.quote('update_time')} = ${dialect.nowTime}`);
    const conditions = [isRow(address, value), `${max} = ${value(last)}`];
    if (versions !== undefined) conditions.push(`${version} = ${value(versions.expected)}`);
    return `UPDATE ${tableOf(address)} SET ${changes.join(', ')} WHERE ${conditions.join(' AND ')}`;
  });
}

/** Adds unused rows where they are missing. Each is a list of values for `columns`; the rest of the row is the same. */
export function insertSegmentRows(
  { kind, dialect, name }: Table,
  columns: readonly string[],
  rows: readonly (readonly SqlValue[])[],
): Statement {
  const quoted = (names: readonly string[]): string[] => names.map((name) => dialect.quote(name));
  const all = quoted([...columns, 'max_id', 'max_limit_id', 'create_time', 'update_time']);
  return statement(dialect, (value) => {
    const records = rows.map((row) => `(${row.map(value).join(', ')}, 0, 0, ${dialect.nowTime}, ${dialect.nowTime})`);
    return dialect.insertMissing(quoteTable(dialect, name), all, quoted(kind.key).join(', '), records);
  });
}

function isRow({ dialect, key }: RowAddress, value: Bind): string {
  return Object.entries(key)
    .map(([column, given]) => `${dialect.quote(column)} = ${value(given)}`)
    .join(' AND ');
}

function tableOf({ dialect, name }: RowAddress): string {
  return quoteTable(dialect, name);
}
