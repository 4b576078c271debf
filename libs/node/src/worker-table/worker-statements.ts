import type {
  FenceRequest,
  KnownLayouts,
  SampleRequest,
  WorkerRow,
  WorkerSample,
  WorkerTable,
  WorkerWrite,
} from '@raindrop/core';
import {
  barOf,
  type BelievedServer,
  FENCE_FAILOVERS_MS,
  FENCE_LEAP,
  fenceMs,
  type LatestTimes,
  type KeptRow,
  PermanentError,
  readKeptRow,
  type RowField,
  type ServerVerdict,
  type StoreTerm,
  type WrittenRow,
} from '@raindrop/core/internal';
import { type Bind, bindings, type Dialect, quoteTable, type SqlResult, type Statement } from '../database/dialect.js';
import { safeInteger } from '../database/sql-values.js';
import { DatabaseCallError } from '../database/database-errors.js';
import { isOnServer } from '../database/server-term.js';
import type { TableName } from '../database/table-name.js';
import { checkFormat, insertState, isAtFailover, ofState, stateTableOf } from '../tables/state-table.js';
import { isDatabaseRow } from './database-ids.js';
import { HOLDER_LENGTH, layoutTableOf } from './worker-table.js';

/** A row of the worker table holds a value that Raindrop cannot have written. Nothing is guessed. */
export class CorruptWorkerRowError extends PermanentError {
  static override readonly name = 'CorruptWorkerRowError';
  readonly errorCode = 'CORRUPT_WORKER_ROW';

  constructor(
    /** Undefined when the id itself cannot be read. */
    readonly workerId: number | undefined,
    readonly column: string,
    readonly legal: string,
  ) {
    super(
      `In the worker table's row ${workerId ?? 'with an unreadable id'}, column ${column} is not ${legal}. Correct ` +
        `it, or set the row's del_flag to 1, so that no process uses this worker id.`,
    );
  }
}

/** The column of each value. The heartbeat's is the name that {@link workerRowColumns} gives it. */
const COLUMN_OF: Readonly<Record<RowField, string>> = {
  id: 'id',
  version: 'version',
  leaseUntilMs: 'lease_until',
  lane: 'lane',
  odo0Ms: 'odo0_ms',
  odo0Seq: 'odo0_seq',
  odo1Ms: 'odo1_ms',
  odo1Seq: 'odo1_seq',
  ownVersion: 'own_version',
  code: 'code',
  token: 'token',
  holder: 'holder',
  layout: 'layout',
  heartbeatMs: 'heartbeat_ms',
};

const TEXTS = ['code', 'token', 'holder', 'layout'];
const NUMBERS = Object.values(COLUMN_OF).filter((column) => !TEXTS.includes(column) && column !== 'heartbeat_ms');

/** The columns that {@link workerRowColumns} selects, by name. */
const WORKER_ROW_FIELDS: readonly string[] = [...NUMBERS, ...TEXTS, 'del_flag', 'heartbeat_ms'];

/** The columns to select, from a table with this alias, for {@link readWorkerRow}. */
function workerRowColumns(dialect: Dialect, alias: string): string {
  const plain = [...NUMBERS, ...TEXTS].map((column) => `${alias}.${dialect.quote(column)}`);
  const heartbeat = dialect.timeAsMs(`${alias}.${dialect.quote('heartbeat_time')}`);
  return [...plain, `${alias}.${dialect.quote('del_flag')}`, `${heartbeat} AS ${dialect.quote('heartbeat_ms')}`].join(
    ', ',
  );
}

/**
 * An SQL condition that is true of the rows that {@link readWorkerRow} refuses. It does not find what only SQLite can
 * store: a fraction in a column of integers, and bytes in a column of texts.
 */
function isUnreadable(dialect: Dialect, alias: string): string {
  const column = (name: string): string => `${alias}.${dialect.quote(name)}`;
  const isSafe = (sql: string): string => `${sql} BETWEEN ${-Number.MAX_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`;
  const isReadable = [
    ...NUMBERS.map((name) => isSafe(column(name))),
    `${column('lane')} IN (0, 1)`,
    isSafe(dialect.timeAsMs(column('heartbeat_time'))),
    ...TEXTS.map((name) => `${column(name)} IS NOT NULL`),
  ];
  // A comparison with NULL is neither true nor false: such a row is unreadable, too.
  return `CASE WHEN ${isReadable.join(' AND ')} THEN 0 ELSE 1 END = 1`;
}

