import type { Odometer, PerLane } from '@raindrop/core';
import type { BegunLease, RecordedLease } from '@raindrop/core/internal';
import {
  bindings,
  type ColumnDefinition,
  quoteTable,
  type SqlValue,
  type Statement,
  statement,
} from '../database/dialect.js';
import { safeInteger } from '../database/sql-values.js';
import type { SupportedDatabase } from '../database/supported-database.js';
import { parseTableName, shortened, type TableName } from '../database/table-name.js';
import { type Table, type TableKind, tableSql } from '../tables/table-kind.js';
import { WORKER_TABLE } from './worker-table.js';

/** The process that holds a worker id, as the history names it. A text is '' when it is not known, or is hidden. */
export interface HolderProcess {
  /** The name of the service; `default` where it has none. */
  readonly service: string;
  readonly host: string;
  /** The variable `POD_NAME`. */
  readonly pod: string;
  readonly pid: number;
  /** The code of the worker row: address, port, unit and hardware address, or a hash of them. */
  readonly code: string;
}

/** A lease as a row of the history. */
export type HistoryRow = RecordedLease &
  HolderProcess & { readonly begunMs: number; readonly endedMs: number | undefined };

const TEXTS = { service: 128, host: 255, pod: 255, code: 128 } as const;

/** The odometers of a row by column: where the lease began, how far the one before reached, where it ended. */
const PLACES = ['base', 'previous', 'end'] as const;

const odometerColumns = (place: (typeof PLACES)[number]): string[] =>
  [0, 1].flatMap((lane) => [`${place}${lane}_ms`, `${place}${lane}_seq`]);

/** The column of a lease's ID. */
export const LEASE_ID = 'tenure';

/** A row for each lease. */
export const WORKER_HISTORY_TABLE: TableKind = {
  name: 'workerHistory',
  title: 'table of the worker history',
  defaultName: `${WORKER_TABLE.defaultName}_history`,
  columns: [
    { name: LEASE_ID, kind: { exact: 64 } },
    { name: 'worker_id', kind: 'bigint' },
    { name: 'layout', kind: { exact: 160 } },
    { name: 'version', kind: 'bigint' },
    { name: 'previous', kind: { exact: 64 } },
    { name: 'previous_released', kind: 'small' },
    ...PLACES.flatMap(odometerColumns).map((name) => ({ name, kind: 'bigint' as const, defaultValue: '0' })),
    ...Object.entries(TEXTS).map(([name, length]) => ({ name, kind: { text: length } })),
    { name: 'pid', kind: 'bigint' },
    { name: 'begun_ms', kind: 'bigint' },
    { name: 'ended_ms', kind: 'bigint', defaultValue: '0' },
  ],
  key: [LEASE_ID],
  indexes: ['worker_id', 'begun_ms'],
  options: 'tableOptions',
};

const isText = ({ kind }: ColumnDefinition): boolean => typeof kind === 'object';
const NUMBERS = WORKER_HISTORY_TABLE.columns.filter((column) => !isText(column)).map(({ name }) => name);
const TEXT_COLUMNS = WORKER_HISTORY_TABLE.columns.filter(isText).map(({ name }) => name);

/** The table with the history of a worker table. */
export function historyTableOf({ schema, name }: TableName): TableName {
  return { schema, name: shortened(`${name}_history`) };
}

/**
 * Returns the statements that create the table of `workerHistory`. Raindrop runs the same ones when the first lease
 * is recorded; an operator may run them by hand before.
 *
 * @param tableName the worker table's, `table` or `schema.table`, by default `soc_raindrop_worker`
 * @throws UnsupportedDatabaseError, InvalidTableNameError
 */
export function workerHistoryTableSql(type: SupportedDatabase, tableName: string = WORKER_TABLE.defaultName): string[] {
  const { schema, name } = historyTableOf(parseTableName(tableName));
  return tableSql(WORKER_HISTORY_TABLE, type, schema === undefined ? name : `${schema}.${name}`);
}

/** Values of columns by their names. */
type Columns = Readonly<Record<string, SqlValue>>;

const odometersAs = (place: (typeof PLACES)[number], [first, second]: PerLane<Odometer>): Columns => {
  const values = [first.ms, first.sequence, second.ms, second.sequence];
  return Object.fromEntries(odometerColumns(place).map((column, index) => [column, values[index]!]));
};

