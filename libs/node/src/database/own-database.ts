import { ClosedError, RaindropError } from '@raindrop/core';
import { withDeadline } from '@raindrop/core/internal';
import { hostTimers, systemTimers } from '../system/system-ports.js';
import { Addresses } from './addressed-connection.js';
import { DatabaseCallError, DatabaseRefusedError } from './database-errors.js';
import type { Dialect, RunStatement, SqlValue, StatementResult } from './dialect.js';
import { dialectOf, UnsupportedDatabaseError } from './supported-database.js';
import { type Connection, SessionAge } from './database-connection.js';
import { LeftSession } from './left-session.js';
import type { SqlDatabase } from './sql-database.js';

interface OwnDatabaseOptions {
  /** Limit for connecting, for a busy SQLite and for closing, ms. */
  readonly opTimeoutMs: number;
  /**
   * How long a server may take to answer a statement, the wait for those before it included, ms. Then the connection is
   * dropped, with every statement under way on it. No limit when left out: then the caller has one, and calls
   * `abandon`.
   */
  readonly statementTimeoutMs?: number;
  /** MySQL: the zone of time columns, such as `+08:00`. Default UTC. */
  readonly timeZone?: string;
}

/**
 * A database over one connection of our own, apart from the application's pool and transactions.
 *
 * It connects at the first call and again after every failure. A call that was under way when the connection was lost
 * rejects with DatabaseCallError; whether its statement is executed is then unknown, and it is never sent again. What
 * the database refuses rejects with DatabaseRefusedError.
 */
export class OwnDatabase {
  /** Its term is '' once the server has shown that it tells none (see askWithTerm in judge-primary.ts). */
  dialect: Dialect;
  private readonly tellingDialect: Dialect;
  private readonly addresses: Addresses;
  private readonly statementTimeoutMs: number | undefined;
  private readonly pending = new Set<(reason: Error) => void>();
  private connection: Connection | undefined;
  private closing: Promise<void> | undefined;
  readonly age = new SessionAge();
  private readonly left = new LeftSession();
  /** A session that is to take the place of the present one. */
  private next: Connection | undefined;
  /** Sessions that take no new statements, and are closed once those under way on them have ended. */
  private readonly retired = new Set<Connection>();
  /** How many statements are under way on a session; none where there are none. */
  private readonly underWay = new Map<Connection, number>();
  /** Which session has read what. */
  private readonly connectionOf = new WeakMap<StatementResult['records'], Connection>();

  /**
   * @throws UnsupportedDatabaseError for a database in memory; ConfigurationError for `timeZone`
   */
  constructor(
    private readonly database: SqlDatabase,
    private readonly options: OwnDatabaseOptions,
  ) {
    refuseVolatile(database);
    this.addresses = new Addresses(database);
    this.tellingDialect = dialectOf(database.type, options.timeZone);
    this.dialect = this.tellingDialect;
    // SQLite answers at once or is busy, for which opTimeoutMs is the limit already.
    this.statementTimeoutMs = this.dialect.hasServers ? options.statementTimeoutMs : undefined;
  }

  /**
   * Runs a call whose statements stop, and which rejects at once, when it is abandoned.
   * @param mayMiss whether a statement may name a table that is not there: a server that says so keeps its session
   */
  call<T>(work: (run: RunStatement) => Promise<T>, mayMiss = false): Promise<T> {
    if (this.pending.size === 0) this.takeNext();
    return new Promise<T>((resolve, reject) => {
      let over: Error | undefined;
      const abandon = (reason: Error): void => {
        over = reason;
        reject(reason);
      };
      const run: RunStatement = (sql, values) =>
        over === undefined ? this.run(sql, values, mayMiss) : Promise.reject(over);
      this.pending.add(abandon);
      work(run)
        .then(resolve, reject)
        .finally(() => this.pending.delete(abandon));
    });
  }