/**
 * A record as a worker row. Drivers give 64-bit integers as strings, numbers or BigInts, depending on their settings.
 *
 * @throws CorruptWorkerRowError for a value that is missing, no integer, or beyond 2^53
 */
export function readWorkerRow(record: Readonly<Record<string, unknown>>): WorkerRow {
  const kept: KeptRow = {
    integer: (field) => safeInteger(record[COLUMN_OF[field]]),
    text: (field) => {
      const value = record[COLUMN_OF[field]];
      return typeof value === 'string' ? value : undefined;
    },
  };
  return readKeptRow(
    kept,
    (field, legal) => new CorruptWorkerRowError(safeInteger(record['id']), COLUMN_OF[field], legal),
  );
}

/** Only `del_flag = 2` means not deleted, as in every condition of ours and the original's. */
function isMarkedDeleted(record: Readonly<Record<string, unknown>>): boolean {
  return safeInteger(record['del_flag']) !== 2;
}

/**
 * The version of a row in what was selected; undefined for one that was not selected, is marked deleted in a selection
 * without those, or is missing: an operator may have deleted it.
 */
export function versionIn(records: Records, id: number): number | undefined {
  const record = records.find((each) => each['id'] !== undefined && safeInteger(each['id']) === id);
  return record && safeInteger(record['version']);
}

/** None for a row that cannot be read: an operator who marks such a row deleted gets rid of it. */
function readDeletedRow(record: Readonly<Record<string, unknown>>): WorkerRow[] {
  try {
    return [readWorkerRow(record)];
  } catch {
    return [];
  }
}

/** The fields of the state in the records of a look; NULL in a record that is about something else. */
const STATE_FIELDS: readonly string[] = [
  'now_ms',
  'server_term',
  'format',
  'known_term',
  'epoch',
  'lost_at_ms',
  'reach_ms',
  'fenced_until_ms',
  'served_alone',
  'alone_lost_until_ms',
  'session_age_ms',
];

/** The expressions that {@link readState} needs, each with its name. */
export function stateColumns(dialect: Dialect, table: TableName): string {
  const kept = (column: string): string => ofState(dialect, table, column);
  const state = STATE_FIELDS.slice(2, -1).map((name) => kept(name === 'known_term' ? 'term' : name));
  const sql = [dialect.nowMs, dialect.term, ...state, dialect.sessionAgeMs];
  return STATE_FIELDS.map((name, index) => `${sql[index]} AS ${name}`).join(', ');
}

/** The state as it was read, and the age of the session that has read it, ms. */
export type SeenState = StoreTerm & { readonly sessionAgeMs: number };

/** @throws TableFormatError */
export function readState(table: TableName, records: readonly Readonly<Record<string, unknown>>[]): SeenState {
  const record = records.find(({ now_ms }) => now_ms !== null);
  const nowMs = safeInteger(record?.['now_ms']);
  if (record === undefined || nowMs === undefined) {
    throw new DatabaseCallError("the database's clock could not be read", '');
  }
  const term = String(record['server_term']);
  checkFormat(table, record['format']);
  const { known_term: knownTerm, served_alone: layout } = record;
  const isStated = typeof layout === 'string' && layout !== '';
  return {
    nowMs,
    term,
    knownTerm: typeof knownTerm === 'string' ? knownTerm : undefined,
    failoverNumber: safeInteger(record['epoch']) ?? 0,
    lostAtMs: safeInteger(record['lost_at_ms']) ?? 0,
    reachMs: safeInteger(record['reach_ms']) ?? 0,
    fencedUntilMs: safeInteger(record['fenced_until_ms']) ?? 0,
    ...(isStated && { servedAlone: { layout, lostUntilMs: safeInteger(record['alone_lost_until_ms']) ?? 0 } }),
    sessionAgeMs: safeInteger(record['session_age_ms']) ?? 0,
  };
}

/** The larger one of two expressions. */
function larger(one: string, other: string): string {
  return `(CASE WHEN ${one} > ${other} THEN ${one} ELSE ${other} END)`;
}

/** The smaller one of two expressions. */
function smaller(one: string, other: string): string {
  return `(CASE WHEN ${one} < ${other} THEN ${one} ELSE ${other} END)`;
}

