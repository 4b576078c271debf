import { PermanentError } from '@raindrop/core/internal';
import {
  type Bind,
  type Dialect,
  quoteTable,
  type SqlValue,
  type Statement,
  statement,
  type StatementResult,
} from '../database/dialect.js';
import { isOnServer } from '../database/server-term.js';
import { insertState, isAtFailover, ofState, stateTableOf } from '../tables/state-table.js';
import type { TableName } from '../database/table-name.js';
import type { Table } from '../tables/table-kind.js';

/** One row of a table of segments. */
export interface RowAddress extends Pick<Table, 'dialect' | 'name'> {
  /** The columns of the primary key, and this row's values. */
  readonly key: Readonly<Record<string, SqlValue>>;
}

export interface Taking {
  /** What the row and its server must still be, since the range was computed with it. */
  readonly row: Pick<SegmentRow, 'step' | 'maxLimitId' | 'failoverNumber' | 'serverFailoverNumber' | 'term'>;
  readonly above: bigint;
  /** So many numbers behind `max_id` are left out. */
  readonly skip: bigint;
  readonly count: bigint;
  /** The highest that `max_id` may become. */
  readonly ceiling: bigint;
  /** The row's new version; undefined in a table that has none. */
  readonly version: bigint | undefined;
  /** A condition to be added. */
  readonly and?: string;
}

export interface GivingBack {
  /** The server and its number on which they were taken: on another one, which skips, nothing goes back. */
  readonly taken: Pick<SegmentRow, 'serverFailoverNumber' | 'term'>;
  /** What `max_id` must still be, and what it becomes. */
  readonly last: bigint;
  readonly maxId: bigint;
  /** What the version must still be, and what it becomes. */
  readonly versions: { readonly expected: bigint; readonly next: bigint } | undefined;
}

/** The key, the settings, what was reserved, and on which server. */
export function selectSegmentRow(address: RowAddress): Statement {
  const { dialect, key } = address;
  const integers = ['max_id', 'step', 'max_limit_id'].map((name) => {
    const column = dialect.quote(name);
    return `${dialect.exactInteger(column)} AS ${column}`;
  });
  const failoverNumber = dialect.quote('epoch');
  const server = [
    `${dialect.exactInteger(failoverNumber)} AS ${failoverNumber}`,
    ...serverColumns(dialect, address.name),
  ];
  const columns = [...Object.keys(key).map((name) => dialect.quote(name)), ...integers, ...server].join(', ');
  return statement(dialect, (value) => `SELECT ${columns} FROM ${tableOf(address)} WHERE ${isRow(address, value)}`);
}

/**
 * `max_id` becomes the larger of itself, plus `skip`, and `above`, plus `count`, in one step; {@link takenUpTo} reads
 * what it became. Nothing is written when the row's settings or the server have changed or the ceiling is too near.
 */
