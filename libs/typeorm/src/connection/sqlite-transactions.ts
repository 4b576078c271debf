import type { DataSource } from 'typeorm';
import { TransactionGuard, type GuardedRunner, type SqliteConnection } from './transaction-guard.js';

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