/** What is to be recorded of a server. */
interface ServerNote {
  readonly failoverNumber: number;
  /** Whether the server may have lost grants, by the database's clock at this moment. */
  readonly isNewFailover: boolean;
  readonly reachMs: number;
  /** The row that alone tells of a loss, as it was written. */
  readonly earlierRow?: WrittenRow | undefined;
}

/**
 * Records what a look has found: another server, a loss, or a longer reach. Nothing is written when the state has changed
 * since.
 */
export function noteServer(dialect: Dialect, table: TableName, seen: StoreTerm, note: ServerNote): Statement {
  const { term, knownTerm } = seen;
  const { failoverNumber, isNewFailover, reachMs, earlierRow } = note;
  if (knownTerm === undefined) {
    const first = {
      term,
      failoverNumber: String(failoverNumber),
      reachMs,
      ...(isNewFailover && { lostAtMs: dialect.nowMs }),
    };
    return insertState(dialect, table, first);
  }
  const { values, value } = bindings(dialect);
  const column = (name: string): string => dialect.quote(name);
  const changes = [
    `${column('term')} = ${value(term)}`,
    `${column('epoch')} = ${value(failoverNumber)}`,
    ...(isNewFailover ? [`${column('lost_at_ms')} = ${larger(column('lost_at_ms'), dialect.nowMs)}`] : []),
    `${column('reach_ms')} = ${value(Math.max(seen.reachMs, reachMs))}`,
  ];
  const conditions = [
    `${column('id')} = 1`,
    `${column('term')} = ${value(knownTerm)}`,
    `${column('epoch')} = ${value(seen.failoverNumber)}`,
    `${column('reach_ms')} = ${value(seen.reachMs)}`,
    isOnServer(dialect, value, term),
    ...(earlierRow === undefined ? [] : [showsEarlier(dialect, table, value, earlierRow)]),
  ];
  const state = quoteTable(dialect, stateTableOf(table));
  return { sql: `UPDATE ${state} SET ${changes.join(', ')} WHERE ${conditions.join(' AND ')}`, values };
}

/** The condition that the row has an earlier version still: a node of a cluster may only have lagged. */
function showsEarlier(dialect: Dialect, table: TableName, value: Bind, { id, version }: WrittenRow): string {
  const column = (name: string): string => `w.${dialect.quote(name)}`;
  const condition = `${column('id')} = ${value(id)} AND ${column('version')} < ${value(version)}`;
  return `EXISTS (SELECT 1 FROM ${quoteTable(dialect, table)} w WHERE ${condition})`;
}

/**
 * The state, and the latest times of the rows, in one record: what {@link readLatestTimes} reads. Rows that cannot be read
 * do not hide the others.
 */
export function selectLatestTimes(dialect: Dialect, table: TableName): Statement {
  const column = (name: string): string => `r.${dialect.quote(name)}`;
  const latest = (time: string, condition: string): string =>
    `(SELECT ${dialect.exactInteger(`MAX(${time})`)} FROM ${quoteTable(dialect, table)} r WHERE ${condition})`;
  const isReadable = (time: string): string => `${time} BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}`;
  const isOurs = `(${column('code')} = '' OR ${column('own_version')} = ${column('version')})`;
  const granted = (lane: 0 | 1): string => {
    const [ms, sequence] = [column(`odo${lane}_ms`), column(`odo${lane}_seq`)];
    return latest(ms, `${isReadable(ms)} AND ${sequence} < ${Number.MAX_SAFE_INTEGER}`);
  };
  const [leaseUntil, heartbeat] = [column('lease_until'), dialect.timeAsMs(column('heartbeat_time'))];
  const isFree = `${column('token')} = '' AND ${isReadable(leaseUntil)}`;
  const isHeld = `${column('token')} <> '' AND ${isOurs}`;
  const written = [
    latest(leaseUntil, isFree),
    latest(leaseUntil, `${isHeld} AND ${leaseUntil} <= ${heartbeat}`),
    latest(heartbeat, `${isHeld} AND ${leaseUntil} > ${heartbeat}`),
  ];
  const times = [...written, granted(0), granted(1)].map((time, index) => `${time} AS ${LATEST[index]}`);
  // A fence notes a layout at its end: a table that is missing shows before anything is changed.
  const layouts = `(SELECT COUNT(*) FROM ${quoteTable(dialect, layoutTableOf(table))}) AS layouts`;
  return { sql: `SELECT ${stateColumns(dialect, table)}, ${times.join(', ')}, ${layouts}`, values: [] };
}

