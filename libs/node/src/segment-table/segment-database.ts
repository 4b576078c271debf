import { RaindropError, SegmentStoreUnavailableError } from '@raindrop/core';
import { OwnDatabase } from '../database/own-database.js';
import type { RunStatement } from '../database/run-sql.js';
import type { SqlDatabase } from '../database/sql-database.js';
import type { Dialect } from '../database/dialect.js';
import type { TableName } from '../database/table-name.js';
import { prepareTable, type PrepareTableOptions } from '../tables/prepare-table.js';
import type { TableKind } from '../tables/table-kind.js';

export interface SegmentDatabaseOptions {
  /**
   * Limit for connecting, for a busy SQLite and for closing, ms. A server that has not answered a statement after twice
   * as long is given up, with the connection; before that a late answer is still of use.
   */
  readonly opTimeoutMs: number;
}

/** The store was closed; it answers no call any more. */
export class SegmentStoreClosedError extends RaindropError {
  readonly errorCode = 'SEGMENT_STORE_CLOSED';

  constructor() {
    super('The segment store is closed.', { retryable: false });
  }
}

/** The database of a table of segments, over a connection of its own; what may pass is a SegmentStoreUnavailableError. */
export class SegmentDatabase {
  private readonly database: OwnDatabase;

  /** @throws UnsupportedDatabaseError */
  constructor(database: SqlDatabase, { opTimeoutMs }: SegmentDatabaseOptions) {
    this.database = new OwnDatabase(database, {
      opTimeoutMs,
      statementTimeoutMs: 2 * opTimeoutMs,
      closedError: () => new SegmentStoreClosedError(),
    });
  }

  get dialect(): Dialect {
    return this.database.dialect;
  }

  /** @throws what prepareTable throws, or SegmentStoreUnavailableError for what may pass by itself */
  prepare(kind: TableKind, name: TableName, options: PrepareTableOptions): Promise<void> {
    const { dialect } = this;
    return this.call('preparing the table', (run) => prepareTable(run, { kind, dialect, name }, options));
  }

  /** @throws SegmentStoreUnavailableError for what may pass by itself; what cannot keeps its name */
  call<T>(what: string, work: (run: RunStatement) => Promise<T>): Promise<T> {
    return named(what, this.database.call(work));
  }

  /** @throws SegmentStoreUnavailableError */
  durabilityWarnings(): Promise<readonly string[]> {
    return named('reading its settings', this.database.durabilityWarnings());
  }

  close(): Promise<void> {
    return this.database.close();
  }
}

async function named<T>(what: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RaindropError && !error.retryable) throw error;
    throw new SegmentStoreUnavailableError(what, error);
  }
}
