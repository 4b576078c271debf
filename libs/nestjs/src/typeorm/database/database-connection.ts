import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type DataSourceOptions, type QueryRunner } from 'typeorm';
import { DatabaseCallError, driverCodeOf } from './database-call-error.js';
import { DriverNotInstalledError } from './driver-not-installed-error.js';
import type { Dialect, SqlValue } from './dialect.js';
import { ConnectionSockets } from './connection-sockets.js';
import type { SqlResult } from './run-sql.js';

const BUSY_PAUSE_MS = 20;
const BUSY_JITTER_MS = 30;

/**
 * What TypeORM would ask PostgreSQL for at every new connection, a round trip each. It wants them for entities and
 * schemas, which we have none of.
 */
const NOT_ASKED = { version: '12.0', database: 'not asked', searchSchema: 'not asked' };

/** The drivers' connections, as far as they are needed here. */
interface DriverConnection {
  on?(event: 'error', listener: () => void): unknown;
  /** mysql2's; pg has it one level down. */
  readonly stream?: Parameters<ConnectionSockets['add']>[0];
  readonly connection?: { readonly stream?: Parameters<ConnectionSockets['add']>[0] };
}

/** What a statement answers. */
export interface StatementResult extends SqlResult {
  /** MySQL and MariaDB: the argument of the statement's LAST_INSERT_ID(...), from the answer itself. */
  readonly insertId: unknown;
}

/** One connection to the database, opened by the first statement and good until the first failure. */
export class DatabaseConnection {
  private readonly sockets = new ConnectionSockets();
  private readonly dataSource: DataSource;
  private opening: Promise<QueryRunner> | undefined;
  /** Settles, never rejects, when the last statement has. */
  private last: Promise<void> = Promise.resolve();
  private isDestroyed = false;

  constructor(
    options: DataSourceOptions,
    private readonly dialect: Dialect,
    private readonly opTimeoutMs: number,
  ) {
    const { type, extra } = options as { type: string; extra?: { stream?: unknown } };
    const isLocal = type === 'better-sqlite3';
    const stream = isLocal ? undefined : this.sockets.factory(type, extra?.stream);
    try {
      this.dataSource = new DataSource(isLocal ? options : { ...options, extra: { ...extra, stream } });
    } catch (error) {
      throw DriverNotInstalledError.from(error, type) ?? error;
    }
    if (type === 'postgres') Object.assign(this.dataSource.driver, NOT_ASKED);
  }

  /** False once the server, or {@link destroy}, has ended it. */
  get isUsable(): boolean {
    return !this.isDestroyed && !this.sockets.isLost;
  }

  /**
   * Runs one statement, after those before it. A busy SQLite is asked again every 20 to 50 ms until `opTimeoutMs`, off
   * the event loop.
   *
   * @throws DatabaseCallError
   */
  async run(sql: string, values: readonly SqlValue[] = []): Promise<StatementResult> {
    this.sockets.hold();
    const turn = this.last.then(() => this.query(sql, values));
    this.last = turn.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await turn;
    } catch (error) {
      throw DatabaseCallError.from(error);
    } finally {
      this.sockets.letGo();
    }
  }

  /** Drops the connection at once, in whatever state it is. */
  destroy(reason: Error): void {
    if (this.isDestroyed) return;
    this.isDestroyed = true;
    this.sockets.destroy(reason);
    // Frees what TypeORM and the driver still hold. It may fail, and with the sockets gone it may never settle.
    void this.end();
  }

  /** Closes the connection in order, or drops it when that takes longer than `opTimeoutMs`. Never rejects. */
  async close(): Promise<void> {
    this.sockets.hold();
    const timer = new AbortController();
    const late = sleep(this.opTimeoutMs, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([this.end(), late]);
    timer.abort();
    this.sockets.letGo();
    this.destroy(new Error('the connection was closed'));
  }

  private async query(sql: string, values: readonly SqlValue[]): Promise<StatementResult> {
    const bound = values.map((value) => this.dialect.bind(value));
    const giveUpAt = performance.now() + this.opTimeoutMs;
    for (;;) {
      try {
        const runner = await this.open();
        const result = await runner.query(sql, bound, true);
        const answer = result.raw as { insertId?: unknown } | undefined;
        const records = result.records as Record<string, unknown>[];
        return { records, affected: result.affected, insertId: answer?.insertId };
      } catch (error) {
        const isBusy = this.dialect.isBusy(driverCodeOf(error));
        if (!isBusy || this.isDestroyed || performance.now() >= giveUpAt) throw error;
      }
      await sleep(BUSY_PAUSE_MS + Math.random() * BUSY_JITTER_MS);
    }
  }

  private open(): Promise<QueryRunner> {
    if (this.isDestroyed) return Promise.reject(new Error('the connection was dropped'));
    this.opening ??= this.connect().catch((error: unknown) => {
      // SQLite may only have been busy.
      this.opening = undefined;
      throw error;
    });
    return this.opening;
  }

  private async connect(): Promise<QueryRunner> {
    if (!this.dataSource.isInitialized) await this.dataSource.initialize();
    if (this.isDestroyed) {
      await this.end();
      throw new Error('the connection was dropped');
    }
    const runner = this.dataSource.createQueryRunner('master');
    const connection = (await runner.connect()) as DriverConnection;
    const stream = connection.connection?.stream ?? connection.stream;
    if (stream !== undefined) {
      // The drivers' own listeners leave with the first error; a second one must not be the end of the process.
      connection.on?.('error', () => undefined);
      this.sockets.add(stream);
    }
    for (const statement of this.dialect.session) await runner.query(statement);
    return runner;
  }

  private async end(): Promise<void> {
    try {
      if (this.dataSource.isInitialized) await this.dataSource.destroy();
    } catch {
      // Nothing is left to be closed.
    }
  }
}