/** The columns of {@link selectLatestTimes}. */
const LATEST = ['freed_ms', 'leased_ms', 'written_ms', 'granted0_ms', 'granted1_ms'];

export function readLatestTimes(record: Readonly<Record<string, unknown>>): LatestTimes {
  const [freed, leased, written, granted0, granted1] = LATEST.map((name) => safeInteger(record[name]) ?? 0);
  return { writtenMs: Math.max(freed!, leased!, written!), grantedMs: Math.max(granted0!, granted1!) };
}

/** A fence, as {@link fenceState} writes it. */
type JudgedFence = FenceRequest & { readonly term: string; readonly fromMs: number; readonly ownReachMs: number };

/**
 * See stateAfterFence. The server takes the place of one that is recorded: it is no failover for the next start. Where none
 * is recorded, services may be told no term. The caller fences the rows on the same server afterwards.
 */
export function fenceState(dialect: Dialect, table: TableName, fence: JudgedFence): Statement {
  const { term, fromMs, ownReachMs, issuedUntilMs, servedAlone } = fence;
  const { values, value } = bindings(dialect);
  const column = (name: string): string => dialect.quote(name);
  const [failoverNumber, lostAt, fencedUntil] = [column('epoch'), column('lost_at_ms'), column('fenced_until_ms')];
  const forMs = larger(column('reach_ms'), String(fenceMs(fence, 0, ownReachMs)));
  const endOfReach = `${larger(dialect.nowMs, String(fromMs))} + ${forMs}`;
  const [alone, aloneUntil] = [column('served_alone'), column('alone_lost_until_ms')];
  const isStated = issuedUntilMs !== undefined;
  const end = larger(isStated ? String(issuedUntilMs) : fencedUntil, endOfReach);
  const loss = `(CASE WHEN ${lostAt} = 0 THEN 0 ELSE ${lostAt} + ${column('reach_ms')} END)`;
  const bound = (earlier: string): string => smaller(larger(earlier, loss), end);
  // MySQL evaluates from left to right: a column is written after the last expression that reads it.
  const changes = [
    ...(term === '' ? [] : [`${column('term')} = CASE WHEN ${column('term')} = '' THEN '' ELSE ${value(term)} END`]),
    `${failoverNumber} = ${larger(failoverNumber, dialect.nowMs)} + ${FENCE_FAILOVERS_MS}`,
    ...(servedAlone === undefined
      ? [`${alone} = ''`]
      : [
          `${aloneUntil} = CASE WHEN ${alone} = ${value(servedAlone)} THEN ${bound(aloneUntil)} ELSE ${bound(fencedUntil)} END`,
          `${alone} = ${value(servedAlone)}`,
        ]),
    ...(isStated ? [`${lostAt} = ${smaller(lostAt, dialect.nowMs)}`] : []),
    `${fencedUntil} = ${end}`,
  ];
  const conditions = `${column('id')} = 1 AND ${isOnServer(dialect, value, term)}`;
  const state = quoteTable(dialect, stateTableOf(table));
  return { sql: `UPDATE ${state} SET ${changes.join(', ')} WHERE ${conditions}`, values };
}

/**
 * The database's clock, every row and every remembered layout as they were at one moment, in one statement: a record of
 * empty columns when there is no row, then one for each layout that has its `fingerprint` and nothing else.
 */
export function selectTable(dialect: Dialect, table: TableName): Statement {
  const fingerprint = dialect.quote('fingerprint');
  const rows = selectRows(dialect, table, { condition: '1 = 1', more: `, NULL AS ${fingerprint}` });
  const nothing = [...STATE_FIELDS, ...WORKER_ROW_FIELDS].map(() => 'NULL').join(', ');
  const layouts = `SELECT ${nothing}, ${fingerprint} FROM ${quoteTable(dialect, layoutTableOf(table))}`;
  return { sql: `${rows} UNION ALL ${layouts}`, values: [] };
}

/** The clock and one row, if it is there and not marked deleted. */
export function selectRow(dialect: Dialect, table: TableName, id: number): Statement {
  const [flag, key] = [dialect.quote('del_flag'), dialect.quote('id')];
  const condition = `w.${flag} = 2 AND w.${key} = ${dialect.placeholder(1)}`;
  return { sql: selectRows(dialect, table, { condition }), values: [id] };
}