  /**
   * Runs a call in a transaction that is rolled back. All its statements reach the same session: on another one they
   * would be committed.
   * @throws DatabaseCallError when the session is lost meanwhile
   */
  rolledBack<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
    return this.call(async (run) => {
      await run(this.dialect.begin);
      const session = this.connection;
      const inTransaction: RunStatement = (sql, values) => {
        const isSame = this.connection === session && session?.isUsable === true;
        return isSame ? run(sql, values) : Promise.reject(new DatabaseCallError('the connection was lost', ''));
      };
      try {
        return await work(inTransaction);
      } finally {
        // When the ROLLBACK fails the session is dropped, which rolls back as well.
        await inTransaction('ROLLBACK').catch(() => undefined);
      }
    });
  }

  /**
   * The settings that can lose a committed write, in words, and the addresses that do not serve.
   * @param orElse what else helps, to be added: `, or ...`
   */
  durabilityWarnings(orElse = ''): Promise<readonly string[]> {
    return this.call(async (run) => {
      const settings: Record<string, string> = {};
      for (const sql of this.dialect.durability.sql) {
        for (const [name, value] of Object.entries((await run(sql)).records[0] ?? {})) settings[name] = String(value);
      }
      return [...(this.connection?.warnings ?? []), ...this.dialect.durability.judge(settings, orElse)];
    });
  }

  /** Drops every session: whatever is under way may still be executed. The next call connects anew. */
  abandon(why = 'the connection was dropped before there was an answer'): void {
    const reason = new DatabaseCallError(why, '');
    this.dropNext(reason);
    for (const each of [this.connection, ...this.retired]) this.drop(each, reason);
    for (const reject of this.pending) reject(reason);
  }

  /**
   * Opens a new session beside the present one, which serves on until a call finds the new one there. Where none can be
   * had nothing changes. Never rejects.
   */
  renewSession(): void {
    if (this.connection === undefined || this.next !== undefined || this.closing !== undefined) return;
    if (this.retired.size > 0 || this.left.mayBeOn(this.connection)) return;
    const next = this.addresses.connection(this.dialect, this.options.opTimeoutMs);
    this.next = next;
    next.open().catch(() => {
      if (this.next === next) this.next = undefined;
    });
  }

  /**
   * Hears how old the server says that the session is which has read `records`. One that is too old is retired, one
   * that will be soon is renewed.
   * @returns whether it is too old to be written to
   */
  isSessionTooOld(
    records: StatementResult['records'],
    serverAgeMs: number,
    maxAgeMs: number,
    renewAfterMs = maxAgeMs,
  ): boolean {
    const connection = this.connectionOf.get(records)!;
    const ageMs = this.age.of(connection, this.ownAgeMs(connection), serverAgeMs);
    if (ageMs > maxAgeMs) this.retire(connection);
    else if (ageMs > renewAfterMs) this.renewSession();
    return ageMs > maxAgeMs;
  }

  /** The condition that the present session is young enough, to be added to others. */
  andIsYoung(maxAgeMs: number): string {
    return this.age.andIsYoung(this.dialect, maxAgeMs, this.ownAgeMs(this.connection));
  }

  /**
   * The server is asked for its term again, though it or one before it could not tell.
   * @returns whether it was not asked before
   */
  askForTermAgain(): boolean {
    const wasMute = this.dialect !== this.tellingDialect;
    this.dialect = this.tellingDialect;
    return wasMute;
  }

  /** The next statement connects anew: the wrong server has answered. Statements under way on the session go on. */
  reconnect(): void {
    this.retire(this.connection);
  }

  /** Safe to call more than once. Never rejects: a connection that cannot be closed in time is dropped. */
  close(): Promise<void> {
    this.dropNext(new Error('the connection was closed'));
    const sessions = [...(this.connection === undefined ? [] : [this.connection]), ...this.retired];
    this.closing ??= Promise.all(sessions.map((each) => each.close())).then(() => undefined);
    return this.closing;
  }

  /** Nothing is under way on the present session: the new one, once it is open, takes its place. */
  private takeNext(): void {
    const { next, connection } = this;
    if (next === undefined || next.ageMs === undefined || this.closing !== undefined) return;
    this.next = undefined;
    if (!next.isUsable) return;
    this.connection = next;
    void connection?.close();
  }

  private async run(sql: string, values?: readonly SqlValue[], mayMiss = false): Promise<StatementResult> {
    if (this.closing !== undefined) throw new ClosedError();
    if (this.connection?.isUsable === false) this.drop(this.connection, new Error('the connection was lost'));
    this.connection ??= this.addresses.connection(this.dialect, this.options.opTimeoutMs);
    const { connection, underWay } = this;
    underWay.set(connection, (underWay.get(connection) ?? 0) + 1);
    try {
      const result = await this.limited(connection, () => this.send(connection, sql, values, mayMiss));
      this.connectionOf.set(result.records, connection);
      return result;
    } finally {
      const others = underWay.get(connection)! - 1;
      if (others > 0) underWay.set(connection, others);
      else underWay.delete(connection);
      if (this.retired.has(connection)) this.closeIdle(connection);
    }
  }

  private async send(
    connection: Connection,
    sql: string,
    values: readonly SqlValue[] | undefined,
    mayMiss: boolean,
  ): Promise<StatementResult> {
    if (this.left.mayBeOn(connection)) {
      const refusal = await this.on(connection, () => this.left.refusal(this.dialect, connection));
      if (refusal !== undefined) throw refusal;
    }
    return this.on(connection, () => connection.run(sql, values), mayMiss);
  }

  private async limited<T>(connection: Connection, send: () => Promise<T>): Promise<T> {
    const { statementTimeoutMs } = this;
    if (statementTimeoutMs === undefined) return send();
    const giveUp = (): void => {
      const why = `no answer within ${statementTimeoutMs} ms`;
      // Other calls that wait for the present session are as late.
      if (this.retired.has(connection)) this.drop(connection, new Error(why));
      else this.abandon(why);
    };
    try {
      return await withDeadline(send, statementTimeoutMs, systemTimers, giveUp);
    } catch (error) {
      throw error instanceof RaindropError ? error : DatabaseCallError.from(error);
    }
  }

  private async on<T>(connection: Connection, work: () => Promise<T>, mayMiss = false): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (mayMiss && this.saysMissing(error)) throw error;
      // Whatever went wrong: a new connection has no state of the old one, and finds the new primary after a failover.
      this.drop(connection, new Error('the connection had failed'));
      throw (error instanceof DatabaseCallError && this.refusalOf(error)) || error;
    }
  }

  /** Whether a server says that a table or a column is missing, and not the whole database. */
  private saysMissing(error: unknown): boolean {
    if (!(error instanceof DatabaseCallError) || !this.dialect.hasServers) return false;
    return this.dialect.isGone(error.driverCode, error.reason) && this.refusalOf(error) === undefined;
  }

  private refusalOf({ reason, driverCode }: DatabaseCallError): DatabaseRefusedError | undefined {
    const refusal = this.dialect.refusal(driverCode);
    return refusal && new DatabaseRefusedError(refusal, reason, driverCode, this.database.configuredBy);
  }

  private dropNext(reason: Error): void {
    this.next?.destroy(reason);
    this.next = undefined;
  }

  /** A session takes no new statements any more. */
  private retire(connection: Connection | undefined): void {
    if (connection === undefined || connection !== this.connection) return;
    this.addresses.leave(connection);
    this.connection = undefined;
    this.retired.add(connection);
    this.closeIdle(connection);
  }

  private closeIdle(connection: Connection): void {
    if (!this.underWay.has(connection)) void connection.close().then(() => this.retired.delete(connection));
  }

  private drop(connection: Connection | undefined, reason: Error): void {
    if (connection === undefined) return;
    this.left.note(connection);
    // At most two sessions are open at a time.
    if (this.left.mayBeOn(connection)) this.dropNext(reason);
    connection.destroy(reason);
    this.retired.delete(connection);
    if (this.connection !== connection) return;
    this.addresses.leave(connection);
    this.connection = undefined;
  }

  /** How long the connection has been open, ms; 0 where sessions lead nowhere else. */
  private ownAgeMs(connection: Connection | undefined): number {
    return this.dialect.hasServers ? (connection?.ageMs ?? 0) : 0;
  }
}

function refuseVolatile({ type, isVolatile }: SqlDatabase): void {
  if (!isVolatile) return;
  throw new UnsupportedDatabaseError(type, 'A database in memory cannot have the second connection that is needed');
}

/** Eight processes that created one table at once needed three tries at most; each looks before it acts. */
const TRIES = 5;
const FIRST_PAUSE_MS = 20;

/** Tries again, after a growing and random pause, what failed because other processes did the same at the same time. */
export async function retried(attempt: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const isFinal = error instanceof RaindropError && !error.retryable;
      if (isFinal || tries === TRIES) throw error;
      await hostTimers.sleep(FIRST_PAUSE_MS * tries * (1 + Math.random()));
    }
  }
}
