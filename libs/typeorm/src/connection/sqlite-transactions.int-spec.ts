import Sqlite from 'better-sqlite3';
import { DataSource, type EntityManager, type EntitySubscriberInterface } from 'typeorm';
import { testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { endSqliteTransactions } from './sqlite-transactions.js';

describe('endSqliteTransactions()', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await testDatabase('sqlite');
    dataSource = await new DataSource(database.options).initialize();
    await dataSource.query('CREATE TABLE note (id integer PRIMARY KEY)');
    endSqliteTransactions(dataSource);
    endSqliteTransactions(dataSource);
  });

  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const insert = (manager: EntityManager | DataSource, id: number): Promise<unknown> =>
    manager.query('INSERT INTO note VALUES (?)', [id]);

  /** As another process sees it. */
  function stored(): unknown[] {
    const other = new Sqlite(String(database.options.database), { timeout: 0 });
    try {
      // Fails if another caller has left a transaction open.
      other.exec('BEGIN IMMEDIATE; COMMIT');
      return other.prepare('SELECT id FROM note ORDER BY id').pluck().all();
    } finally {
      other.close();
    }
  }

  it('leaves a transaction alone in which another one could not be started', async () => {
    await dataSource.query('BEGIN');
    await insert(dataSource, 1);
    await expect(dataSource.transaction(() => Promise.resolve())).rejects.toThrow('within a transaction');
    await dataSource.query('COMMIT');
    expect(stored()).toEqual([1]);
    await dataSource.transaction((manager) => insert(manager, 2));
    expect(stored()).toEqual([1, 2]);
  });

  it('ends a transaction whose rollback a subscriber has stopped', async () => {
    const failing: EntitySubscriberInterface = {
      beforeTransactionRollback: () => {
        throw new Error('of the subscriber');
      },
    };
    dataSource.subscribers.push(failing);
    const reason = new Error('of the work');
    const work = dataSource.transaction(async (manager) => {
      await insert(manager, 1);
      throw reason;
    });
    await expect(work).rejects.toBe(reason);
    dataSource.subscribers.splice(0);
    expect(stored()).toEqual([]);
    await dataSource.transaction((manager) => insert(manager, 2));
    expect(stored()).toEqual([2]);
  });

  it('goes on behind a transaction that was committed by hand', async () => {
    const work = dataSource.transaction(async (manager) => {
      await insert(manager, 1);
      await manager.query('COMMIT');
    });
    await expect(work).rejects.toThrow('no transaction is active');
    await dataSource.transaction((manager) => insert(manager, 2));
    expect(stored()).toEqual([1, 2]);
  });

  it('leaves none open where one begins while another one ends, however close', async () => {
    for (let turns = 0; turns < 32; turns++) {
      for (const end of ['commitTransaction', 'rollbackTransaction'] as const) {
        const runner = dataSource.createQueryRunner();
        await runner.startTransaction();
        const ended = runner[end]();
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        const work = dataSource.transaction((manager) => insert(manager, 1));
        await Promise.allSettled([ended, work]);
        await dataSource.query('DELETE FROM note');
        await dataSource.transaction((manager) => insert(manager, 2));
        expect(stored()).toEqual([2]);
        await dataSource.query('DELETE FROM note');
      }
    }
  });

  it('takes a DataSource that was opened anew', async () => {
    await dataSource.destroy();
    await dataSource.initialize();
    await dataSource.transaction((manager) => insert(manager, 1));
    expect(stored()).toEqual([1]);
  });
});
