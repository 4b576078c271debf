import type { WorkerWrite } from '@raindrop/core';
import { FENCE_LEAP, type BelievedServer } from '@raindrop/core/internal';
import { quoteTable, type Dialect, type Statement } from '../database/dialect.js';
import { isOnServer } from '../database/server-term.js';
import { bindings } from '../database/statement.js';
import { type TableName } from '../database/table-name.js';
import { isInEpoch } from '../tables/state-table.js';
import { stateColumns, STATE_FIELDS } from './worker-state.js';
import { HOLDER_LENGTH, layoutTableOf } from './worker-table.js';
import { WORKER_ROW_FIELDS, workerRowColumns } from './worker-row-reader.js';

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

/**
 * The one statement by which a row is acquired, renewed, extended, flipped, healed and released.
 * @param server on which the row was read: on another one, and on this one after another was the primary, it may only look
 * the same
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
  const isSame = [isOnServer(dialect, value, server.term), isInEpoch(dialect, table, value, server.epoch)];
  const where = [...conditions.map(equal), ...isSame].join(' AND ');
  const sql = `UPDATE ${quoteTable(dialect, table)} SET ${changes.map(equal).join(', ')} WHERE ${where}${and}`;
  return { sql, values };
}

/**
 * Frees every row, deleted ones too, with both odometers at least `aheadMs` past now and their whole tick used up. A row
 * of another program's stays one: both versions leap.
 */
export function fenceRows(dialect: Dialect, table: TableName, aheadMs: number, term: string): Statement {
  const { values, value } = bindings(dialect);
  const next = (column: string): string => `${dialect.quote(column)} + ${FENCE_LEAP}`;
  const ahead = (): string => `${dialect.nowMs} + ${value(aheadMs)}`;
  const raised = (column: string): string =>
    `CASE WHEN ${dialect.quote(column)} < ${ahead()} THEN ${ahead()} ELSE ${dialect.quote(column)} END`;
  // No assignment reads a column that another one writes: MySQL evaluates from left to right.
  const changes: readonly (readonly [column: string, sql: string])[] = [
    ['version', next('version')],
    ['own_version', next('own_version')],
    ['token', value('')],
    ['holder', value('')],
    ['odo0_ms', raised('odo0_ms')],
    ['odo0_seq', value(Number.MAX_SAFE_INTEGER)],
    ['odo1_ms', raised('odo1_ms')],
    ['odo1_seq', value(Number.MAX_SAFE_INTEGER)],
    ['lease_until', dialect.nowMs],
    ['update_time', dialect.nowTime],
  ];
  const assignments = changes.map(([column, sql]) => `${dialect.quote(column)} = ${sql}`);
  const where = isOnServer(dialect, value, term);
  return { sql: `UPDATE ${quoteTable(dialect, table)} SET ${assignments.join(', ')} WHERE ${where}`, values };
}

/** From clock and state, outward to the rows: so there is an answer when there is no row. */
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
