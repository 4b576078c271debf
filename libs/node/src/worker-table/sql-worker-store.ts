import {
  RaindropError,
  type SampleRequest,
  type WorkerRange,
  type WorkerRow,
  type WorkerSample,
  type WorkerStore,
  type WorkerTable,
  type WorkerWrite,
} from '@raindrop/core';
import { OwnDatabase } from '../database/own-database.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { DatabaseCallError } from '../database/database-call-error.js';
import type { Dialect, Statement } from '../database/dialect.js';
import { selectSample } from './look-statements.js';
import { judgeServerZone } from './judge-server-zone.js';
import { prepareWorkerTable, type PrepareOptions } from './prepare-worker-table.js';
import type { SqlResult } from '../database/run-sql.js';
import { execute } from '../database/statement.js';
import { parseTableName, type TableName } from '../database/table-name.js';
import { rowOf, sampleOf, tableOf } from './worker-answers.js';
import { WORKER_TABLE } from './worker-table.js';
import { fenceRows, insertLayout, selectRow, selectTable, updateRow } from './worker-statements.js';

export interface SqlWorkerStoreOptions extends PrepareOptions {
  /** `table` or `schema.table`. */
  readonly tableName: string;
  /** Whether missing tables and columns are created. Missing rows are added in any case, unless the table is shared. */
  readonly autoCreateTable: boolean;
  /** Limit for connecting, for a busy SQLite and for closing, ms. */
  readonly opTimeoutMs: number;
  /** How long a statement may take, see OwnDatabase; none for who has a deadline and calls `abandon`. */
  readonly statementTimeoutMs?: number;
  /** The offset in which the original's processes write their times to MySQL, such as `+08:00`. Default UTC. */
  readonly foreignTimeZone?: string;
}

/** The store was closed; it answers no call any more. */
export class WorkerStoreClosedError extends RaindropError {
  readonly errorCode = 'WORKER_STORE_CLOSED';

  constructor() {
    super('The worker store is closed.', { retryable: false });
  }
}

/**
 * Worker rows in MySQL, MariaDB, PostgreSQL or SQLite.
 *
 * It connects at the first call and again after every failure. A call that was under way when the connection was lost
 * rejects with DatabaseCallError; whether its statement is executed is then unknown. What the database refuses rejects
 * with DatabaseRefusedError.
 */
export class SqlWorkerStore implements WorkerStore {
  private readonly database: OwnDatabase;
  private readonly dialect: Dialect;
  private readonly table: TableName;

  /**
   * @param database where the table is; the store opens one connection of its own
   * @throws UnsupportedDatabaseError, InvalidTableNameError; ConfigurationError for `foreignTimeZone`
   */
  constructor(
    database: SqlDatabase,
    private readonly options: SqlWorkerStoreOptions,
  ) {
    const { tableName, opTimeoutMs, statementTimeoutMs, foreignTimeZone } = options;
    this.database = new OwnDatabase(database, {
      opTimeoutMs,
      ...(statementTimeoutMs !== undefined && { statementTimeoutMs }),
      ...(foreignTimeZone !== undefined && { timeZone: foreignTimeZone }),
      closedError: () => new WorkerStoreClosedError(),
    });
    this.dialect = this.database.dialect;
    this.table = parseTableName(tableName, database.schema);
  }

  /**
   * @throws TableMissingError when something is missing and may not be created
   * @throws NotOurTableError when the table of that name has other columns
   * @throws ForeignRowsError when another program uses it, unless that is expected
   */
  prepare(workers: WorkerRange): Promise<void> {
    const table = { kind: WORKER_TABLE, dialect: this.dialect, name: this.table };
    return this.database.call((run) => prepareWorkerTable(run, table, workers, this.options));
  }

  /** @throws ForeignTimeZoneError */
  checkForeignTimes(): Promise<void> {
    const { serverZone } = this.dialect;
    if (serverZone === undefined) return Promise.resolve();
    return this.database.call(async (run) => {
      judgeServerZone(this.options.foreignTimeZone ?? '+00:00', (await run(serverZone)).records[0] ?? {});
    });
  }

  /** @throws CorruptWorkerRowError */
  readTable(): Promise<WorkerTable> {
    return this.select(selectTable(this.dialect, this.table), tableOf);
  }

  /** @throws CorruptWorkerRowError */
  readSample(request: SampleRequest): Promise<WorkerSample> {
    return this.select(selectSample(this.dialect, this.table, request), sampleOf);
  }

  /** @throws CorruptWorkerRowError */
  readRow(id: number): Promise<{ readonly nowMs: number; readonly row: WorkerRow | undefined }> {
    return this.select(selectRow(this.dialect, this.table, id), rowOf);
  }

  write(write: WorkerWrite): Promise<boolean> {
    return this.database.call(async (run) => {
      const { affected } = await execute(run, updateRow(this.dialect, this.table, write));
      if (affected !== 0 && affected !== 1) {
        throw new DatabaseCallError(`an UPDATE by primary key reported ${affected} affected rows`, '');
      }
      return affected === 1;
    });
  }

  rememberLayout(fingerprint: string): Promise<void> {
    return this.database.call(async (run) => {
      await execute(run, insertLayout(this.dialect, this.table, fingerprint));
    });
  }

  fence(aheadMs: number): Promise<number> {
    return this.database.call(
      async (run) => (await execute(run, fenceRows(this.dialect, this.table, aheadMs))).affected ?? 0,
    );
  }

  durabilityWarnings(): Promise<readonly string[]> {
    return this.database.durabilityWarnings(', or commitLossWindowMs to longer than what can be lost');
  }

  abandon(): void {
    this.database.abandon();
  }

  /** Safe to call more than once. Never rejects: a connection that cannot be closed in time is dropped. */
  close(): Promise<void> {
    return this.database.close();
  }

  private select<T>(statement: Statement, read: (records: SqlResult['records']) => T): Promise<T> {
    return this.database.call(async (run) => read((await execute(run, statement)).records));
  }
}
