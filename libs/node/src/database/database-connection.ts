import { RaindropError } from '@raindrop/core';
import { Deadline } from '@raindrop/core/internal';
import { hostTimers, monotonicClock, systemTimers } from '../system/system-ports.js';
import { ConnectionSockets } from './connection-sockets.js';
import { DatabaseCallError, driverCodeOf, isOfServer } from './database-errors.js';
import type { Dialect, SqlValue, StatementResult } from './dialect.js';
import type { Driver, DriverConnection, SqlDatabase } from './sql-database.js';
import { SqliteFiles } from './sqlite-files.js';

const BUSY_PAUSE_MS = 20;
const BUSY_JITTER_MS = 30;

/** A session, as the server at an address numbers it. */
export interface ServerSession {
  readonly address: SqlDatabase;
  readonly session: number;
}

/** A connection to a database, opened by the first statement and good until the first failure. */
export interface Connection {
  /** False once the server, or {@link destroy}, has ended it. */
  readonly isUsable: boolean;
  /** How long ago it began to be opened, ms: no session of our own is older. Undefined before it is open. */
  readonly ageMs: number | undefined;
  /** Where it leads to; undefined before that is known. */
  readonly address: SqlDatabase | undefined;
  /** The session in which a statement may be under way: sent, and not answered. */
  readonly unanswered: ServerSession | undefined;
  /** Problems that were found at the opening and did not prevent it. */
  readonly warnings: readonly string[];
  /** Connects, in `opTimeoutMs` at most, before the first statement. It is dropped when that fails. */
  open(): Promise<void>;
  /** Runs one statement, after those before it. @throws DatabaseCallError; DriverNotInstalledError; UnfitSqliteDriverError */
  run(sql: string, values?: readonly SqlValue[]): Promise<StatementResult>;
  /** Drops the connection at once, in whatever state it is. */
  destroy(reason: Error): void;
  /** Closes the connection in order, or drops it when that takes longer than `opTimeoutMs`. Never rejects. */
  close(): Promise<void>;
}

/** One connection to one address. */
export class DatabaseConnection implements Connection {
  readonly warnings = [];
  private readonly sockets = new ConnectionSockets();
  private readonly driver: Driver;
  private opening: Promise<DriverConnection> | undefined;
  /** Settles, never rejects, when the last statement has. */
  private last: Promise<void> = Promise.resolve();
  private isDestroyed = false;
  /** Statements that were sent, and of which no result came: they may be under way. */
  private sent = 0;
  /** The server's number of the session; undefined before it is open. */
  private session: number | undefined;
  /** For SQLite only. */
  private files: SqliteFiles | undefined;
  /** When it began to be opened, monotonic ms; undefined before it is open. */
  private begunAt: number | undefined;

  constructor(
    private readonly database: SqlDatabase,
    private readonly dialect: Dialect,
    private readonly opTimeoutMs: number,
  ) {
    this.driver = database.driver(opTimeoutMs, this.sockets);
  }

  get isUsable(): boolean {
    return !this.isDestroyed && !this.sockets.isLost;
  }

  get address(): SqlDatabase {
    return this.database;
  }

  get unanswered(): ServerSession | undefined {
    const { address, session } = this;
    return this.sent > 0 && session !== undefined ? { address, session } : undefined;
  }

  get ageMs(): number | undefined {
    return this.begunAt && monotonicClock.now() - this.begunAt;
  }

  /** @throws what the driver throws */
  async open(): Promise<void> {
    const timer = hostTimers.setTimeout(() => this.destroy(new Error('no session in time')), this.opTimeoutMs).unref();
    this.sockets.hold();
    try {
      await this.opened();
    } catch (error) {
      this.destroy(new Error('no session could be opened'));
      throw error;
    } finally {
      this.sockets.letGo();
      hostTimers.clearTimeout(timer);
    }
  }

