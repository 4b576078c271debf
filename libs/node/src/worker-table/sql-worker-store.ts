import {
  type SampleRequest,
  type WorkerRange,
  type WorkerRow,
  type WorkerSample,
  type WorkerStore,
  type WorkerTable,
  type WorkerWrite,
} from '@raindrop/core';
import { failoverWarnings } from '../database/failover-warnings.js';
import { OwnDatabase } from '../database/own-database.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { DatabaseCallError } from '../database/database-call-error.js';
import type { Dialect } from '../database/dialect.js';
import { selectSample } from './look-statements.js';
import { judgeServerZone } from './judge-server-zone.js';
import { execute } from '../database/statement.js';
import { storageWarnings } from '../tables/find-missing.js';
import { parseTableName, type TableName } from '../database/table-name.js';
import { rowOf, sampleOf, tableOf } from './worker-answers.js';
import { WorkerTableServer, type WorkerTableServerOptions } from './worker-table-server.js';
import { fenceState } from './worker-state.js';
import { WORKER_TABLE } from './worker-table.js';
import { fenceRows, selectRow, selectTable, updateRow } from './worker-statements.js';

export interface SqlWorkerStoreOptions extends WorkerTableServerOptions {
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

const NO_SERVER_YET = { term: '', epoch: 0 };

/**
 * Worker rows in MySQL, MariaDB, PostgreSQL or SQLite.
 *
 * A failover may lose commits. When another server answers than the one that the table was last seen on, every odometer
 * reads as past all that can have been granted before: processes that hold a row whose token is still there go on; those
 * that want one wait until the clock has got there. A row is written only on the server on which it was read, and before the
 * next failover: the store is one keeper's, one call after the other.
 *
 * It connects at the first call and again after every failure. A call that was under way when the connection was lost
 * rejects with DatabaseCallError; whether its statement is executed is then unknown. What the database refuses rejects
 * with DatabaseRefusedError, and every call after `close` with ClosedError.
 */
export class SqlWorkerStore implements WorkerStore {
  private readonly database: OwnDatabase;
  private readonly table: TableName;
  private readonly server: WorkerTableServer;

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
    });
    this.table = parseTableName(tableName, database.schema);
    this.server = new WorkerTableServer(this.database, this.table, options);
  }

  private get dialect(): Dialect {
    return this.database.dialect;
  }

  /**
   * @throws TableMissingError when something is missing and may not be created
   * @throws NotOurTableError when the table of that name has other columns
   * @throws ForeignRowsError when another program uses it, unless that is expected
   */
  prepare(workers: WorkerRange): Promise<void> {
    return this.server.prepare(workers);
  }

  /** @throws ForeignTimeZoneError */
  checkForeignTimes(): Promise<void> {
    const { serverZone } = this.dialect;
    if (serverZone === undefined) return Promise.resolve();
    return this.database.call(async (run) => {
      judgeServerZone(this.options.foreignTimeZone ?? '+00:00', (await run(serverZone)).records[0] ?? {});
    });
  }

  /** @throws CorruptWorkerRowError; and as {@link WorkerTableServer.look} */
  async readTable(): Promise<WorkerTable> {
    return this.server.withLayouts(await this.server.look((dialect) => selectTable(dialect, this.table), tableOf));
  }

  /** @throws CorruptWorkerRowError; and as {@link WorkerTableServer.look} */
  async readSample(request: SampleRequest): Promise<WorkerSample> {
    return this.server.withLayouts(
      await this.server.look((dialect) => selectSample(dialect, this.table, request), sampleOf),
    );
  }

  /** @throws CorruptWorkerRowError; and as {@link WorkerTableServer.look} */
  readRow(id: number): Promise<{ readonly nowMs: number; readonly row: WorkerRow | undefined }> {
    return this.server.look((dialect) => selectRow(dialect, this.table, id), rowOf);
  }

  write(write: WorkerWrite): Promise<boolean> {
    return this.database.call(async (run) => {
      const { affected } = await execute(
        run,
        updateRow(this.dialect, this.table, write, this.server.believed ?? NO_SERVER_YET, this.server.andIsPrimary),
      );
      if (affected !== 0 && affected !== 1) {
        throw new DatabaseCallError(`an UPDATE by primary key reported ${affected} affected rows`, '');
      }
      return affected === 1;
    });
  }

  /** Whether the account may note another server after a failover, tried by an UPDATE that finds no row. */
  tryToNote(): Promise<void> {
    return this.server.tryToNote();
  }

  rememberLayout(fingerprint: string): Promise<void> {
    return this.server.rememberLayout(fingerprint);
  }

  /** Rows and state of one server: where another one answers in between nothing is fenced there. @throws ReplicaError */
  async fence(aheadMs: number): Promise<number> {
    const term = await this.server.termNow();
    return this.database.call(async (run) => {
      const { affected = 0 } = await execute(run, fenceRows(this.dialect, this.table, aheadMs, term));
      await execute(run, fenceState(this.dialect, this.table, term));
      return affected;
    });
  }

  async durabilityWarnings(): Promise<readonly string[]> {
    const orElse = 'commitLossWindowMs to longer than what can be lost';
    const { maxSessionAgeMs = 0 } = this.options;
    const table = { kind: WORKER_TABLE, dialect: this.dialect, name: this.table };
    return [
      ...(await this.database.call((run) => storageWarnings(run, table))),
      ...(await this.database.durabilityWarnings(`, or ${orElse}`)),
      ...(await failoverWarnings(this.database, this.server.believed?.term, {
        maxSessionAgeMs,
        cure: `set ${orElse}`,
      })),
    ];
  }

  abandon(): void {
    this.database.abandon();
  }

  /** Safe to call more than once. Never rejects: a connection that cannot be closed in time is dropped. */
  close(): Promise<void> {
    return this.database.close();
  }
}
