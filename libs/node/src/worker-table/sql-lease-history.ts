import type { Odometer, PerLane } from '@raindrop/core';
import { type BegunLease, type LeaseHistory, withDeadline, DAY_MS } from '@raindrop/core/internal';
import { DatabaseCallError } from '../database/database-errors.js';
import { execute, type RunSql } from '../database/dialect.js';
import { OwnDatabase } from '../database/own-database.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { dialectOf } from '../database/supported-database.js';
import { parseTableName } from '../database/table-name.js';
import { systemTimers } from '../system/system-ports.js';
import { createMissing } from '../tables/prepare-table.js';
import type { Table } from '../tables/table-kind.js';
import {
  deleteLeases,
  historyTableOf,
  insertLease,
  LEASE_ID,
  selectOutdated,
  type HolderProcess,
  updateEnd,
  WORKER_HISTORY_TABLE,
} from './worker-history.js';

export interface WorkerHistoryOptions {
  /** The worker table's, `table` or `schema.table`. */
  readonly tableName: string;
  readonly autoCreateTable: boolean;
  /** The limit of connecting, of a statement and of a wait for a busy SQLite, ms. */
  readonly opTimeoutMs: number;
  /** A lease is deleted so many days after the next one of its worker id began. */
  readonly keepDays: number;
  /** Asked at each begin: a copy of a process has another one. Must not throw. */
  readonly process: () => HolderProcess;
  /** Hears of a failure; of those after it again once a call has succeeded. */
  readonly warn: (message: string) => void;
}

/** How long the end of a process waits for what is yet to be recorded, ms. */
const CLOSE_MS = 1_000;

/** The most rows that one begin deletes. */
const MOST_DELETED = 100;

/**
 * Records leases in a table beside the worker table. Each call has a connection of its own, apart from the lease's: a
 * table that is missing, locked or slow delays nothing. A call that fails is not made again; its lease is then
 * incomplete, and its IDs are not recorded.
 */
export class SqlLeaseHistory implements LeaseHistory {
  private readonly table: Table;
  private last: Promise<void> = Promise.resolve();
  private open: OwnDatabase | undefined;
  private isClosed = false;
  private isFailing = false;

  /** @throws UnsupportedDatabaseError, InvalidTableNameError */
  constructor(
    private readonly database: SqlDatabase,
    private readonly options: WorkerHistoryOptions,
  ) {
    const name = historyTableOf(parseTableName(options.tableName, database.schema));
    this.table = { kind: WORKER_HISTORY_TABLE, dialect: dialectOf(database.type), name };
  }

  begin(begun: BegunLease): void {
    const { table, options } = this;
    // Now: by the time it is recorded this process may be a copy of the one that has begun.
    const process = options.process();
    this.add(async (run) => {
      await createMissing(run, table, options);
      await execute(run, insertLease(table, begun, process));
      const outdated = await execute(run, selectOutdated(table, options.keepDays * DAY_MS, MOST_DELETED));
      const leaseIds = outdated.records.map((record) => String(record[LEASE_ID]));
      if (leaseIds.length > 0) await execute(run, deleteLeases(table, leaseIds));
    });
  }

  end(begun: BegunLease, end: PerLane<Odometer>): void {
    this.add((run) => execute(run, updateEnd(this.table, begun, end)));
  }

  async close(): Promise<void> {
    const giveUp = (): void => {
      this.isClosed = true;
      this.open?.abandon();
    };
    await withDeadline(() => this.last, CLOSE_MS, systemTimers, giveUp).catch(() => undefined);
    this.isClosed = true;
  }

  /** One call after the other: an end is recorded after its begin. */
  private add(work: (run: RunSql) => Promise<unknown>): void {
    this.last = this.last.then(() => this.record(work));
  }

  private async record(work: (run: RunSql) => Promise<unknown>): Promise<void> {
    if (this.isClosed) return;
    const { opTimeoutMs, warn } = this.options;
    try {
      this.open = new OwnDatabase(this.database, { opTimeoutMs, statementTimeoutMs: opTimeoutMs });
      await this.open.call(work);
      this.isFailing = false;
    } catch (error) {
      const { message } = error instanceof Error ? error : DatabaseCallError.from(error);
      if (!this.isFailing) warn(`the worker history is incomplete, IDs are issued all the same: ${message}`);
      this.isFailing = true;
    } finally {
      await this.open?.close();
      this.open = undefined;
    }
  }
}
