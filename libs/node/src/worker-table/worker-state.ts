import type { StoreTerm } from '@raindrop/core/internal';
import { quoteTable, type Dialect, type Statement } from '../database/dialect.js';
import { safeInteger } from '../database/safe-integer.js';
import { DatabaseCallError } from '../database/database-call-error.js';
import { isOnServer, REPLICA, ReplicaError } from '../database/server-term.js';
import { bindings } from '../database/statement.js';
import type { TableName } from '../database/table-name.js';
import { checkFormat, ofState, stateTableOf } from '../tables/state-table.js';

/** In a record of every look, with NULL in those that are about something else. */
export const STATE_FIELDS: readonly string[] = [
  'now_ms',
  'server_term',
  'format',
  'known_term',
  'lost_at_ms',
  'reach_ms',
  'session_age_ms',
];

/** What to select for {@link readState}: expressions, of which each has its name. */
export function stateColumns(dialect: Dialect, table: TableName): string {
  const kept = (column: string): string => ofState(dialect, table, column);
  const state = ['format', 'term', 'lost_at_ms', 'reach_ms'].map(kept);
  const sql = [dialect.nowMs, dialect.term, ...state, dialect.sessionAgeMs];
  return STATE_FIELDS.map((name, index) => `${sql[index]} AS ${name}`).join(', ');
}

/** What is read of the state, and how old the session is. */
export type SeenState = StoreTerm & { readonly sessionAgeMs: number };

/** @throws ReplicaError; TableFormatError */
export function readState(table: TableName, records: readonly Readonly<Record<string, unknown>>[]): SeenState {
  const record = records.find(({ now_ms }) => now_ms !== null);
  const nowMs = safeInteger(record?.['now_ms']);
  if (record === undefined || nowMs === undefined) {
    throw new DatabaseCallError("the database's clock could not be read", '');
  }
  const term = String(record['server_term']);
  if (term === REPLICA) throw new ReplicaError();
  checkFormat(table, record['format']);
  const knownTerm = record['known_term'];
  return {
    nowMs,
    term,
    knownTerm: typeof knownTerm === 'string' ? knownTerm : undefined,
    lostAtMs: safeInteger(record['lost_at_ms']) ?? 0,
    reachMs: safeInteger(record['reach_ms']) ?? 0,
    sessionAgeMs: safeInteger(record['session_age_ms']) ?? 0,
  };
}

/** Writes down what a look has found: another server, or a reach that is longer. Nothing when it is not so any more. */
export function updateState(
  dialect: Dialect,
  table: TableName,
  seen: StoreTerm,
  own: { readonly reachMs: number; readonly isLost: boolean },
): Statement {
  const { values, value } = bindings(dialect);
  const column = (name: string): string => dialect.quote(name);
  const changes = [
    `${column('term')} = ${value(seen.term)}`,
    ...(own.isLost ? [`${column('epoch')} = ${column('epoch')} + 1`] : []),
    ...(own.isLost ? [`${column('lost_at_ms')} = ${dialect.nowMs}`] : []),
    `${column('reach_ms')} = ${value(Math.max(seen.reachMs, own.reachMs))}`,
  ];
  const conditions = [
    `${column('id')} = 1`,
    `${column('term')} = ${value(seen.knownTerm ?? '')}`,
    `${column('reach_ms')} = ${value(seen.reachMs)}`,
    isOnServer(dialect, value, seen.term),
  ];
  const state = quoteTable(dialect, stateTableOf(table));
  return { sql: `UPDATE ${state} SET ${changes.join(', ')} WHERE ${conditions.join(' AND ')}`, values };
}
