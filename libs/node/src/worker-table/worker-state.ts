import { FENCED_EPOCHS_MS, type StoreTerm } from '@raindrop/core/internal';
import { bindings, type Dialect, quoteTable, type Statement } from '../database/dialect.js';
import { safeInteger } from '../database/sql-values.js';
import { DatabaseCallError } from '../database/database-errors.js';
import { isOnServer } from '../database/server-term.js';
import type { TableName } from '../database/table-name.js';
import { checkFormat, insertState, ofState, stateTableOf } from '../tables/state-table.js';

/** The fields of the state in the records of a look; NULL in a record that is about something else. */
export const STATE_FIELDS: readonly string[] = [
  'now_ms',
  'server_term',
  'format',
  'known_term',
  'epoch',
  'lost_at_ms',
  'reach_ms',
  'session_age_ms',
];

/** The expressions that {@link readState} needs, each with its name. */
export function stateColumns(dialect: Dialect, table: TableName): string {
  const kept = (column: string): string => ofState(dialect, table, column);
  const state = ['format', 'term', 'epoch', 'lost_at_ms', 'reach_ms'].map(kept);
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
  const knownTerm = record['known_term'];
  return {
    nowMs,
    term,
    knownTerm: typeof knownTerm === 'string' ? knownTerm : undefined,
    epoch: safeInteger(record['epoch']) ?? 0,
    lostAtMs: safeInteger(record['lost_at_ms']) ?? 0,
    reachMs: safeInteger(record['reach_ms']) ?? 0,
    sessionAgeMs: safeInteger(record['session_age_ms']) ?? 0,
  };
}

/**
 * Records what a look has found: another server, or a longer reach. Nothing is written when the state has changed
 * since.
 * @param note the epoch to record; whether the server may have lost grants, by the database's clock at this moment
 */
export function noteServer(
  dialect: Dialect,
  table: TableName,
  seen: StoreTerm,
  note: { readonly epoch: number; readonly isNewFailover: boolean; readonly reachMs: number },
): Statement {
  const { term, knownTerm } = seen;
  const { epoch, isNewFailover, reachMs } = note;
  if (knownTerm === undefined) {
    const first = { term, epoch: String(epoch), reachMs, ...(isNewFailover && { lostAtMs: dialect.nowMs }) };
    return insertState(dialect, table, first);
  }
  const { values, value } = bindings(dialect);
  const column = (name: string): string => dialect.quote(name);
  const changes = [
    `${column('term')} = ${value(term)}`,
    `${column('epoch')} = ${value(epoch)}`,
    ...(isNewFailover ? [`${column('lost_at_ms')} = ${dialect.nowMs}`] : []),
    `${column('reach_ms')} = ${value(Math.max(seen.reachMs, reachMs))}`,
  ];
  const conditions = [
    `${column('id')} = 1`,
    `${column('term')} = ${value(knownTerm)}`,
    `${column('epoch')} = ${value(seen.epoch)}`,
    `${column('reach_ms')} = ${value(seen.reachMs)}`,
    isOnServer(dialect, value, term),
  ];
  const state = quoteTable(dialect, stateTableOf(table));
  return { sql: `UPDATE ${state} SET ${changes.join(', ')} WHERE ${conditions.join(' AND ')}`, values };
}

/** See fencedState. The caller fences the rows on the same server. */
export function fenceState(dialect: Dialect, table: TableName, term: string): Statement {
  const { values, value } = bindings(dialect);
  const column = (name: string): string => dialect.quote(name);
  const [epoch, lostAtMs] = [column('epoch'), column('lost_at_ms')];
  const changes = [
    `${epoch} = CASE WHEN ${epoch} > ${dialect.nowMs} THEN ${epoch} ELSE ${dialect.nowMs} END + ${FENCED_EPOCHS_MS}`,
    `${lostAtMs} = CASE WHEN ${lostAtMs} < ${dialect.nowMs} THEN ${lostAtMs} ELSE ${dialect.nowMs} END`,
  ];
  const conditions = `${column('id')} = 1 AND ${isOnServer(dialect, value, term)}`;
  const state = quoteTable(dialect, stateTableOf(table));
  return { sql: `UPDATE ${state} SET ${changes.join(', ')} WHERE ${conditions}`, values };
}
