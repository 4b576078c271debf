import type { WorkerRow } from '@raindrop/core';
import { type KeptRow, PermanentError, readKeptRow, type RowField } from '@raindrop/core/internal';
import type { Dialect } from '../database/dialect.js';
import { safeInteger } from '../database/sql-values.js';

/** A row of the worker table holds a value that Raindrop cannot have written. Nothing is guessed. */
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

/** The column of each value. The heartbeat's is the name that {@link workerRowColumns} gives it. */
const COLUMN_OF: Readonly<Record<RowField, string>> = {
  ...{ id: 'id', version: 'version', leaseUntilMs: 'lease_until', lane: 'lane' },
  ...{ odo0Ms: 'odo0_ms', odo0Seq: 'odo0_seq', odo1Ms: 'odo1_ms', odo1Seq: 'odo1_seq' },
  ...{ ownVersion: 'own_version', code: 'code', token: 'token', holder: 'holder', layout: 'layout' },
  heartbeatMs: 'heartbeat_ms',
};

const TEXTS = ['code', 'token', 'holder', 'layout'];
const NUMBERS = Object.values(COLUMN_OF).filter((column) => !TEXTS.includes(column) && column !== 'heartbeat_ms');

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
 * An SQL condition that is true of the rows that {@link readWorkerRow} refuses. It does not find what only SQLite can
 * store: a fraction in a column of integers, and bytes in a column of texts.
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
export function isMarkedDeleted(record: Readonly<Record<string, unknown>>): boolean {
  return safeInteger(record['del_flag']) !== 2;
}

/** None for a row that cannot be read: an operator who marks such a row deleted gets rid of it. */
export function readDeletedRow(record: Readonly<Record<string, unknown>>): WorkerRow[] {
  try {
    return [readWorkerRow(record)];
  } catch {
    return [];
  }
}