  /**
   * A statement that gave way to others is sent again every 20 to 50 ms until `opTimeoutMs`, off the event loop: a busy
   * SQLite, a deadlock, a serialization failure.
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

  destroy(reason: Error): void {
    if (this.isDestroyed) return;
    this.isDestroyed = true;
    this.sockets.destroy(reason);
    // Frees what the driver still holds.
    void this.end();
  }

  async close(): Promise<void> {
    this.sockets.hold();
    const inTime = new Deadline(this.opTimeoutMs, systemTimers, undefined, 'foreground');
    await inTime.run(() => this.end()).catch(() => undefined);
    this.sockets.letGo();
    this.destroy(new Error('the connection was closed'));
  }

  private async query(sql: string, values: readonly SqlValue[]): Promise<StatementResult> {
    const bound = values.map((value) => this.dialect.bind(value));
    const giveUpAt = monotonicClock.now() + this.opTimeoutMs;
    const unanswered = this.sent;
    for (;;) {
      try {
        const connection = await this.opened();
        this.files?.check();
        this.sent++;
        const result = await connection.query(sql, bound);
        this.sent = unanswered;
        return result;
      } catch (error) {
        const code = driverCodeOf(error);
        if (isOfServer(code)) this.sent = unanswered;
        if (!this.dialect.isBusy(code)) throw error;
        if (this.isDestroyed || monotonicClock.now() >= giveUpAt) throw error;
      }
      await hostTimers.sleep(BUSY_PAUSE_MS + Math.random() * BUSY_JITTER_MS);
    }
  }

  private opened(): Promise<DriverConnection> {
    if (this.isDestroyed) return Promise.reject(new Error('the connection was dropped'));
    this.opening ??= this.connect().catch((error: unknown) => {
      // SQLite may only have been busy.
      this.opening = undefined;
      throw error;
    });
    return this.opening;
  }

  private async connect(): Promise<DriverConnection> {
    const begunAt = monotonicClock.now();
    const files = this.dialect.hasServers ? undefined : new SqliteFiles(this.driver.file);
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
    await this.beginSession(connection);
    this.session = connection.session;
    await files?.hold(connection);
    this.files = files;
    this.begunAt = begunAt;
    return connection;
  }

  /** In one statement where the server knows all that it says: the server may be far away. */
  private async beginSession(connection: DriverConnection): Promise<void> {
    const { dialect } = this;
    const { sessionAtOnce: atOnce, freshReads, termSession } = dialect;
    if (await this.isKnown(connection, atOnce?.all)) return;
    const hasBegun = await this.isKnown(connection, atOnce?.butFreshReads);
    if (!hasBegun) for (const sql of dialect.session(connection.session)) await connection.query(sql, []);
    await this.isKnown(connection, freshReads);
    if (!hasBegun) await this.isKnown(connection, termSession);
  }

  /** Runs a statement that a server without terms refuses: it is used without one. @returns whether it was run */
  private async isKnown(connection: DriverConnection, sql: string | undefined): Promise<boolean> {
    if (sql === undefined) return false;
    try {
      await connection.query(sql, []);
      return true;
    } catch (error) {
      if (this.dialect.lacksTerm(driverCodeOf(error))) return false;
      throw error;
    }
  }

  private async end(): Promise<void> {
    try {
      await this.driver.end();
    } catch {
      // Nothing is left to be closed.
    }
  }
}

/** A server's session that is so much older than our connection was opened for another client. */
const POOLED_MS = 5_000;

/** How old the server's session is, which may lead to a server that is no primary any more. */
export class SessionAge {
  private readonly heard = new WeakSet<Connection>();
  /** How many connections in a row were, at their first answer, much younger than the session that answered. */
  private olderInARow = 0;

  /**
   * A pooler shares its sessions: a new connection may lead to the same one, however often it is opened. One connection that
   * looks so is not enough. This process may have been suspended for 6 s before the first answer, with its monotonic clock.
   */
  get isPooled(): boolean {
    return this.olderInARow > 1;
  }

  /**
   * Hears the age that the server tells, and at the first answer of a connection what kind it is. A difference that grows
   * later makes the session older: it is a clock that stood still here, or was set there.
   * @returns the age by which the session is judged, ms: the larger of the two; 0 behind a pooler; infinite when
   * another connection is needed, whatever the limit
   */
  of(connection: Connection, ownAgeMs: number, serverAgeMs: number): number {
    if (!this.heard.has(connection)) {
      this.heard.add(connection);
      this.olderInARow = serverAgeMs - ownAgeMs > POOLED_MS ? this.olderInARow + 1 : 0;
    }
    if (this.isPooled) return 0;
    // An age below 0 is that of a clock that was put back.
    if (this.olderInARow > 0 || serverAgeMs < 0) return Number.POSITIVE_INFINITY;
    return Math.max(serverAgeMs, ownAgeMs);
  }

  /** The condition that the session of a statement is young enough, to be added to others; '' where a pooler has it. */
  andIsYoung({ sessionAgeMs }: Dialect, maxAgeMs: number, ownAgeMs: number): string {
    if (this.isPooled) return '';
    if (ownAgeMs > maxAgeMs) return ' AND 1 = 0';
    return sessionAgeMs === '0' ? '' : ` AND ${sessionAgeMs} BETWEEN 0 AND ${maxAgeMs}`;
  }
}
