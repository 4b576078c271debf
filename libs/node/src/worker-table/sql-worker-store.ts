import { statSync } from 'node:fs';
import {
  type FenceRequest,
  type SampleRequest,
  type WorkerRange,
  type WorkerRow,
  type WorkerSample,
  type WorkerStore,
  type WorkerTable,
  type WorkerWrite,
  ForeignTimeZoneError,
} from '@raindrop/core';
import { wallClock, type WrittenRow } from '@raindrop/core/internal';
import { failoverWarnings } from '../database/judge-primary.js';
import { OwnDatabase } from '../database/own-database.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { DatabaseCallError, DatabaseRefusedError } from '../database/database-errors.js';
import { type Dialect, execute, quoteTable, type RunStatement, type Statement } from '../database/dialect.js';
import { insertState, stateTableOf } from '../tables/state-table.js';
import { findMissing, saysGone, storageWarnings } from '../tables/prepare-table.js';
import { parseTableName, type TableName } from '../database/table-name.js';
import { offsetMs, offsetText } from '../database/sql-values.js';
import { closeDatabaseIds } from './database-ids.js';
import {
  fenceRows,
  fenceState,
  insertLayout,
  rowOf,
  sampleOf,
  selectLayout,
  selectRow,
  selectSample,
  selectTable,
  tableOf,
  updateRow,
} from './worker-statements.js';
import { WorkerTableServer, type WorkerTableServerOptions } from './worker-table-server.js';
import { insertRowsSql, layoutTableOf, WORKER_TABLE } from './worker-table.js';

export interface SqlWorkerStoreOptions extends WorkerTableServerOptions {
  /** `table` or `schema.table`. */
  readonly tableName: string;
  /** Whether missing tables and columns are created. Missing rows are added in any case, unless the table is shared. */
  readonly autoCreateTable: boolean;
  /** Limit for connecting, for a busy SQLite and for closing, ms. */
  readonly opTimeoutMs: number;
  /**
   * How long a statement may take, ms, see OwnDatabase. Left out where the caller has a deadline and calls `abandon`.
   */
  readonly statementTimeoutMs?: number;
  /** The offset in which the original's processes write their times to MySQL, such as `+08:00`. Default UTC. */
  readonly foreignTimeZone?: string;
}

type SeenRow = Awaited<ReturnType<WorkerStore['readRow']>> & {
  /** Whether a loss or a fence bars all rows at that moment. */
  readonly isBarred: boolean;
};

const NO_SERVER_YET = { term: '', failoverNumber: 0 };

/** How often a write is tried that changes nothing although its row is as expected. */
const WRITES = 3;

/** A write to be rolled back, which leaves the row as it was found, except for the token, which no process has. */
function tried(row: WorkerRow): WorkerWrite {
  const { id, version, token, holder, layout, lane, odometers, code } = row;
  const expected = { version, token };
  return { id, expected, token: 'raindrop doctor', holder, layout, lane, odometers, code, timeUnit: 0, leaseMs: 0 };
}

/**
 * Worker rows in MySQL, MariaDB, PostgreSQL or SQLite.
 *
 * A failover may lose commits. After one, no odometer is believed before `lostUntilMs`, which lies past all that can
 * have been granted before. A process whose row still has its token goes on. A process that wants a row waits until the
 * clock has passed that moment. A row is written only on the server on which it was read, and before the next failover.
 * So one store serves one keeper, one call after the other.
 *
 * It connects at the first call and again after every failure. A call that was under way when the connection was lost
 * rejects with DatabaseCallError; whether its statement is executed is then unknown. What the database refuses rejects
 * with DatabaseRefusedError, and every call after `close` with ClosedError.
 */
export class SqlWorkerStore implements WorkerStore {
  private readonly database: OwnDatabase;
  private readonly table: TableName;
  private readonly server: WorkerTableServer;
  private readonly configuredBy: string;
  /** The row that this store has written last, and the failover number then. */
  private written: (WrittenRow & { readonly failoverNumber: number }) | undefined;
  /**
   * The same row when a read did not find it, or found an earlier version: the next look makes the table ready first.
   */
  private lost: WrittenRow | undefined;

