import type { DataSource, QueryRunner } from 'typeorm';
import { RaindropError } from '@raindrop/core';

/** What is used of TypeORM's driver for better-sqlite3. */
interface SqliteDriver {
  readonly databaseConnection?: SqliteConnection;
  /** The one runner, which everybody gets who asks for one. */
  queryRunner?: GuardedRunner;
  createQueryRunner(mode: 'master' | 'slave'): GuardedRunner;
}

const INSTALLED = Symbol.for('@raindrop/typeorm:sqlite-transactions');

/**
 * Makes every transaction of a better-sqlite3 DataSource end for certain.
 *
 * SQLite ends a transaction by itself when the disk is full. TypeORM does not notice: its ROLLBACK fails, and its one
 * runner for all takes the transaction for open. Everything later is then a savepoint, acknowledged and committed by
 * nobody. Here the connection is asked: what it has ended is over, and everybody who asks for a runner gets a new one.
 *
 * Does nothing to other databases, and nothing more when it is called again.
 */
export function endSqliteTransactions(dataSource: DataSource): void {
  if (dataSource.options.type !== 'better-sqlite3') return;
  const driver = dataSource.driver as unknown as SqliteDriver;
  if (INSTALLED in driver) return;
  const guards = new WeakMap<GuardedRunner, TransactionGuard>();
  const drop = (runner: GuardedRunner): void => {
    if (driver.queryRunner === runner) driver.queryRunner = undefined;
  };
  const guardOf = (runner: GuardedRunner): TransactionGuard => {
    const present = guards.get(runner);
    if (present !== undefined) return present;
    const guard = new TransactionGuard(runner, () => driver.databaseConnection, drop);
    guards.set(runner, guard);
    return guard;
  };
  const create = driver.createQueryRunner.bind(driver);
  const createQueryRunner = (mode: 'master' | 'slave'): GuardedRunner => {
    const { queryRunner } = driver;
    if (queryRunner !== undefined && guardOf(queryRunner).isStuck) drop(queryRunner);
    const runner = create(mode);
    guardOf(runner);
    return runner;
  };
  Object.defineProperties(driver, {
    createQueryRunner: { value: createQueryRunner, configurable: true, writable: true },
    [INSTALLED]: { value: true },
  });
  if (driver.queryRunner !== undefined) guardOf(driver.queryRunner);
}

/** What is used of better-sqlite3. */
interface SqliteConnection {
  readonly inTransaction?: boolean;
  exec(sql: string): unknown;
}

/** TypeORM's runner for better-sqlite3, and its own idea of its transaction. */
interface GuardedRunner extends QueryRunner {
  isTransactionActive: boolean;
  /** 1 inside a transaction, and one more in each that is nested in it. */
  transactionDepth: number;
}

/** Keeps a runner's idea of its transaction as the connection's. */
class TransactionGuard {
  /** The connection has ended the transaction, and callers are still in it. */
  private isLost = false;
  /** It is over already when its caller, as always after an error, rolls it back. */
  private isRolledBack = false;
  /** COMMIT or ROLLBACK is under way: for a moment the connection knows more than the runner. */
  private isEnding = false;

  /** @param drop makes others get another runner: whoever is still in this one's transaction must not end theirs */
  constructor(
    private readonly runner: GuardedRunner,
    private readonly connection: () => SqliteConnection | undefined,
    private readonly drop: (runner: GuardedRunner) => void,
  ) {
    const query = runner.query.bind(runner) as (...parameters: unknown[]) => Promise<unknown>;
    const start = runner.startTransaction.bind(runner);
    const commit = runner.commitTransaction.bind(runner);
    const rollback = runner.rollbackTransaction.bind(runner);
    Object.assign(runner, {
      query: (...parameters: unknown[]) => this.query(() => query(...parameters)),
      startTransaction: (...parameters: Parameters<typeof start>) => this.start(() => start(...parameters)),
      commitTransaction: () => this.commit(commit),
      rollbackTransaction: () => this.rollback(rollback),
    });
  }

  /** Whether the runner takes a transaction for open that the connection has ended. */
  get isStuck(): boolean {
    const { isTransactionActive, transactionDepth } = this.runner;
    return !this.isEnding && isTransactionActive && transactionDepth > 0 && this.hasEnded;
  }

  private get hasEnded(): boolean {
    return this.connection()?.inTransaction === false;
  }

  /** @throws TransactionLostError, where TypeORM would write outside any transaction */
  private async query<T>(query: () => Promise<T>): Promise<T> {
    if (this.isLost) throw new TransactionLostError();
    try {
      return await query();
    } catch (error) {
      if (this.isStuck) {
        this.isLost = true;
        this.drop(this.runner);
      }
      throw error;
    }
  }

  private async start(start: () => Promise<void>): Promise<void> {
    const { runner } = this;
    if (this.isLost) {
      // TypeORM rolls back also what could not be started.
      runner.transactionDepth++;
      throw new TransactionLostError();
    }
    this.isRolledBack = false;
    try {
      await start();
      // The end of another one, in this same moment, has said that there is none.
      runner.isTransactionActive = true;
    } catch (error) {
      if (runner.transactionDepth === 0) this.end();
      throw error;
    }
  }

  private async commit(commit: () => Promise<void>): Promise<void> {
    if (this.isLost) throw new TransactionLostError();
    const isOutermost = this.runner.transactionDepth === 1;
    try {
      await this.ending(isOutermost, commit);
    } catch (error) {
      // Where it is still open (SQLite was busy), its caller may try again or roll it back.
      if (isOutermost && this.runner.isTransactionActive && this.hasEnded) this.end();
      throw error;
    }
  }

  private async rollback(rollback: () => Promise<void>): Promise<void> {
    const { runner } = this;
    if (this.isRolledBack) {
      this.isRolledBack = false;
      return;
    }
    const isOutermost = runner.transactionDepth <= 1;
    if (this.isLost) {
      if (isOutermost) this.forget();
      else runner.transactionDepth--;
      return;
    }
    try {
      await this.ending(isOutermost, rollback);
    } catch (error) {
      if (isOutermost && runner.isTransactionActive) {
        // A subscriber has thrown before the ROLLBACK was sent.
        if (!this.hasEnded) this.connection()?.exec('ROLLBACK');
        this.forget();
      }
      throw error;
    }
  }

  private async ending(isOutermost: boolean, end: () => Promise<void>): Promise<void> {
    this.isEnding = isOutermost;
    try {
      await end();
    } finally {
      this.isEnding = false;
    }
  }

  /** The transaction is over before its caller knows. */
  private end(): void {
    this.forget();
    this.isRolledBack = true;
    this.drop(this.runner);
  }

  private forget(): void {
    this.isLost = false;
    this.runner.isTransactionActive = false;
    this.runner.transactionDepth = 0;
  }
}

/** SQLite has rolled back by itself the transaction that a statement was to be a part of. Nothing of it was written. */
export class TransactionLostError extends RaindropError {
  readonly errorCode = 'TRANSACTION_LOST';

  constructor() {
    super(
      'SQLite has rolled this transaction back by itself, when a statement failed: the disk was full or could not be ' +
        'used. Nothing more is written as a part of it. Let errors of the database leave the transaction, and run all of ' +
        'it again.',
      { retryable: true },
    );
  }
}