export function takeNumbers(
  address: RowAddress,
  { row, above, skip, count, ceiling, version, and = '' }: Taking,
): Statement {
  const { dialect } = address;
  const maxId = dialect.quote('max_id');
  return statement(dialect, (value) => {
    const from = skip === 0n ? maxId : `${maxId} + ${skip}`;
    const next = `CASE WHEN ${from} > ${value(above)} THEN ${from} ELSE ${value(above)} END + ${value(count)}`;
    const changes = [
      `${maxId} = ${dialect.hasReturning ? next : `LAST_INSERT_ID(${next})`}`,
      ...(version === undefined ? [] : [`${dialect.quote('version')} = ${value(version)}`]),
      `${dialect.quote('update_time')} = ${dialect.nowTime}`,
      ...(row.failoverNumber === row.serverFailoverNumber
        ? []
        : [`${dialect.quote('epoch')} = ${value(row.serverFailoverNumber)}`]),
    ];
    const conditions = [
      isRow(address, value),
      `${dialect.quote('epoch')} = ${value(row.failoverNumber)}`,
      isOnServer(dialect, value, row.term),
      isAtFailover(dialect, address.name, value, row.serverFailoverNumber),
      `${dialect.quote('step')} = ${value(row.step)}`,
      `${dialect.quote('max_limit_id')} = ${value(row.maxLimitId)}`,
      // The sum is never formed where it would overflow.
      `${maxId} BETWEEN 0 AND ${value(ceiling - count - skip)}`,
      `${dialect.exactInteger(maxId)} IS NOT NULL`,
    ];
    const returning = dialect.hasReturning ? ` RETURNING ${dialect.exactInteger(maxId)} AS ${maxId}` : '';
    return `UPDATE ${tableOf(address)} SET ${changes.join(', ')} WHERE ${conditions.join(' AND ')}${and}${returning}`;
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

export function giveNumbersBack(address: RowAddress, { taken, last, maxId, versions }: GivingBack): Statement {
  const { dialect } = address;
  const [max, version] = [dialect.quote('max_id'), dialect.quote('version')];
  return statement(dialect, (value) => {
    const changes = [`${max} = ${value(maxId)}`];
    if (versions !== undefined) changes.push(`${version} = ${value(versions.next)}`);
    changes.push(`${dialect.quote('update_time')} = ${dialect.nowTime}`);
    const conditions = [
      isRow(address, value),
      `${max} = ${value(last)}`,
      `${dialect.quote('epoch')} = ${value(taken.serverFailoverNumber)}`,
      isOnServer(dialect, value, taken.term),
      isAtFailover(dialect, address.name, value, taken.serverFailoverNumber),
    ];
    if (versions !== undefined) conditions.push(`${version} = ${value(versions.expected)}`);
    return `UPDATE ${tableOf(address)} SET ${changes.join(', ')} WHERE ${conditions.join(' AND ')}`;
  });
}

/**
 * The server that answers, the one that the table was last seen on, how often that was another one, and the session's
 * age.
 */
function serverColumns(dialect: Dialect, table: TableName): string[] {
  const kept = (column: string): string => ofState(dialect, table, column);
  return [
    `${dialect.term} AS server_term`,
    `${kept('term')} AS known_term`,
    `COALESCE(${kept('epoch')}, 0) AS server_epoch`,
    `${kept('format')} AS format`,
    `${dialect.sessionAgeMs} AS session_age_ms`,
  ];
}

export function selectServers(dialect: Dialect, table: TableName): Statement {
  return { sql: `SELECT ${serverColumns(dialect, table).join(', ')}`, values: [] };
}

/**
 * Notes the server that answers. Nothing where another process has done so.
 *
 * Its failover number is `leastNumber`, or one above that of all rows where one of them has it already: such a row is
 * of another history than the state, by which its next numbers would not be skipped.
 */
export function noteServer(
  dialect: Dialect,
  table: TableName,
  seen: { readonly term: string; readonly knownTerm: string | undefined; readonly failoverNumber: number },
  leastNumber: number,
): Statement {
  const [failoverNumber, column] = [dialect.quote('epoch'), dialect.quote('term')];
  const highest = `MAX(r.${failoverNumber})`;
  const next =
    `(SELECT CASE WHEN ${highest} > 0 AND ${highest} >= ${leastNumber} THEN ${highest} + 1 ELSE ${leastNumber} END ` +
    `FROM ${quoteTable(dialect, table)} r)`;
  if (seen.knownTerm === undefined) return insertState(dialect, table, { term: seen.term, failoverNumber: next });
  const { knownTerm } = seen;
  return statement(dialect, (value) => {
    const changes = `${failoverNumber} = ${next}, ${column} = ${value(seen.term)}`;
    const conditions = [
      `${dialect.quote('id')} = 1`,
      `${column} = ${value(knownTerm)}`,
      `${failoverNumber} = ${value(seen.failoverNumber)}`,
      isOnServer(dialect, value, seen.term),
    ];
    return `UPDATE ${quoteTable(dialect, stateTableOf(table))} SET ${changes} WHERE ${conditions.join(' AND ')}`;
  });
}

/**
 * Adds rows where they are missing, of which all numbers above `maxId` are free. Each is a list of values for
 * `columns`; the rest of the row is the same.
 */
export function insertSegmentRows(
  { kind, dialect, name }: Table,
  columns: readonly string[],
  rows: readonly (readonly SqlValue[])[],
  { maxId, failoverNumber }: { readonly maxId: bigint; readonly failoverNumber: bigint },
): Statement {
  const quoted = (names: readonly string[]): string[] => names.map((each) => dialect.quote(each));
  const all = quoted([...columns, 'epoch', 'max_id', 'max_limit_id', 'create_time', 'update_time']);
  return statement(dialect, (value) => {
    const records = rows.map(
      (row) => `(${row.map(value).join(', ')}, ${failoverNumber}, ${maxId}, 0, ${dialect.nowTime}, ${dialect.nowTime})`,
    );
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

/** What a row says of its numbers. */
export interface SegmentRow {
  /** The highest number ever reserved. */
  readonly maxId: bigint;
  readonly step: number;
  /** 0 for none. */
  readonly maxLimitId: bigint;
  /** How often the server had changed when the row was written last. */
  readonly failoverNumber: bigint;
  /** How often it has by now. */
  readonly serverFailoverNumber: bigint;
  /** Of the server that answers. */
  readonly term: string;
}

/** A row of a segment table holds what Raindrop cannot work with; nothing is guessed. */
export class CorruptSegmentRowError extends PermanentError {
  readonly errorCode = 'CORRUPT_SEGMENT_ROW';

  constructor(
    /** The row in words, such as `code 'orders'`. */
    readonly row: string,
    readonly column: string,
    readonly legal: string,
  ) {
    super(`The segment table's row of ${row} holds a value in column ${column} that is not ${legal}. Correct it.`);
  }
}

const LARGEST_BIGINT = 2n ** 63n - 1n;
const LARGEST_INT = 2n ** 31n - 1n;

/** @throws CorruptSegmentRowError */
export function readSegmentRow(row: string, record: Readonly<Record<string, unknown>>): SegmentRow {
  const integer = (column: string, min: bigint, max: bigint): bigint => {
    const value = wholeNumber(record[column]);
    if (value !== undefined && value >= min && value <= max) return value;
    throw new CorruptSegmentRowError(row, column, `an integer from ${min} to ${max}`);
  };
  return {
    maxId: integer('max_id', 0n, LARGEST_BIGINT),
    step: Number(integer('step', 1n, LARGEST_INT)),
    maxLimitId: integer('max_limit_id', 0n, LARGEST_BIGINT),
    failoverNumber: integer('epoch', 0n, LARGEST_BIGINT),
    serverFailoverNumber: integer('server_epoch', 0n, LARGEST_BIGINT),
    term: String(record['server_term']),
  };
}

/** An integer in whichever form the driver gave it, exact; undefined when it is anything else. */
function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === 'string') return /^-?\d{1,19}$/.test(value) ? BigInt(value) : undefined;
  return typeof value === 'bigint' || Number.isSafeInteger(value) ? BigInt(value as bigint | number) : undefined;
}
