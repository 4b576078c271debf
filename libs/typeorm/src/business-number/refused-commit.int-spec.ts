import { DataSource, type EntityManager } from 'typeorm';
import { RefusingMysqlProxy } from '../../../../test/support/proxies/refusing-mysql-proxy.js';
import { testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { conflictOf } from './business-number-errors.js';
import { transactionWithRetries } from './transaction-with-retries.js';

const REFUSED = { driverError: { errno: 1047 } };

/** A node of Galera that has lost its cluster refuses COMMIT and ROLLBACK, and the transaction goes on. */
describe('a transaction that a node refuses to commit and to roll back', () => {
  let database: TestDatabase;
  let proxy: RefusingMysqlProxy;
  let dataSource: DataSource;
  let runs: number;

  beforeEach(async () => {
    runs = 0;
    database = await testDatabase('mariadb');
    const { host, port } = database.options as { host: string; port: number };
    proxy = await RefusingMysqlProxy.start({ host, port });
    const options = { ...database.options, port: proxy.port, poolSize: 1 } as typeof database.options;
    dataSource = await new DataSource(options).initialize();
    await dataSource.query('CREATE TABLE invoice (id int NOT NULL AUTO_INCREMENT PRIMARY KEY)');
  });

  afterEach(async () => {
    await dataSource.destroy();
    await proxy.stop();
    await database.drop();
  });

  const work = async (manager: EntityManager): Promise<number> => {
    await manager.query('INSERT INTO invoice VALUES ()');
    return ++runs;
  };

  const invoices = async (): Promise<number> => (await dataSource.query<unknown[]>('SELECT id FROM invoice')).length;

  it.each([
    ['COMMIT', ['COMMIT', 'ROLLBACK'], 2],
    ['a statement', ['INSERT INTO invoice VALUES ()', 'ROLLBACK'], 1],
    ['START TRANSACTION', ['START TRANSACTION', 'ROLLBACK'], 1],
    ['COMMIT three times', ['COMMIT', 'ROLLBACK', 'COMMIT', 'ROLLBACK', 'COMMIT', 'ROLLBACK'], 4],
  ])('is run again, and its work is done once: %s', async (_, statements, expected) => {
    proxy.refuse = statements;
    expect(await transactionWithRetries(dataSource, work)).toBe(expected);
    expect(proxy.refuse).toEqual([]);
    expect(await invoices()).toBe(1);
  });

  it('is not committed by the next one when it is not to be run again', async () => {
    proxy.refuse = ['COMMIT', 'ROLLBACK'];
    await expect(transactionWithRetries(dataSource, work, { attempts: 1 })).rejects.toMatchObject(REFUSED);
    await dataSource.transaction(() => Promise.resolve());
    expect(await invoices()).toBe(0);
  });

  it('is committed by the next one of the pool without that: the control', async () => {
    proxy.refuse = ['COMMIT', 'ROLLBACK'];
    await expect(dataSource.transaction(work)).rejects.toMatchObject(REFUSED);
    await dataSource.transaction(work);
    expect(await invoices()).toBe(2);
  });

  it.each([
    ['ER_TRANSACTION_ROLLBACK_DURING_COMMIT', true],
    // A storage engine that could not commit, or a node whose cluster may have: nobody knows.
    ['ER_ERROR_DURING_COMMIT', false],
    // Known to be rolled back only when its session is ended.
    ['ER_UNKNOWN_COM_ERROR', false],
  ])('%s is an answer that it was rolled back: %s', (code, isRolledBack) => {
    expect(conflictOf({ code }) !== undefined).toBe(isRolledBack);
  });
});