export function insertLayout(dialect: Dialect, table: TableName, fingerprint: string): Statement {
  const columns = ['fingerprint', 'first_seen_ms'].map((column) => dialect.quote(column));
  const row = `(${dialect.placeholder(1)}, ${dialect.nowMs})`;
  const layoutTable = quoteTable(dialect, layoutTableOf(table));
  return {
    sql: dialect.insertMissing(layoutTable, columns, dialect.quote('fingerprint'), [row]),
    values: [fingerprint],
  };
}

/** A record when the layout is remembered. */
export function selectLayout(dialect: Dialect, table: TableName, fingerprint: string): Statement {
  const column = dialect.quote('fingerprint');
  const layoutTable = quoteTable(dialect, layoutTableOf(table));
  return {
    sql: `SELECT ${column} FROM ${layoutTable} WHERE ${column} = ${dialect.placeholder(1)}`,
    values: [fingerprint],
  };
}

/**
 * The one statement by which a row is acquired, renewed, extended, flipped, healed and released.
 * @param server on which the row was read: on another one, and on this one after another was the primary, it may only
 * look the same
 * @param and a condition to be added
 */
export function updateRow(
  dialect: Dialect,
  table: TableName,
  write: WorkerWrite,
  server: BelievedServer,
  and: string,
): Statement {
  const { values, value } = bindings(dialect);
  const [odo0, odo1] = write.odometers;
  // Values, never column expressions: MySQL evaluates assignments from left to right, with what the first ones made.
  const version = write.expected.version + 1;
  const changes: readonly (readonly [column: string, sql: string])[] = [
    ['version', value(version)],
    ['own_version', value(version)],
    ['token', value(write.token)],
    ['holder', value([...write.holder].slice(0, HOLDER_LENGTH).join(''))],
    ['layout', value(write.layout)],
    ['lane', value(write.lane)],
    ['odo0_ms', value(odo0.ms)],
    ['odo0_seq', value(odo0.sequence)],
    ['odo1_ms', value(odo1.ms)],
    ['odo1_seq', value(odo1.sequence)],
    ['code', value(write.code)],
    ['time_unit', value(write.timeUnit)],
    ['lease_until', `${dialect.nowMs} + ${value(write.leaseMs)}`],
    ['heartbeat_time', dialect.nowTime],
    ['update_time', dialect.nowTime],
  ];
  const conditions: typeof changes = [
    ['id', value(write.id)],
    ['version', value(write.expected.version)],
    ['token', value(write.expected.token)],
    ['del_flag', '2'],
  ];
  const equal = ([column, sql]: readonly [string, string]): string => `${dialect.quote(column)} = ${sql}`;
  const isSame = [isOnServer(dialect, value, server.term), isAtFailover(dialect, table, value, server.failoverNumber)];
  const where = [...conditions.map(equal), ...isSame].join(' AND ');
  const sql = `UPDATE ${quoteTable(dialect, table)} SET ${changes.map(equal).join(', ')} WHERE ${where}${and}`;
  return { sql, values };
}

/**
 * See fencedRow. Frees every row, deleted ones too, with both odometers at the end of the fence, as the state has it, or
 * later, and their whole tick used up. A row of another program's stays one: both versions leap. A row of the database's
 * stays as it is: {@link closeDatabaseIds} fences its function.
 */
