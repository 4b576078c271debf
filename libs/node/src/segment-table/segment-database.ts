import { RaindropError } from '@raindrop/core';
import { SegmentStoreUnavailableError } from '@raindrop/core/internal';
import { OwnDatabase } from '../database/own-database.js';
import type { RunStatement } from '../database/run-sql.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { parseTableName } from '../database/table-name.js';
import { prepareTable } from '../tables/prepare-table.js';
import type { Table, TableKind } from '../tables/table-kind.js';

export interface SegmentDatabaseOptions {
  /** `table` or `schema.table`. */
  readonly tableName: string;
  /** Whether a missing table is created. */
  readonly autoCreateTable: boolean;
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
  readonly table: Table;
  private readonly database: OwnDatabase;

  /** @throws UnsupportedDatabaseError, InvalidTableNameError */
  constructor(
    database: SqlDatabase,
    kind: TableKind,
    private readonly options: SegmentDatabaseOptions,
  ) {
    const { tableName, opTimeoutMs } = options;
    this.database = new OwnDatabase(database, {
      opTimeoutMs,
      statementTimeoutMs: 2 * opTimeoutMs,
      closedError: () => new SegmentStoreClosedError(),
    });
    this.table = { kind, dialect: this.database.dialect, name: parseTableName(tableName, database.schema) };
  }

  /** @throws what prepareTable throws, or SegmentStoreUnavailableError for what may pass by itself */
  prepare(): Promise<void> {
    return this.call('preparing the table', (run) => prepareTable(run, this.table, this.options));
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