  /**
   * @param database where the table is; the store opens one connection of its own
   * @throws UnsupportedDatabaseError, InvalidTableNameError; ConfigurationError for `foreignTimeZone`
   */
  constructor(
    database: SqlDatabase,
    private readonly options: SqlWorkerStoreOptions,
  ) {
    this.configuredBy = database.configuredBy;
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

  private async lookAtRow(id: number): Promise<SeenRow> {
    const select = (dialect: Dialect): Statement => selectRow(dialect, this.table, id);
    try {
      return await this.server.readBelieved(select, (records, { barredUntilMs }) => {
        const found = rowOf(records);
        return { ...found, isBarred: barredUntilMs >= found.nowMs };
      });
    } catch (error) {
      if (!saysGone(this.dialect, error) || !(await this.server.isGone())) throw error;
      // A missing table tells no time. Without a row the time decides nothing.
      return { nowMs: wallClock.now(), row: undefined, isBarred: false };
    }
  }

  private async prepareAfterLoss(): Promise<void> {
    if (this.lost === undefined) return;
    await this.server.prepareAgain(this.lost);
    this.lost = undefined;
  }

  /**
   * @throws TableMissingError when something is missing and may not be created
   * @throws NotOurTableError when the table of that name has other columns
   * @throws ForeignRowsError when another program uses it, unless that is expected
   */
  prepare(workers: WorkerRange): Promise<void> {
    return this.server.prepare(workers);
  }

  /** @throws CorruptWorkerRowError; and as {@link WorkerTableServer.readPrepared} */
  async readPrepared(workers: WorkerRange, request: SampleRequest): Promise<WorkerSample | undefined> {
    if (this.lost !== undefined) return undefined;
    const sample = await this.server.readPrepared(
      workers,
      (dialect, more) => selectSample(dialect, this.table, request, more),
      sampleOf,
    );
    return sample && this.server.withLayouts(sample);
  }

  /** @throws ForeignTimeZoneError */
  checkForeignTimes(): Promise<void> {
    const { serverZone } = this.dialect;
    if (serverZone === undefined) return Promise.resolve();
    return this.database.call(async (run) => {
      judgeServerZone(this.options.foreignTimeZone ?? '+00:00', (await run(serverZone)).records[0] ?? {});
    });
  }

  /** @throws CorruptWorkerRowError; and as {@link WorkerTableServer.readBelieved} */
  async readTable(): Promise<WorkerTable> {
    await this.prepareAfterLoss();
    return this.server.withLayouts(
      await this.server.readBelieved((dialect) => selectTable(dialect, this.table), tableOf),
    );
  }

  /** @throws CorruptWorkerRowError; and as {@link WorkerTableServer.readBelieved} */
  async readSample(request: SampleRequest): Promise<WorkerSample> {
    await this.prepareAfterLoss();
    return this.server.withLayouts(
      await this.server.readBelieved((dialect) => selectSample(dialect, this.table, request), sampleOf),
    );
  }

  /**
   * A table that is not there has no row: the holder loses its lease before another process makes the table anew, where
   * odometers begin at 0.
   * @throws CorruptWorkerRowError; and as {@link WorkerTableServer.readBelieved}
   */
  async readRow(id: number): Promise<{ readonly nowMs: number; readonly row: WorkerRow | undefined }> {
    const { isBarred, ...found } = await this.lookAtRow(id);
    const { written } = this;
    if (written?.id !== id || (found.row?.version ?? 0) >= written.version) return found;
    const { failoverNumber } = this.server.guard.believed ?? NO_SERVER_YET;
    // What is missing since a loss that bars still is no second loss.
    if (isBarred && written.failoverNumber !== failoverNumber) this.written = undefined;
    else this.lost = written;
    return found;
  }

  /** @throws DatabaseRefusedError when nothing is written although the row is as expected */
  async write(write: WorkerWrite): Promise<boolean> {
    const { term, failoverNumber } = this.server.guard.believed ?? NO_SERVER_YET;
    this.server.guard.noteSent(write);
    for (let tries = 1; ; tries++) {
      if (await this.database.call((run) => this.update(run, write))) {
        this.written = { id: write.id, version: write.expected.version + 1, failoverNumber };
        this.server.guard.noteWritten(write);
        return true;
      }
      if (!(await this.isAsExpected(write))) return false;
      // On another server, or after a failover that was recorded meanwhile, the row that was read decides nothing any
      // more.
      const { believed = NO_SERVER_YET } = this.server.guard;
      if (believed.term !== term || believed.failoverNumber !== failoverNumber) return false;
      // The session may have been too old. The look has replaced it.
      if (tries === WRITES) throw this.ignored(write.id);
    }
  }

  /**
   * Tries what a start does, in transactions that are rolled back: reads the tables, adds the rows that are missing,
   * takes a row, remembers a layout, and records a server after a failover. Each write is read again: row level security
   * without a policy hides rows from a SELECT, and an UPDATE then changes none, without an error.
   * @throws DatabaseRefusedError when the account may not, or its writes change nothing; NotOurTableError
   */
  async tryStart(workers: WorkerRange, layout: string): Promise<void> {
    const { rows } = await this.readTable();
    const { dialect, table: name } = this;
    await this.database.call((run) => findMissing(run, { kind: WORKER_TABLE, dialect, name }));
    await this.database.rolledBack(async (run) => {
      const row = rows.find(({ token }) => token === '') ?? rows[0];
      if (row !== undefined) await this.tryToTake(run, row);
      if (this.options.sharedWithOriginal !== true) {
        const added = await this.tryToAddRow(run, workers, rows);
        if (row === undefined && added !== undefined) await this.tryToTake(run, added);
      }
      await execute(run, insertLayout(dialect, name, layout));
      const { records } = await execute(run, selectLayout(dialect, name, layout));
      if (records.length === 0) throw this.hidden(layoutTableOf(name), `the layout ${layout}`);
    });
    for (let tries = 1; ; tries++) {
      const found = await this.server.tryToNote();
      if (found === 'noted') return;
      if (found === 'hidden') throw this.hidden(stateTableOf(name), 'the state');
      // A failover may have been recorded meanwhile.
      if (tries === WRITES) throw this.suppressed(`an UPDATE does not change the state in ${stateTableOf(name).name}`);
    }
  }

  /**
   * Tells where the table is, as the server or the file system does: two stores with the same text have one table.
   * Undefined where the server does not tell.
   */
  async whereabouts(): Promise<string | undefined> {
    const { destination, startedAt } = this.dialect;
    try {
      return await this.database.call(async (run) => {
        const files = this.dialect.hasServers ? [] : (await run('PRAGMA database_list')).records;
        const main = files.find(({ name }) => name === 'main')?.['file'];
        const { dev, ino } = typeof main === 'string' ? statSync(main, { bigint: true }) : { dev: '', ino: '' };
        const { records } = await run(`SELECT ${destination} AS destination, ${startedAt} AS started_at`);
        const { destination: server, started_at: since } = records[0]!;
        return JSON.stringify([server, since, `${dev}.${ino}`, this.table]);
      });
    } catch (error) {
      const isOurs = error instanceof DatabaseCallError || error instanceof DatabaseRefusedError;
      if (isOurs && this.dialect.lacksTerm(error.driverCode)) return undefined;
      throw error;
    }
  }

  private async tryToTake(run: RunStatement, row: WorkerRow): Promise<void> {
    if (await this.update(run, tried(row))) return;
    const { row: found } = rowOf((await execute(run, selectRow(this.dialect, this.table, row.id))).records);
    if (found?.version === row.version && found.token === row.token) throw this.ignored(row.id);
  }

  /** @returns the first row of the range that is missing, as a start adds it; undefined where none is */
  private async tryToAddRow(
    run: RunStatement,
    { min, max }: WorkerRange,
    rows: readonly WorkerRow[],
  ): Promise<WorkerRow | undefined> {
    const { dialect, table: name } = this;
    const present = new Set(rows.map(({ id }) => id));
    let id = min;
    while (id < max && present.has(id)) id++;
    // A row that is there stays as it is; the right to add some is asked for all the same.
    for (const sql of insertRowsSql({ dialect, name }, [id])) await run(sql);
    const select = `SELECT ${dialect.quote('id')} FROM ${quoteTable(dialect, name)} WHERE ${dialect.quote('id')} = ${id}`;
    if ((await run(select)).records.length === 0) throw this.hidden(name, `the row of worker ${id}`);
    return present.has(id) ? undefined : rowOf((await execute(run, selectRow(dialect, name, id))).records).row;
  }

  private async update(run: RunStatement, write: WorkerWrite): Promise<boolean> {
    const server = this.server.guard.believed ?? NO_SERVER_YET;
    const { affected } = await execute(
      run,
      updateRow(this.dialect, this.table, write, server, this.server.andIsPrimary),
    );
    if (affected === 0 || affected === 1) return affected === 1;
    throw new DatabaseCallError(`an UPDATE by primary key reported ${affected} affected rows`, '');
  }

  /** Versions only go up: a row that has the expected version after a write had it before the write. */
  private async isAsExpected({ id, expected }: WorkerWrite): Promise<boolean> {
    const { row } = await this.readRow(id);
    return row !== undefined && row.version === expected.version && row.token === expected.token;
  }

  private ignored(id: number): DatabaseRefusedError {
    const { name } = this.table;
    return this.suppressed(
      `an UPDATE does not change the row of worker ${id} in ${name}, although a SELECT shows it as expected`,
    );
  }

  private suppressed(what: string): DatabaseRefusedError {
    const reason = `${what}: row level security has no policy for UPDATE, or a trigger or rule suppresses it`;
    return new DatabaseRefusedError('rights', reason, '', this.configuredBy);
  }

  private hidden({ name }: TableName, what: string): DatabaseRefusedError {
    const reason =
      `a SELECT from ${name} does not find ${what}, which an INSERT has added or found there: row level security has ` +
      `no policy for SELECT, or a trigger or rule suppresses the INSERT`;
    return new DatabaseRefusedError('rights', reason, '', this.configuredBy);
  }

  rememberLayout(fingerprint: string): Promise<void> {
    return this.server.rememberLayout(fingerprint);
  }

  /**
   * Fences state, rows, and the functions of {@link installSql}, of one server. The state comes first: a row that is added
   * between the two is barred by then.
   * @throws ReplicaError; ClockSkewError; ClockBehindError
   */
  async fence(request: FenceRequest): Promise<number> {
    const { dialect, table } = this;
    const judged = await this.server.judgeFence(request);
    return this.database.call(async (run) => {
      await run(dialect.begin);
      try {
        // With an empty term: the next start records its server as the first one, and counts no failover.
        await execute(run, insertState(dialect, table, { term: '', failoverNumber: dialect.nowMs }));
        const state = await execute(run, fenceState(dialect, table, { ...request, ...judged }));
        if (state.affected !== 1) throw new DatabaseCallError('another server answers than before: fence again', '');
        await run('COMMIT');
      } catch (error) {
        // When the ROLLBACK fails the session is dropped, which rolls back as well.
        await run('ROLLBACK').catch(() => undefined);
        throw error;
      }
      // Outside the transaction: with the state locked it could wait for the row of a renewal that waits for the state.
      const { affected } = await execute(run, fenceRows(dialect, table, { ...request, ...judged }));
      await closeDatabaseIds(run, dialect, table, request);
      return affected ?? 0;
    });
  }

  async durabilityWarnings(): Promise<readonly string[]> {
    const orElse = 'commitLossWindowMs to more than can be lost';
    const { maxSessionAgeMs = 0 } = this.options;
    const table = { kind: WORKER_TABLE, dialect: this.dialect, name: this.table };
    return [
      ...(await this.database.call((run) => storageWarnings(run, table))),
      ...(await this.database.durabilityWarnings(`, or ${orElse}`)),
      ...(await failoverWarnings(this.database, this.server.guard.believed?.term, {
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

/**
 * The original's programs start only where their zone is the server's, so that is the one in which they read our times.
 * @param offsets what `Dialect.serverZone` selects
 * @throws ForeignTimeZoneError
 */
function judgeServerZone(foreignTimeZone: string, offsets: Readonly<Record<string, unknown>>): void {
  const [now, least, most] = [Number(offsets['now']), Number(offsets['least']), Number(offsets['most'])];
  const zones = [now, ...[least, most].filter((each) => each !== now)].map(offsetText);
  if (zones.length > 1 || now * 60_000 !== offsetMs(foreignTimeZone)) {
    throw new ForeignTimeZoneError(foreignTimeZone, zones);
  }
}
