import {
  RaindropError,
  type KnownLayouts,
  type SampleRequest,
  type WorkerRange,
  type WorkerRow,
  type WorkerSample,
  type WorkerStore,
  type WorkerTable,
  type WorkerWrite,
} from '@raindrop/core';
import type { DataSourceOptions } from 'typeorm';
import { DatabaseCallError } from './database-call-error.js';
import { DatabaseRefusedError } from './database-refused-error.js';
import type { Dialect, SqlValue, Statement } from './dialect.js';
import { LeaseConnection } from './lease-connection.js';
import { leaseDataSourceOptions } from './lease-data-source.js';
import { selectRowAndLayouts, selectSample } from './look-statements.js';
import { addMissingRows, createMissingTables } from './prepare-worker-table.js';
import type { RunSql, SqlResult } from './run-sql.js';
import { dialectOf } from './supported-database.js';
import { parseTableName, type TableName } from './table-name.js';
import { rowAndLayoutsOf, rowOf, sampleOf, tableOf } from './worker-answers.js';
import { fenceRows, insertLayout, selectRow, selectTable, updateRow } from './worker-statements.js';

export interface TypeormWorkerStoreOptions {
  /** `table` or `schema.table`. */
  readonly tableName: string;
  /** Whether missing tables and columns are created. Missing rows are added in any case. */
  readonly autoCreateTable: boolean;
  /** Limit for connecting, for a busy SQLite and for closing, ms. */
  readonly opTimeoutMs: number;
  /** The offset in which the original's processes write their times to MySQL, such as `+08:00`. Default UTC. */
  readonly foreignTimeZone?: string;
  /** What names account and database, for messages. */
  readonly configuredBy?: string;
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
export class TypeormWorkerStore implements WorkerStore {
  private readonly dataSource: DataSourceOptions;
  private readonly dialect: Dialect;
  private readonly table: TableName;
  private readonly pending = new Set<(reason: Error) => void>();
  private connection: LeaseConnection | undefined;
  private closing: Promise<void> | undefined;

  /**
   * @param dataSource the application's options; the store opens one connection of its own, see leaseDataSourceOptions
   * @throws UnsupportedDatabaseError, InvalidTableNameError; ConfigurationError for `foreignTimeZone`
   */
  constructor(
    dataSource: DataSourceOptions,
    private readonly options: TypeormWorkerStoreOptions,
  ) {
    const { tableName, opTimeoutMs, foreignTimeZone } = options;
    this.dataSource = leaseDataSourceOptions(dataSource, { opTimeoutMs });
    this.dialect = dialectOf(dataSource.type, foreignTimeZone);
    this.table = parseTableName(tableName, (dataSource as { schema?: string }).schema);
  }

  /**
   * @throws WorkerTableMissingError when something is missing and may not be created
   * @throws NotAWorkerTableError when a table of that name is somebody else's
   */
  prepare(workers: WorkerRange): Promise<void> {
    return this.call(async (run) => {
      const context = { run, dialect: this.dialect, table: this.table };
      await createMissingTables(context, this.options.autoCreateTable);
      await addMissingRows(context, workers);
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

  /** @throws CorruptWorkerRowError */
  readRowAndLayouts(id: number): Promise<KnownLayouts & { readonly row: WorkerRow | undefined }> {
    return this.select(selectRowAndLayouts(this.dialect, this.table, id), rowAndLayoutsOf);
  }

  write(write: WorkerWrite): Promise<boolean> {
    return this.call(async (run) => {
      const { affected } = await execute(run, updateRow(this.dialect, this.table, write));
      if (affected !== 0 && affected !== 1) {
        throw new DatabaseCallError(`an UPDATE by primary key reported ${affected} affected rows`, '');
      }
      return affected === 1;
    });
  }

  rememberLayout(fingerprint: string): Promise<void> {
    return this.call(async (run) => {
      await execute(run, insertLayout(this.dialect, this.table, fingerprint));
    });
  }

  fence(aheadMs: number): Promise<number> {
    return this.call(async (run) => (await execute(run, fenceRows(this.dialect, this.table, aheadMs))).affected ?? 0);
  }

  durabilityWarnings(): Promise<readonly string[]> {
    return this.call(async (run) => {
      const settings: Record<string, string> = {};
      for (const sql of this.dialect.durability.sql) {
        for (const [name, value] of Object.entries((await run(sql)).records[0] ?? {})) settings[name] = String(value);
      }
      return this.dialect.durability.judge(settings);
    });
  }

  abandon(): void {
    const reason = new DatabaseCallError('the connection was dropped before there was an answer', '');
    this.drop(this.connection, reason);
    for (const reject of this.pending) reject(reason);
  }

  /** Safe to call more than once. Never rejects: a connection that cannot be closed in time is dropped. */
  close(): Promise<void> {
    this.closing ??= this.connection?.close() ?? Promise.resolve();
    return this.closing;
  }

  private select<T>(statement: Statement, read: (records: SqlResult['records']) => T): Promise<T> {
    return this.call(async (run) => read((await execute(run, statement)).records));
  }

  /** Runs a call whose statements stop, and which rejects at once, when it is abandoned. */
  private call<T>(work: (run: RunSql) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let over: Error | undefined;
      const abandon = (reason: Error): void => {
        over = reason;
        reject(reason);
      };
      const run: RunSql = (sql, values) => (over === undefined ? this.run(sql, values) : Promise.reject(over));
      this.pending.add(abandon);
      work(run)
        .then(resolve, reject)
        .finally(() => this.pending.delete(abandon));
    });
  }

  private async run(sql: string, values?: readonly SqlValue[]): Promise<SqlResult> {
    if (this.closing !== undefined) throw new WorkerStoreClosedError();
    if (this.connection?.isUsable === false) this.drop(this.connection, new Error('the connection was lost'));
    this.connection ??= new LeaseConnection(this.dataSource, this.dialect, this.options.opTimeoutMs);
    const { connection } = this;
    try {
      return await connection.run(sql, values);
    } catch (error) {
      // Whatever went wrong: a new connection has no state of the old one, and finds the new primary after a failover.
      this.drop(connection, new Error('the connection had failed'));
      throw this.refusalOf(error as DatabaseCallError) ?? error;
    }
  }

  private refusalOf({ reason, driverCode }: DatabaseCallError): DatabaseRefusedError | undefined {
    const { configuredBy = "the DataSource's options" } = this.options;
    const refusal = this.dialect.refusal(driverCode);
    return refusal && new DatabaseRefusedError(refusal, reason, driverCode, configuredBy);
  }

  private drop(connection: LeaseConnection | undefined, reason: Error): void {
    connection?.destroy(reason);
    if (this.connection === connection) this.connection = undefined;
  }
}

function execute(run: RunSql, { sql, values }: Statement): Promise<SqlResult> {
  return run(sql, values);
}
