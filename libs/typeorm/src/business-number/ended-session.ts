import type { DataSource, EntityManager, QueryRunner } from 'typeorm';

type Work<T> = (manager: EntityManager) => Promise<T>;

/** What a transaction failed with whose session is ended: it is rolled back, unless the server had begun to commit it. */
export class EndedSession {
  constructor(readonly error: unknown) {}
}

/**
 * Runs a transaction as `dataSource.transaction()` does. Where the ROLLBACK of one that failed is refused, too, its session
 * is ended: TypeORM would put it back into the pool, and the next START TRANSACTION there would commit it. A node of
 * Galera that has lost its cluster refuses both, and keeps the transaction open.
 *
 * @throws EndedSession, and what fails with the session as it should be
 */
export async function transactionOrEnd<T>(
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
