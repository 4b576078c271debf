import { RaindropError } from '@raindrop/core';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionSockets } from './connection-sockets.js';
import { DatabaseCallError, driverCodeOf } from './database-call-error.js';
import type { Dialect, SqlValue } from './dialect.js';
import type { StatementResult } from './run-sql.js';
import type { Driver, DriverConnection, SqlDatabase } from './sql-database.js';

const BUSY_PAUSE_MS = 20;
const BUSY_JITTER_MS = 30;

/** One connection to the database, opened by the first statement and good until the first failure. */
export class DatabaseConnection {
  private readonly sockets = new ConnectionSockets();
  private readonly driver: Driver;
  private opening: Promise<DriverConnection> | undefined;
  /** Settles, never rejects, when the last statement has. */
  private last: Promise<void> = Promise.resolve();
  private isDestroyed = false;

  constructor(
    database: SqlDatabase,
    private readonly dialect: Dialect,
    private readonly opTimeoutMs: number,
  ) {
    this.driver = database.driver(opTimeoutMs, this.sockets);
  }

  /** False once the server, or {@link destroy}, has ended it. */
  get isUsable(): boolean {
    return !this.isDestroyed && !this.sockets.isLost;
  }

  /**
   * Runs one statement, after those before it. A busy SQLite is asked again every 20 to 50 ms until `opTimeoutMs`, off
   * the event loop.
   *
   * @throws DatabaseCallError; DriverNotInstalledError; UnfitSqliteDriverError
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
      throw error instanceof RaindropError ? error : DatabaseCallError.from(error);
    } finally {
      this.sockets.letGo();
    }
  }

  /** Drops the connection at once, in whatever state it is. */
  destroy(reason: Error): void {
    if (this.isDestroyed) return;
    this.isDestroyed = true;
    this.sockets.destroy(reason);
    // Frees what the driver still holds.
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
        const connection = await this.open();
        return await connection.query(sql, bound);
      } catch (error) {
        const isBusy = this.dialect.isBusy(driverCodeOf(error));
        if (!isBusy || this.isDestroyed || performance.now() >= giveUpAt) throw error;
      }
      await sleep(BUSY_PAUSE_MS + Math.random() * BUSY_JITTER_MS);
    }
  }

  private open(): Promise<DriverConnection> {
    if (this.isDestroyed) return Promise.reject(new Error('the connection was dropped'));
    this.opening ??= this.connect().catch((error: unknown) => {
      // SQLite may only have been busy.
      this.opening = undefined;
      throw error;
    });
    return this.opening;
  }

  private async connect(): Promise<DriverConnection> {
    const connection = await this.driver.connect();
    if (this.isDestroyed) {
      await this.end();
      throw new Error('the connection was dropped');
    }
    if (connection.stream !== undefined) {
      // The drivers' own listeners leave with the first error; a second one must not be the end of the process.
      connection.onError?.(() => undefined);
      this.sockets.add(connection.stream);
    }
    for (const statement of this.dialect.session) await connection.query(statement, []);
    return connection;
  }

  private async end(): Promise<void> {
    try {
      await this.driver.end();
    } catch {
      // Nothing is left to be closed.
    }
  }
}
