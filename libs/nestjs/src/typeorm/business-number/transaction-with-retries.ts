import { OptionReader } from '@raindrop/core';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, EntityManager } from 'typeorm';
import { endSqliteTransactions } from '../database/sqlite-transactions.js';
import { conflictOf } from './database-conflict.js';

const ISOLATION_LEVELS = ['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'] as const;

/** How a transaction runs, and how often it is tried. */
export interface RetryOptions {
  /** Default the database's own. */
  readonly isolationLevel?: (typeof ISOLATION_LEVELS)[number];
  /** How often the transaction is run at most: 1 to 100. Default 20. */
  readonly attempts?: number;
}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

/**
 * Runs a transaction, and all of it again after a deadlock, a serialization failure, a busy SQLite or a lock that was not
 * to be had in time, whichever statement met it, COMMIT included. Pauses grow, and are random. Other errors, a lost
 * connection among them, are passed on at once: then nobody knows whether the transaction was committed.
 *
 * `work` must do nothing outside the transaction that may not be done twice. On SQLite, where a DataSource has one
 * connection, such transactions wait for each other; one inside another is a savepoint of it.
 *
 * @throws BusinessNumberConflictError after the last attempt; ConfigurationError
 */
export async function transactionWithRetries<T>(
  dataSource: DataSource,
  work: (manager: EntityManager) => Promise<T>,
  options: RetryOptions = {},
): Promise<T> {
  const { isolationLevel, attempts } = readRetryOptions(options);
  endSqliteTransactions(dataSource);
  const transaction = (): Promise<T> =>
    isolationLevel === undefined ? dataSource.transaction(work) : dataSource.transaction(isolationLevel, work);
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTurn(dataSource, transaction);
    } catch (error) {
      const conflict = conflictOf(error);
      if (conflict === undefined) throw error;
      if (attempt === attempts) throw conflict;
    }
    await sleep(Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt));
  }
}

function readRetryOptions(options: RetryOptions): RetryOptions & { readonly attempts: number } {
  const reader = new OptionReader(options);
  const isolationLevel =
    reader.value('isolationLevel') === undefined
      ? undefined
      : reader.oneOf('isolationLevel', ISOLATION_LEVELS, 'READ COMMITTED');
  const attempts = reader.integer('attempts', { min: 1, max: 100, default: 20 });
  reader.finish();
  return { isolationLevel, attempts };
}

/** Whose turn it is, as the code that runs in it sees it. */
interface Turn {
  readonly dataSource: DataSource;
  isOver: boolean;
}

const current = new AsyncLocalStorage<Turn>();

/** The end of the last transaction of each SQLite DataSource: TypeORM would put two at once into one another. */
const turns = new WeakMap<DataSource, Promise<unknown>>();

function inTurn<T>(dataSource: DataSource, transaction: () => Promise<T>): Promise<T> {
  if (dataSource.options.type !== 'better-sqlite3') return transaction();
  const outer = current.getStore();
  // It would wait for its own end: inside such a transaction it is a part of it, a savepoint.
  if (outer?.dataSource === dataSource && !outer.isOver) return transaction();
  const turn: Turn = { dataSource, isOver: false };
  const end = (): void => void (turn.isOver = true);
  const result = (turns.get(dataSource) ?? Promise.resolve()).then(() =>
    current.run(turn, () => transaction().finally(end)),
  );
  turns.set(
    dataSource,
    result.catch(() => undefined),
  );
  return result;
}