/** The begin of a lease, by the database's clock. */
export function insertLease({ dialect, name }: Table, begun: BegunLease, process: HolderProcess): Statement {
  const { leaseId, workerId, layout, version, base, previous } = begun;
  const texts = Object.entries(TEXTS).map(([column, length]) => [
    column,
    [...process[column as keyof typeof TEXTS]].slice(0, length).join(''),
  ]);
  const columns: Columns = {
    [LEASE_ID]: leaseId,
    worker_id: workerId,
    layout,
    version,
    previous: previous.leaseId,
    previous_released: previous.released ? 1 : 0,
    ...odometersAs('base', base),
    ...odometersAs('previous', previous.reached),
    ...(Object.fromEntries(texts) as Columns),
    pid: process.pid,
  };
  const { values, value } = bindings(dialect);
  const names = [...Object.keys(columns), 'begun_ms'].map((column) => dialect.quote(column));
  const row = [...Object.values(columns).map(value), dialect.nowMs];
  return { sql: `INSERT INTO ${quoteTable(dialect, name)} (${names.join(', ')}) VALUES (${row.join(', ')})`, values };
}

/** The end of a lease, with the odometers that its release has left. */
export function updateEnd({ dialect, name }: Table, begun: BegunLease, end: PerLane<Odometer>): Statement {
  const { leaseId, workerId, version } = begun;
  const column = (each: string): string => dialect.quote(each);
  return statement(dialect, (value) => {
    const places = Object.entries(odometersAs('end', end)).map(([each, given]) => `${column(each)} = ${value(given)}`);
    const changes = [...places, `${column('ended_ms')} = ${dialect.nowMs}`].join(', ');
    // A copy of the process may have begun with the same mark on another row.
    const conditions = Object.entries({ [LEASE_ID]: leaseId, worker_id: workerId, version, ended_ms: 0 }).map(
      ([each, given]) => `${column(each)} = ${value(given)}`,
    );
    return `UPDATE ${quoteTable(dialect, name)} SET ${changes} WHERE ${conditions.join(' AND ')}`;
  });
}

/** Some of the leases that ended, by the begin of the next one of their worker id, `keepMs` ago. */
export function selectOutdated({ dialect, name }: Table, keepMs: number, atMost: number): Statement {
  const table = quoteTable(dialect, name);
  const column = (alias: string, each: string): string => `${alias}.${dialect.quote(each)}`;
  return statement(dialect, (value) => {
    const isOld = (alias: string): string => `${column(alias, 'begun_ms')} < ${dialect.nowMs} - ${value(keepMs)}`;
    const old = isOld('h');
    const next = [
      `${column('n', 'worker_id')} = ${column('h', 'worker_id')}`,
      `${column('n', 'begun_ms')} > ${column('h', 'begun_ms')}`,
      isOld('n'),
    ];
    const hasNext = `EXISTS (SELECT 1 FROM ${table} n WHERE ${next.join(' AND ')})`;
    return `SELECT ${column('h', LEASE_ID)} FROM ${table} h WHERE ${old} AND ${hasNext} LIMIT ${atMost}`;
  });
}

export function deleteLeases({ dialect, name }: Table, leaseIds: readonly string[]): Statement {
  return statement(dialect, (value) => {
    const list = leaseIds.map(value).join(', ');
    return `DELETE FROM ${quoteTable(dialect, name)} WHERE ${dialect.quote(LEASE_ID)} IN (${list})`;
  });
}

/** Every lease of a worker id that is kept. */
export function selectLeases({ dialect, name }: Table, workerId: number): Statement {
  const column = dialect.quote('worker_id');
  return {
    sql: `SELECT * FROM ${quoteTable(dialect, name)} WHERE ${column} = ${dialect.placeholder(1)}`,
    values: [workerId],
  };
}

/** A record as a lease; undefined when it holds a value that Raindrop cannot have written: it then proves nothing. */
export function readLease(record: Readonly<Record<string, unknown>>): HistoryRow | undefined {
  const numbers = Object.fromEntries(NUMBERS.map((column) => [column, safeInteger(record[column])]));
  const texts = Object.fromEntries(TEXT_COLUMNS.map((column) => [column, record[column]]));
  const isReadable =
    Object.values(numbers).every((each) => each !== undefined) &&
    Object.values(texts).every((each) => typeof each === 'string');
  if (!isReadable) return undefined;
  const integer = (column: string): number => numbers[column]!;
  const text = (column: string): string => texts[column] as string;
  const odometers = (place: (typeof PLACES)[number]): PerLane<Odometer> => {
    const [ms0, seq0, ms1, seq1] = odometerColumns(place).map(integer) as [number, number, number, number];
    return [
      { ms: ms0, sequence: seq0 },
      { ms: ms1, sequence: seq1 },
    ];
  };
  const endedMs = integer('ended_ms');
  return {
    leaseId: text(LEASE_ID),
    workerId: integer('worker_id'),
    layout: text('layout'),
    version: integer('version'),
    base: odometers('base'),
    previous: {
      leaseId: text('previous'),
      reached: odometers('previous'),
      released: integer('previous_released') === 1,
    },
    end: endedMs === 0 ? undefined : odometers('end'),
    service: text('service'),
    host: text('host'),
    pod: text('pod'),
    code: text('code'),
    pid: integer('pid'),
    begunMs: integer('begun_ms'),
    endedMs: endedMs === 0 ? undefined : endedMs,
  };
}
