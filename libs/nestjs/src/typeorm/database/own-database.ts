import type { RaindropError } from '@raindrop/core';
import type { DataSourceOptions } from 'typeorm';
import { DatabaseCallError } from './database-call-error.js';
import { DatabaseRefusedError } from './database-refused-error.js';
import type { Dialect, SqlValue } from './dialect.js';
import { ownDataSourceOptions } from './own-data-source.js';
import { dialectOf } from './supported-database.js';
import { DatabaseConnection, type StatementResult } from './database-connection.js';

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
  /** What names account and database, for messages. */
  readonly configuredBy?: string;
  /** What calls reject with after `close`. */
  readonly closedError: () => RaindropError;
}

/** Runs one statement on the primary, committed by itself. */
export type RunStatement = (sql: string, values?: readonly SqlValue[]) => Promise<StatementResult>;

/**
 * A database over one connection of our own, apart from the application's pool and transactions.
 *
 * It connects at the first call and again after every failure. A call that was under way when the connection was lost
 * rejects with DatabaseCallError; whether its statement is executed is then unknown, and it is never sent again. What
 * the database refuses rejects with DatabaseRefusedError.
 */
export class OwnDatabase {
  readonly dialect: Dialect;
  private readonly dataSource: DataSourceOptions;
  private readonly statementTimeoutMs: number | undefined;
  private readonly pending = new Set<(reason: Error) => void>();
  private connection: DatabaseConnection | undefined;
  private closing: Promise<void> | undefined;

  /**
   * @param dataSource the application's options, see ownDataSourceOptions
   * @throws UnsupportedDatabaseError; ConfigurationError for `timeZone`
   */
  constructor(
    dataSource: DataSourceOptions,
    private readonly options: OwnDatabaseOptions,
  ) {
    this.dataSource = ownDataSourceOptions(dataSource, options);
    this.dialect = dialectOf(dataSource.type, options.timeZone);
    // SQLite answers at once or is busy, for which opTimeoutMs is the limit already.
    this.statementTimeoutMs = dataSource.type === 'better-sqlite3' ? undefined : options.statementTimeoutMs;
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
    this.connection ??= new DatabaseConnection(this.dataSource, this.dialect, this.options.opTimeoutMs);
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

  private drop(connection: DatabaseConnection | undefined, reason: Error): void {
    connection?.destroy(reason);
    if (this.connection === connection) this.connection = undefined;
  }
}
