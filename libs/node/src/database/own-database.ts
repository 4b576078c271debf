import type { RaindropError } from '@raindrop/core';
import { DatabaseCallError } from './database-call-error.js';
import { DatabaseRefusedError } from './database-refused-error.js';
import type { Dialect, SqlValue } from './dialect.js';
import { dialectOf, UnsupportedDatabaseError } from './supported-database.js';
import { DatabaseConnection } from './database-connection.js';
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
  /** What calls reject with after `close`. */
  readonly closedError: () => RaindropError;
}

/**
 * A database over one connection of our own, apart from the application's pool and transactions.
 *
 * It connects at the first call and again after every failure. A call that was under way when the connection was lost
 * rejects with DatabaseCallError; whether its statement is executed is then unknown, and it is never sent again. What
 * the database refuses rejects with DatabaseRefusedError.
 */
export class OwnDatabase {
  readonly dialect: Dialect;
  private readonly statementTimeoutMs: number | undefined;
  private readonly pending = new Set<(reason: Error) => void>();
  private connection: DatabaseConnection | undefined;
  private closing: Promise<void> | undefined;

  /**
   * @throws UnsupportedDatabaseError for a database in memory; ConfigurationError for `timeZone`
   */
  constructor(
    private readonly database: SqlDatabase,
    private readonly options: OwnDatabaseOptions,
  ) {
    refuseVolatile(database);
    this.dialect = dialectOf(database.type, options.timeZone);
    // SQLite answers at once or is busy, for which opTimeoutMs is the limit already.
    this.statementTimeoutMs = database.type === 'better-sqlite3' ? undefined : options.statementTimeoutMs;
  }

  /** Runs a call whose statements stop, and which rejects at once, when it is abandoned. */
  call<T>(work: (run: RunStatement) => Promise<T>): Promise<T> {
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
   * The settings that can lose a committed write, in words.
   * @param orElse what else helps, to be added: `, or ...`
   */
  durabilityWarnings(orElse = ''): Promise<readonly string[]> {
    return this.call(async (run) => {
      const settings: Record<string, string> = {};
      for (const sql of this.dialect.durability.sql) {
        for (const [name, value] of Object.entries((await run(sql)).records[0] ?? {})) settings[name] = String(value);
      }
      return this.dialect.durability.judge(settings, orElse);
    });
  }

  /** Drops the connection: whatever is under way may still be executed. The next call connects anew. */
  abandon(why = 'the connection was dropped before there was an answer'): void {
    const reason = new DatabaseCallError(why, '');
    this.drop(this.connection, reason);
    for (const reject of this.pending) reject(reason);
  }

  /** Safe to call more than once. Never rejects: a connection that cannot be closed in time is dropped. */
  close(): Promise<void> {
    this.closing ??= this.connection?.close() ?? Promise.resolve();
    return this.closing;
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
    if (this.closing !== undefined) throw this.options.closedError();
    if (this.connection?.isUsable === false) this.drop(this.connection, new Error('the connection was lost'));
    this.connection ??= new DatabaseConnection(this.database, this.dialect, this.options.opTimeoutMs);
    const { connection } = this;
    try {
      return await connection.run(sql, values);
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

  private drop(connection: DatabaseConnection | undefined, reason: Error): void {
    connection?.destroy(reason);
    if (this.connection === connection) this.connection = undefined;
  }
}

function refuseVolatile({ type, isVolatile }: SqlDatabase): void {
  if (!isVolatile) return;
  throw new UnsupportedDatabaseError(type, 'a database in memory has no second connection, which is needed');
}
