import type { Lane, Odometer, WorkerRow } from '@raindrop/core';
import { PermanentError } from '@raindrop/core/internal';
import type { Dialect } from '../database/dialect.js';
import { safeInteger } from '../database/sql-values.js';

/** A row of the worker table holds what Raindrop cannot have written; nothing is guessed. */
export class CorruptWorkerRowError extends PermanentError {
  readonly errorCode = 'CORRUPT_WORKER_ROW';

  constructor(
    /** Undefined when the id itself cannot be read. */
    readonly workerId: number | undefined,
    readonly column: string,
    readonly legal: string,
  ) {
    super(
      `The worker table's row ${workerId ?? 'with an unreadable id'} holds a value in column ${column} that is not ` +
        `${legal}. Correct it, or set the row's del_flag to 1, after which no process uses this worker id.`,
    );
  }
}

const NUMBERS = ['id', 'version', 'lease_until', 'lane', 'odo0_ms', 'odo0_seq', 'odo1_ms', 'odo1_seq', 'own_version'];
const TEXTS = ['code', 'token', 'holder', 'layout'];

/** What {@link workerRowColumns} selects, by name. */
export const WORKER_ROW_FIELDS: readonly string[] = [...NUMBERS, ...TEXTS, 'del_flag', 'heartbeat_ms'];

/** What to select, from a table with this alias, for {@link readWorkerRow}. */
export function workerRowColumns(dialect: Dialect, alias: string): string {
  const plain = [...NUMBERS, ...TEXTS].map((column) => `${alias}.${dialect.quote(column)}`);
  const heartbeat = dialect.timeAsMs(`${alias}.${dialect.quote('heartbeat_time')}`);
  return [...plain, `${alias}.${dialect.quote('del_flag')}`, `${heartbeat} AS ${dialect.quote('heartbeat_ms')}`].join(
    ', ',
  );
}

/**
 * True of a row that {@link readWorkerRow} refuses, as far as SQL can tell: all but what only SQLite stores, fractions in
 * a column of integers and bytes in one of texts.
 */
export function isUnreadable(dialect: Dialect, alias: string): string {
  const column = (name: string): string => `${alias}.${dialect.quote(name)}`;
  const isSafe = (sql: string): string => `${sql} BETWEEN ${-Number.MAX_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`;
  const isReadable = [
    ...NUMBERS.map((name) => isSafe(column(name))),
    `${column('lane')} IN (0, 1)`,
    isSafe(dialect.timeAsMs(column('heartbeat_time'))),
    ...TEXTS.map((name) => `${column(name)} IS NOT NULL`),
  ];
  // What is compared with NULL is neither true nor false.
  return `CASE WHEN ${isReadable.join(' AND ')} THEN 0 ELSE 1 END = 1`;
}

/**
 * A record as a worker row. Drivers give 64-bit integers as strings, numbers or BigInts, depending on their settings.
 *
 * @throws CorruptWorkerRowError for a value that is missing, no integer, or beyond 2^53
 */
export function readWorkerRow(record: Readonly<Record<string, unknown>>): WorkerRow {
  const id = safeInteger(record['id']);
  const integer = (column: string): number => {
    const value = safeInteger(record[column]);
    if (value === undefined) throw new CorruptWorkerRowError(id, column, 'an integer within 2^53');
    return value;
  };
  const text = (column: string): string => {
    const value = record[column];
    if (typeof value !== 'string') throw new CorruptWorkerRowError(id, column, 'text');
    return value;
  };
  const lane = (): Lane => {
    const value = integer('lane');
    if (value !== 0 && value !== 1) throw new CorruptWorkerRowError(id, 'lane', '0 or 1');
    return value;
  };
  const odometer = (which: Lane): Odometer => ({
    ms: integer(`odo${which}_ms`),
    sequence: integer(`odo${which}_seq`),
  });
  return {
    id: integer('id'),
    version: integer('version'),
    ownVersion: integer('own_version'),
    token: text('token'),
    holder: text('holder'),
    layout: text('layout'),
    leaseUntilMs: integer('lease_until'),
    lane: lane(),
    odometers: [odometer(0), odometer(1)],
    code: text('code'),
    heartbeatMs: integer('heartbeat_ms'),
  };
}

/** As every condition of ours and the original's: only 2 is not deleted. */
export function isMarkedDeleted(record: Readonly<Record<string, unknown>>): boolean {
  return safeInteger(record['del_flag']) !== 2;
}

/** A deleted row that cannot be read is left out: marking it so is how an operator gets rid of one. */
export function readDeletedRow(record: Readonly<Record<string, unknown>>): WorkerRow[] {
  try {
    return [readWorkerRow(record)];
  } catch {
    return [];
  }
}
