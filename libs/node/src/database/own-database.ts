import { ClosedError } from '@raindrop/core';
import { Addresses } from './addresses.js';
import { DatabaseCallError } from './database-call-error.js';
import { DatabaseRefusedError } from './database-refused-error.js';
import type { Dialect, SqlValue } from './dialect.js';
import { dialectOf, UnsupportedDatabaseError } from './supported-database.js';
import type { Connection } from './database-connection.js';
import { LeftSession } from './left-session.js';
import { SessionAge } from './session-age.js';
import type { RunStatement, StatementResult } from './run-sql.js';
import type { SqlDatabase } from './sql-database.js';

export interface OwnDatabaseOptions {
  /** Limit for connecting, for a busy SQLite and for closing, ms. */
  readonly opTimeoutMs: number;
  /**
   * How long a server may take to answer a statement, the wait for those before it included, ms. Then the connection is
   * dropped, with everything under way on it. No limit when left out: somebody else has one, and calls `abandon`.
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
  /** Its term is '' from the moment that the server has shown to have none (ask-with-term.ts). */
  dialect: Dialect;
  private readonly addresses: Addresses;
  private readonly statementTimeoutMs: number | undefined;
  private readonly pending = new Set<(reason: Error) => void>();
  private connection: Connection | undefined;
  private closing: Promise<void> | undefined;
  readonly age = new SessionAge();
  private readonly left = new LeftSession();
  /** A session that is to take the place of the present one. */
  private next: Connection | undefined;

  /**
   * @throws UnsupportedDatabaseError for a database in memory; ConfigurationError for `timeZone`
   */
  constructor(
    private readonly database: SqlDatabase,
    private readonly options: OwnDatabaseOptions,
  ) {
    refuseVolatile(database);
    this.addresses = new Addresses(database);
    this.dialect = dialectOf(database.type, options.timeZone);
    // SQLite answers at once or is busy, for which opTimeoutMs is the limit already.
    this.statementTimeoutMs = database.type === 'better-sqlite3' ? undefined : options.statementTimeoutMs;
  }

  /** Runs a call whose statements stop, and which rejects at once, when it is abandoned. */
  call<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
    if (this.pending.size === 0) this.takeNext();
    return new Promise<T>((resolve, reject) => {
      let over: Error | undefined;
      const abandon = (reason: Error): void => {
        over = reason;
        reject(reason);
      };
      const run: RunStatement = (sql, values) =>
        over === undefined ? this.limited(this.run(sql, values)) : Promise.reject(over);
      this.pending.add(abandon);
      work(run)
        .then(resolve, reject)
        .finally(() => this.pending.delete(abandon));
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

  /** Drops the connection: whatever is under way may still be executed. The next call connects anew. */
  abandon(why = 'the connection was dropped before there was an answer'): void {
    const reason = new DatabaseCallError(why, '');
    this.drop(this.connection, reason);
    for (const reject of this.pending) reject(reason);
  }

  /**
   * Opens a new session beside the present one, which serves on until a call finds the new one there. Where none can be had
   * nothing changes. Never rejects.
   */
  renewSession(): void {
    if (this.connection === undefined || this.next !== undefined || this.closing !== undefined) return;
    if (this.left.mayBeOn(this.connection)) return;
    const next = this.addresses.connection(this.dialect, this.options.opTimeoutMs);
    this.next = next;
    next.open().catch(() => {
      if (this.next === next) this.next = undefined;
    });
  }

  /** Hears how old the server says that the present session is. @returns whether it is too old to be written to */
  isSessionTooOld(ageMs: number, maxAgeMs: number): boolean {
    const isTooOld = this.age.isTooOld(ageMs, this.connection?.ageMs ?? 0, maxAgeMs);
    if (isTooOld) this.reconnect();
    return isTooOld;
  }

  /** The next call connects anew: what answered is not what should have. */
  reconnect(): void {
    this.drop(this.connection, new DatabaseCallError('the connection was given up', ''));
  }

  /** Safe to call more than once. Never rejects: a connection that cannot be closed in time is dropped. */
  close(): Promise<void> {
    this.dropNext(new Error('the connection was closed'));
    this.closing ??= this.connection?.close() ?? Promise.resolve();
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

  private async limited<T>(statement: Promise<T>): Promise<T> {
    const { statementTimeoutMs } = this;
    if (statementTimeoutMs === undefined) return statement;
    const giveUp = (): void => this.abandon(`no answer within ${statementTimeoutMs} ms`);
    const timer = setTimeout(giveUp, statementTimeoutMs).unref();
    try {
      return await statement;
    } finally {
      clearTimeout(timer);
    }
  }

  private async run(sql: string, values?: readonly SqlValue[]): Promise<StatementResult> {
    if (this.closing !== undefined) throw new ClosedError();
    if (this.connection?.isUsable === false) this.drop(this.connection, new Error('the connection was lost'));
    this.connection ??= this.addresses.connection(this.dialect, this.options.opTimeoutMs);
    const { connection } = this;
    if (this.left.mayBeOn(connection)) {
      const refusal = await this.on(connection, () => this.left.refusal(this.dialect, connection));
      if (refusal !== undefined) throw refusal;
    }
    return this.on(connection, () => connection.run(sql, values));
  }

  private async on<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      // Whatever went wrong: a new connection has no state of the old one, and finds the new primary after a failover.
      this.drop(connection, new Error('the connection had failed'));
      throw (error instanceof DatabaseCallError && this.refusalOf(error)) || error;
    }
  }

  private refusalOf({ reason, driverCode }: DatabaseCallError): DatabaseRefusedError | undefined {
    const refusal = this.dialect.refusal(driverCode);
    return refusal && new DatabaseRefusedError(refusal, reason, driverCode, this.database.configuredBy);
  }

  private dropNext(reason: Error): void {
    this.next?.destroy(reason);
    this.next = undefined;
  }

  private drop(connection: Connection | undefined, reason: Error): void {
    if (connection === undefined) return;
    this.left.note(connection);
    // Two sessions at a time are enough.
    if (this.left.mayBeOn(connection)) this.dropNext(reason);
    this.addresses.leave(connection);
    connection.destroy(reason);
    if (this.connection === connection) this.connection = undefined;
  }
}

function refuseVolatile({ type, isVolatile }: SqlDatabase): void {
  if (!isVolatile) return;
  throw new UnsupportedDatabaseError(type, 'a database in memory has no second connection, which is needed');
}
