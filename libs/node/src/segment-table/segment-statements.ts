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

export interface NumberReservation {
  /** The state that the row and its server must still have, because the range was computed from it. */
  readonly row: Pick<SegmentRow, 'step' | 'maxLimitId' | 'failoverNumber' | 'serverFailoverNumber' | 'term'>;
  readonly above: bigint;
  /** How many numbers after `max_id` are skipped. */
  readonly skip: bigint;
  readonly count: bigint;
  /** The highest legal value of `max_id`. */
  readonly ceiling: bigint;
  /** The row's new version; undefined in a table that has none. */
  readonly version: bigint | undefined;
  /** An additional condition. */
  readonly and?: string;
}

export interface NumberReturn {
  /** The server and failover number of the reservation: another server skips numbers, so nothing is returned there. */
  readonly taken: Pick<SegmentRow, 'serverFailoverNumber' | 'term'>;
  /** The value that `max_id` must still have, and its next one. */
  readonly last: bigint;
  readonly maxId: bigint;
  /** The version that the row must still have, and its next one. */
  readonly versions: { readonly expected: bigint; readonly next: bigint } | undefined;
}

/** Selects the key, the settings, the highest reserved number, and the server. */
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
 * Sets `max_id` to the larger of `max_id + skip` and `above`, plus `count`, in one statement; {@link reservedUpTo}
 * reads the result. Writes nothing if the row's settings or the server have changed, or if the ceiling would be
 * exceeded.
 */
export function reserveNumbers(
  address: RowAddress,
  { row, above, skip, count, ceiling, version, and = '' }: NumberReservation,
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
      // The sum is not computed if it would overflow.
      `${maxId} BETWEEN 0 AND ${value(ceiling - count - skip)}`,
      `${dialect.exactInteger(maxId)} IS NOT NULL`,
    ];
    const returning = dialect.hasReturning ? ` RETURNING ${dialect.exactInteger(maxId)} AS ${maxId}` : '';
    return `UPDATE ${tableOf(address)} SET ${changes.join(', ')} WHERE ${conditions.join(' AND ')}${and}${returning}`;
  });
}

/**
 * The `max_id` after reserveNumbers: 'nothing' if it wrote nothing, undefined if the database does not report it.
 */
export function reservedUpTo(
  dialect: Dialect,
  { records, affected, insertId }: StatementResult,
): bigint | 'nothing' | undefined {
  const written = dialect.hasReturning ? records.length : affected;
  if (written === 0) return 'nothing';
  if (written !== 1) return undefined;
  return wholeNumber(dialect.hasReturning ? records[0]!['max_id'] : insertId);
}

export function returnNumbers(address: RowAddress, { taken, last, maxId, versions }: NumberReturn): Statement {
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
 * The server that answers, the last server of the table, the number of failovers, and the age of the session.
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
 * Records the server that answers. Does nothing if another process has recorded it.
 * Its failover number is `leastNumber`, or one above the highest of all rows if a row has reached it. Such a row comes
 * from another history than the state; without the higher number, its next numbers would not be skipped.
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
 * Adds missing rows, whose numbers above `maxId` are all free. Each row is a list of values for `columns`; the other
 * columns are the same.
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

/** The content of a row of a segment table. */
export interface SegmentRow {
  /** The highest number ever reserved. */
  readonly maxId: bigint;
  readonly step: number;
  /** 0 for none. */
  readonly maxLimitId: bigint;
  /** How often the server had changed when the row was written last. */
  readonly failoverNumber: bigint;
  /** How often it has changed by now. */
  readonly serverFailoverNumber: bigint;
  /** The term of the server that answers. */
  readonly term: string;
}

/** A row of a segment table has an unusable value; Raindrop does not guess. */
export class CorruptSegmentRowError extends PermanentError {
  static override readonly name = 'CorruptSegmentRowError';
  readonly errorCode = 'CORRUPT_SEGMENT_ROW';

  constructor(
    /** The row in words, such as `code 'orders'`. */
    readonly row: string,
    readonly column: string,
    readonly legal: string,
  ) {
    super(`In the segment table's row of ${row}, column ${column} is not ${legal}. Correct it.`);
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

/** Reads an integer exactly, in any form that drivers return; undefined for other values. */
function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === 'string') return /^-?\d{1,19}$/.test(value) ? BigInt(value) : undefined;
  return typeof value === 'bigint' || Number.isSafeInteger(value) ? BigInt(value as bigint | number) : undefined;
}