export function fenceRows(
  dialect: Dialect,
  table: TableName,
  { term, issuedUntilMs, servedAlone }: Pick<JudgedFence, 'term' | 'issuedUntilMs' | 'servedAlone'>,
): Statement {
  const { values, value } = bindings(dialect);
  const next = (column: string): string => `${dialect.quote(column)} + ${FENCE_LEAP}`;
  const end = ofState(dialect, table, 'fenced_until_ms');
  // The sequence first: MySQL evaluates from left to right, and the sequence depends on the time as it was.
  const odometer = (lane: 0 | 1): (readonly [column: string, sql: string])[] => {
    const [ms, sequence] = [dialect.quote(`odo${lane}_ms`), dialect.quote(`odo${lane}_seq`)];
    const [layout, code] = [dialect.quote('layout'), dialect.quote('code')];
    const fenced = (column: string, by: () => string): string => {
      const kept = [
        ...(issuedUntilMs === undefined ? [`${ms} > ${end}`] : []),
        ...(servedAlone !== undefined
          ? [`${ms} <= ${end} AND ${layout} <> ${value(servedAlone)} AND (${layout} <> '' OR ${code} <> '')`]
          : []),
      ].join(' OR ');
      return kept === '' ? by() : `CASE WHEN ${kept} THEN ${column} ELSE ${by()} END`;
    };
    return [
      [`odo${lane}_seq`, fenced(sequence, () => value(Number.MAX_SAFE_INTEGER))],
      [`odo${lane}_ms`, fenced(ms, () => end)],
    ];
  };
  const changes: readonly (readonly [column: string, sql: string])[] = [
    ['version', next('version')],
    ['own_version', next('own_version')],
    ['token', value('')],
    ['holder', value('')],
    ...odometer(0),
    ...odometer(1),
    ['lease_until', dialect.nowMs],
    ['update_time', dialect.nowTime],
  ];
  const assignments = changes.map(([column, sql]) => `${dialect.quote(column)} = ${sql}`);
  const where = `${isOnServer(dialect, value, term)} AND NOT (${isDatabaseRow(dialect)})`;
  return { sql: `UPDATE ${quoteTable(dialect, table)} SET ${assignments.join(', ')} WHERE ${where}`, values };
}

/** Joins the rows to clock and state: so there is an answer when there is no row. */
function selectRows(
  dialect: Dialect,
  table: TableName,
  { condition, more = '' }: { readonly condition: string; readonly more?: string },
): string {
  const state = STATE_FIELDS.map((field) => `c.${field}`).join(', ');
  return (
    `SELECT ${state}, ${workerRowColumns(dialect, 'w')}${more} FROM (SELECT ${stateColumns(dialect, table)}) c ` +
    `LEFT JOIN ${quoteTable(dialect, table)} w ON ${condition}`
  );
}

/** The kinds of a record, in its column `kind`. */
const KIND = { row: 0, unreadable: 1, noted: 2, ofRow: 3 } as const;

/** The columns beside those of a row; a record has NULL where one does not concern it. */
const BEFORE_ROW = [...STATE_FIELDS, 'total', 'live', 'foreign_rows'];

/**
 * In one statement: the clock and the numbers of rows, with the rows of the sample or one record of empty columns;
 * every row of the table that cannot be read; all layouts.
 * @param more further expressions, by name, in the first record: see {@link firstOfSample}
 */
export function selectSample(
  dialect: Dialect,
  table: TableName,
  request: SampleRequest,
  more: (value: Bind) => readonly (readonly [name: string, sql: string])[] = () => [],
): Statement {
  const { workers, from, atMost, graceMs } = request;
  const { values, value } = bindings(dialect);
  const column = (name: string): string => `r.${dialect.quote(name)}`;
  const [id, token, leaseUntil] = [column('id'), column('token'), column('lease_until')];
  const source = `FROM ${quoteTable(dialect, table)} r`;
  const inRange = (): string =>
    `${column('del_flag')} = 2 AND ${id} BETWEEN ${value(workers.min)} AND ${value(workers.max)}`;
  const isFree = (): string => `(${token} = '' OR ${leaseUntil} <= ${dialect.nowMs} - ${value(graceMs)})`;

  const live = `COUNT(*) - COUNT(CASE WHEN ${isFree()} THEN 1 END)`;
  const others = more(value);
  const names = [...BEFORE_ROW, ...others.map(([name]) => name)];
  const further = others.map(([name, sql]) => `${sql} AS ${name}, `).join('');
  const foreign = `SELECT COUNT(*) FROM ${quoteTable(dialect, table)} f WHERE ${isOfOthers(dialect, 'f')}`;
  const counts = `SELECT ${stateColumns(dialect, table)}, COUNT(*) AS total, ${live} AS live, ${further}(${foreign}) AS foreign_rows ${source} WHERE ${inRange()}`;
  // Never stricter than the choice in core: a row that is left out here is seen only when the whole table is read.
  const free =
    `SELECT r.* ${source} WHERE ${inRange()} AND ${isFree()}` +
    ` AND NOT (${isOfOthers(dialect, 'r')})` +
    ` ORDER BY CASE WHEN ${token} = '' THEN 0 ELSE ${leaseUntil} END,` +
    ` CASE WHEN ${id} < ${value(from)} THEN 1 ELSE 0 END, ${id} LIMIT ${value(atMost)}`;
  const before = names.map((field) => `c.${field}`).join(', ');
  const rows = `SELECT ${KIND.row} AS kind, ${before}, ${workerRowColumns(dialect, 'w')}, NULL AS fingerprint FROM (${counts}) c LEFT JOIN (${free}) w ON 1 = 1`;

  const unreadable =
    `SELECT ${KIND.unreadable}, ${nulls(names)}, ${workerRowColumns(dialect, 'r')}, NULL ${source}` +
    ` WHERE ${column('del_flag')} = 2 AND ${isUnreadable(dialect, 'r')}`;
  return { sql: [rows, unreadable, ...selectLayouts(dialect, table, names)].join(' UNION ALL '), values };
}

