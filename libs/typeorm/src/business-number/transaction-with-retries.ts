import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import { ConfigurationError } from '@raindrop/core';
import { integer, option, type OptionsOf, resolveOptions } from '@raindrop/core/internal';
import { hostTimers } from '@raindrop/node/internal';
import { endSqliteTransactions } from '../connection/sqlite-transactions.js';
import { conflictOf, isRefusedByNode } from './business-number-errors.js';
import { asTurn, enclosingTurn, inside, inTurn, type Turn, TURN_TIMEOUT } from './transaction-turns.js';

const ISOLATION_LEVELS = ['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'] as const;

type IsolationLevel = (typeof ISOLATION_LEVELS)[number];

/** The options say how a transaction runs, and how often it is tried. */
export const retryOptions = {
  /**
   * How the transaction is kept apart from others.
   * @range `READ COMMITTED`, `REPEATABLE READ`, `SERIALIZABLE` @defaultValue the database's own
   */
  isolationLevel: option<IsolationLevel, IsolationLevel | undefined>(
    (reader, name) =>
      reader.value(name) === undefined ? undefined : reader.oneOf(name, ISOLATION_LEVELS, 'READ COMMITTED'),
    { names: ISOLATION_LEVELS },
  ),
  /** How often the transaction is run at most. @range 1-100 @defaultValue 20 */
  attempts: integer({ min: 1, max: 100, default: 20 }),
};

/** The options say how a transaction runs, and how often it is tried. */
export interface RetryOptions extends Readonly<OptionsOf<typeof retryOptions>> {}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;

/**
 * Runs a transaction. Runs all of it again after a deadlock, a serialization failure, a busy SQLite or a lock timeout,
 * whichever statement failed, COMMIT included, and when a Galera node that has lost its cluster refuses a statement. The
 * pauses between attempts grow, and are random. All other errors are thrown at once. A lost connection is one of them: the
 * server may have committed the transaction or not.
 *
 * `work` must do nothing outside the transaction that may not be done twice. On SQLite, where a DataSource has one
 * connection, such transactions wait for each other.
 *
 * A call inside such a transaction of the same DataSource joins it: its work becomes a savepoint of the outer transaction
 * and waits for other savepoints of it. Only the outermost call tries again.
 *
 * @throws BusinessNumberConflictError after the last attempt; ConfigurationError
 */
export async function transactionWithRetries<T>(
  dataSource: DataSource,
  work: (manager: EntityManager) => Promise<T>,
  options: RetryOptions = {},
): Promise<T> {
  const { isolationLevel, attempts } = resolveOptions(retryOptions, options);
  endSqliteTransactions(dataSource);
  const outer = enclosingTurn(dataSource);
  if (outer !== undefined) {
    refuseOtherLevel(outer, isolationLevel);
    return inside(outer, work, () => transactionWithRetries(dataSource, work, options));
  }
  const turn = (manager: EntityManager): Promise<T> => asTurn({ dataSource, isolationLevel }, manager, work);
  const transaction = (): Promise<T> => transactionOrEnd(dataSource, isolationLevel, turn);
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTurn(dataSource, transaction);
    } catch (thrown) {
      const error = thrown instanceof EndedSession ? thrown.error : thrown;
      const conflict = conflictOf(error);
      const isRefused = thrown instanceof EndedSession && isRefusedByNode(error);
      if (conflict === undefined && (!isRefused || attempt === attempts)) throw error;
      // This call stands inside a transaction of another DataSource, which may have to end first.
      const isBlocked = conflict?.driverCode === TURN_TIMEOUT && enclosingTurn() !== undefined;
      if (conflict !== undefined && (attempt === attempts || isBlocked)) throw conflict;
    }
    await hostTimers.sleep(Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt));
  }
}

/** A savepoint has the level of its transaction. */
function refuseOtherLevel({ isolationLevel }: Turn, wanted: RetryOptions['isolationLevel']): void {
  if (wanted === undefined || wanted === isolationLevel) return;
  const level = isolationLevel === undefined ? 'was given none' : `has ${isolationLevel}`;
  const message = `cannot be set inside another transactionWithRetries() of this DataSource, which ${level}; set it there`;
  throw new ConfigurationError([{ option: 'isolationLevel', given: `'${wanted}'`, message }]);
}

type Work<T> = (manager: EntityManager) => Promise<T>;

/** The error of a transaction whose session was ended: the server rolls it back, unless the COMMIT had begun. */
class EndedSession {
  constructor(readonly error: unknown) {}
}

/**
 * Runs a transaction as `dataSource.transaction()` does. Where the ROLLBACK of one that failed is refused, too, its session
 * is ended: TypeORM would put it back into the pool, and the next START TRANSACTION there would commit it. A node of
 * Galera that has lost its cluster refuses both, and keeps the transaction open.
 *
 * @throws EndedSession, and what fails with the session as it should be
 */
async function transactionOrEnd<T>(
  dataSource: DataSource,
  isolationLevel: Parameters<QueryRunner['startTransaction']>[0],
  work: Work<T>,
): Promise<T> {
  const runner = dataSource.createQueryRunner();
  const { manager } = runner;
  try {
    return await (isolationLevel === undefined ? manager.transaction(work) : manager.transaction(isolationLevel, work));
  } catch (error) {
    throw runner.isTransactionActive && (await endSession(runner)) ? new EndedSession(error) : error;
  } finally {
    await runner.release();
  }
}

async function endSession(runner: QueryRunner): Promise<boolean> {
  // mysql2's; TypeORM ends a session of PostgreSQL that has failed by itself.
  const connection = (await runner.connect().catch(() => undefined)) as { destroy?: () => void } | undefined;
  if (typeof connection?.destroy !== 'function') return false;
  connection.destroy();
  return true;
}
