import type { DataSource, QueryRunner } from 'typeorm';
import { RaindropError } from '@raindrop/core';
import { isFileDatabase } from '@raindrop/node/internal';

/** The used part of TypeORM's driver for better-sqlite3. */
interface SqliteDriver {
  readonly databaseConnection?: SqliteConnection;
  /** The only runner: TypeORM gives it to every caller that asks for one. */
  queryRunner?: GuardedRunner;
  createQueryRunner(mode: 'master' | 'slave'): GuardedRunner;
}

const INSTALLED = Symbol.for('@raindrop/typeorm:sqlite-transactions');

/**
 * Makes every transaction of a better-sqlite3 DataSource end for certain.
 *
 * SQLite ends a transaction by itself when the disk is full. TypeORM does not notice: its ROLLBACK fails, and its only
 * runner takes the transaction for open. Every later transaction then becomes a savepoint of it: TypeORM reports success,
 * and no COMMIT is ever sent. The guard asks the connection whether the transaction still exists. When it does not, the
 * guard ends it in TypeORM's books too, and the next caller gets a new runner.
 *
 * Other databases are left as they are. A second call does nothing.
 */
export function endSqliteTransactions(dataSource: DataSource): void {
  if (!isFileDatabase(dataSource.options.type)) return;
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

/** The used part of better-sqlite3. */
interface SqliteConnection {
  readonly inTransaction?: boolean;
  exec(sql: string): unknown;
}

/** TypeORM's runner for better-sqlite3, with the fields in which it counts its transactions. */
interface GuardedRunner extends QueryRunner {
  isTransactionActive: boolean;
  /** 1 inside a transaction, and one more in each that is nested in it. */
  transactionDepth: number;
}

/** Makes a runner's fields agree with the connection about whether a transaction is open. */
class TransactionGuard {
  /** The connection has ended the transaction, and its callers do not know yet. */
  private isLost = false;
  /** The transaction is over already; the ROLLBACK that its caller sends after the error has nothing to do. */
  private isRolledBack = false;
  /** COMMIT or ROLLBACK is under way: the connection may have ended the transaction before the runner notes it. */
  private isEnding = false;

  /** @param drop gives later callers another runner: callers of the lost transaction must not end theirs */
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
      // TypeORM calls rollbackTransaction() for a transaction that could not be started, too.
      runner.transactionDepth++;
      throw new TransactionLostError();
    }
    this.isRolledBack = false;
    try {
      await start();
      // The end of another transaction may have set it to false while BEGIN was running.
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
      // Where the transaction is still open (SQLite was busy), its caller may commit again or roll back.
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
  static override readonly name = 'TransactionLostError';
  readonly errorCode = 'TRANSACTION_LOST';

  constructor() {
    super(
      'SQLite rolled this transaction back when a statement failed: the disk was full or unusable. Nothing more is ' +
        'written in it. Let database errors leave the transaction, and run all of it again.',
      { retryable: true },
    );
  }
}