/** The condition for rows that another program wrote last, see isForeign in the core. */
export function isOfOthers(dialect: Dialect, alias: string): string {
  const column = (name: string): string => `${alias}.${dialect.quote(name)}`;
  return `${column('del_flag')} = 2 AND ${column('code')} <> '' AND ${column('own_version')} <> ${column('version')}`;
}

function selectLayouts(dialect: Dialect, table: TableName, beforeRow: readonly string[]): string[] {
  const layout = dialect.quote('layout');
  const nothing = nulls([...beforeRow, ...WORKER_ROW_FIELDS]);
  return [
    `SELECT ${KIND.noted}, ${nothing}, ${dialect.quote('fingerprint')} FROM ${quoteTable(dialect, layoutTableOf(table))}`,
    // Grouped by length, too: for MySQL a text equals the same text with a space behind it.
    `SELECT ${KIND.ofRow}, ${nothing}, ${layout} FROM ${quoteTable(dialect, table)} GROUP BY ${layout}, LENGTH(${layout})`,
  ];
}

function nulls(columns: readonly string[]): string {
  return columns.map(() => 'NULL').join(', ');
}

type Records = SqlResult['records'];

/** The answer to selectTable. */
export function tableOf(records: Records, verdict: ServerVerdict): WorkerTable {
  // Also a text that is no fingerprint: it stands for a layout that this release does not know, and blocks others.
  const layouts = records.map(({ fingerprint }) => fingerprint).filter((each) => each !== null);
  return { ...rowsOf(records), layouts: layouts.map(String), ...barOf(verdict) };
}

/**
 * The answer to selectSample.
 * @throws CorruptWorkerRowError for any row of the table, in the sample or not
 */
export function sampleOf(records: Records, { barredUntilMs }: ServerVerdict): WorkerSample {
  for (const record of ofKind(records, KIND.unreadable)) readWorkerRow(record);
  const found = ofKind(records, KIND.row);
  const { nowMs, rows } = rowsOf(found);
  const count = (name: string): number => Number(found[0]?.[name]);
  return {
    ...(barredUntilMs > 0 && { barredUntilMs }),
    nowMs,
    rows,
    total: count('total'),
    live: count('live'),
    foreign: count('foreign_rows'),
    ...layoutsOf(records),
  };
}

/** The record of a sample that has the clock, the numbers of rows and what else was asked for. */
export function firstOfSample(records: Records): Readonly<Record<string, unknown>> {
  return ofKind(records, KIND.row)[0] ?? {};
}

/** The answer to selectRow. */
export function rowOf(records: Records): { readonly nowMs: number; readonly row: WorkerRow | undefined } {
  const { nowMs, rows } = rowsOf(records);
  return { nowMs, row: rows[0] };
}

/** The clock and the rows of what was selected; records of other things have no id. */
function rowsOf(records: Records): Pick<WorkerTable, 'nowMs' | 'rows' | 'deleted'> {
  const nowMs = safeInteger(records.find(({ now_ms }) => now_ms !== null)?.['now_ms'])!;
  const present = records.filter(({ id }) => id !== null);
  return {
    nowMs,
    rows: present.filter((record) => !isMarkedDeleted(record)).map((record) => readWorkerRow(record)),
    deleted: present.filter(isMarkedDeleted).flatMap(readDeletedRow),
  };
}

function layoutsOf(records: Records): KnownLayouts {
  const fingerprints = (kind: number): string[] => ofKind(records, kind).map(({ fingerprint }) => String(fingerprint));
  return {
    layouts: fingerprints(KIND.noted),
    layoutsOfRows: fingerprints(KIND.ofRow).filter((fingerprint) => fingerprint !== ''),
  };
}

function ofKind(records: Records, kind: number): Records {
  return records.filter((record) => safeInteger(record['kind']) === kind);
}
