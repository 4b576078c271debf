import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import { testDatabase, type DatabaseKind, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { waitersOn } from '../../../../test/support/stores/lock-waiters.js';
import { until } from '../../../../test/support/until.js';
import { businessNumber } from './business-number.js';
import { prepareBusinessNumbers } from './prepare-business-numbers.js';
import { transactionWithRetries } from './transaction-with-retries.js';

describe('two transactions that want the same number', () => {
  let database: TestDatabase;
  let dataSources: DataSource[];
  let runners: [QueryRunner, QueryRunner];

  async function open(kind: DatabaseKind): Promise<void> {
    database = await testDatabase(kind);
    const options = kind === 'sqlite' ? { ...database.options, timeout: 0 } : database.options;
    dataSources = [];
    for (const each of [options, options]) dataSources.push(await new DataSource(each).initialize());
    await prepareBusinessNumbers(dataSources[0]!);
    for (const series of ['A', 'B']) await dataSources[0]!.transaction((manager) => take(manager, series));
    runners = dataSources.map((dataSource) => dataSource.createQueryRunner()) as typeof runners;
  }

  afterEach(async () => {
    for (const runner of runners) {
      if (runner.isTransactionActive) await runner.rollbackTransaction();
      await runner.release();
    }
    await Promise.all(dataSources.map((dataSource) => dataSource.destroy()));
    await database.drop();
  });

  const take = (manager: EntityManager, series: string): Promise<string> =>
    businessNumber(manager, '{seq}', { name: series });

  it.each(['mariadb', 'postgres'] as const)('wait for one another, and for the outcome (%s)', async (kind) => {
    await open(kind);
    const [first, second] = runners;
    for (const outcome of ['rollbackTransaction', 'commitTransaction'] as const) {
      await first.startTransaction('READ COMMITTED');
      await second.startTransaction('READ COMMITTED');
      expect(await take(first.manager, 'A')).toBe('2');
      let isThere = false;
      const waiting = take(second.manager, 'A').finally(() => (isThere = true));
      await until('the second to wait for the first', async () => (await waitersOn(dataSources[0]!)) === 1);
      expect(isThere).toBe(false);
      expect(await take(first.manager, 'B')).toBe('2');
      await first[outcome]();
      expect(await waiting).toBe(outcome === 'commitTransaction' ? '3' : '2');
      await second.rollbackTransaction();
    }
  });

  it.each([
    ['mariadb', 'ER_LOCK_DEADLOCK'],
    ['postgres', '40P01'],
  ] as const)('learn of a deadlock (%s)', async (kind, driverCode) => {
    await open(kind);
    const [first, second] = runners;
    for (const runner of runners) await runner.startTransaction('READ COMMITTED');
    await take(first.manager, 'A');
    await take(second.manager, 'B');
    const outcomes = await Promise.allSettled([take(first.manager, 'B'), take(second.manager, 'A')]);
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason as Error);
    expect(refused).toHaveLength(1);
    expect(refused[0]).toMatchObject({ errorCode: 'BUSINESS_NUMBER_CONFLICT', driverCode, retryable: true });
  });

  it('cannot go on behind a deadlock that was caught (mariadb)', async () => {
    await open('mariadb');
    for (const runner of runners) await runner.startTransaction();
    await take(runners[0].manager, 'A');
    await take(runners[1].manager, 'B');
    const outcomes = await Promise.allSettled([take(runners[0].manager, 'B'), take(runners[1].manager, 'A')]);
    const loser = outcomes.findIndex(({ status }) => status === 'rejected');
    const refusal = { errorCode: 'TRANSACTION_REQUIRED', why: 'ended' };
    await expect(take(runners[loser]!.manager, 'C')).rejects.toMatchObject(refusal);
    await runners[1 - loser]!.commitTransaction();
    expect(await dataSources[0]!.transaction((manager) => take(manager, 'C'))).toBe('1');
  });

  it.each([
    ['mariadb', 'SET SESSION innodb_lock_wait_timeout = 1', 'ER_LOCK_WAIT_TIMEOUT'],
    ['postgres', "SET lock_timeout = '50ms'", '55P03'],
  ] as const)('learn that the other takes too long (%s)', async (kind, setting, driverCode) => {
    await open(kind);
    const [first, second] = runners;
    await second.query(setting);
    for (const runner of runners) await runner.startTransaction('READ COMMITTED');
    await take(first.manager, 'A');
    const refusal = { errorCode: 'BUSINESS_NUMBER_CONFLICT', driverCode };
    await expect(take(second.manager, 'A')).rejects.toMatchObject(refusal);
  });

  it.each([
    ['postgres', 'SELECT 1', '40001'],
    ['mariadb', 'SET SESSION innodb_snapshot_isolation = ON', 'ER_CHECKREAD'],
  ] as const)('learn of a number that is newer than their snapshot (%s)', async (kind, setting, driverCode) => {
    await open(kind);
    const [first, second] = runners;
    await second.query(setting);
    await second.startTransaction('REPEATABLE READ');
    await second.query('SELECT * FROM raindrop_business_number');
    await first.startTransaction();
    await take(first.manager, 'A');
    await first.commitTransaction();
    const refusal = { errorCode: 'BUSINESS_NUMBER_CONFLICT', driverCode };
    await expect(take(second.manager, 'A')).rejects.toMatchObject(refusal);
    await second.rollbackTransaction();
    await second.startTransaction('REPEATABLE READ');
    expect(await take(second.manager, 'A')).toBe('3');
  });

  it('learn that SQLite is busy', async () => {
    await open('sqlite');
    const [first, second] = runners;
    for (const runner of runners) await runner.startTransaction();
    await take(first.manager, 'A');
    const refusal = { errorCode: 'BUSINESS_NUMBER_CONFLICT', driverCode: 'SQLITE_BUSY' };
    await expect(take(second.manager, 'A')).rejects.toMatchObject(refusal);
  });

  describe('transactionWithRetries()', () => {
    it('waits for its turn on the one connection of SQLite', async () => {
      await open('sqlite');
      const numbers = Array.from({ length: 20 }, (_, index) =>
        transactionWithRetries(dataSources[0]!, async (manager) => {
          const number = await take(manager, 'A');
          await sleep(1);
          if (index % 2 === 1) throw new Error('rolled back');
          return number;
        }).catch(() => undefined),
      );
      const committed = (await Promise.all(numbers)).filter((number) => number !== undefined).map(Number);
      expect(committed).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    });

    it('is a savepoint inside another one on SQLite, and does not wait for its end', async () => {
      await open('sqlite');
      const dataSource = dataSources[0]!;
      const inner = (): Promise<string> => transactionWithRetries(dataSource, () => Promise.resolve('inner'));
      await expect(transactionWithRetries(dataSource, inner)).resolves.toBe('inner');
      await expect(inner()).resolves.toBe('inner');
    });

    it('gives up with the conflict after the last attempt, and passes on every other error at once', async () => {
      await open('sqlite');
      await runners[0].startTransaction();
      await take(runners[0].manager, 'A');
      let runs = 0;
      const work = (manager: EntityManager): Promise<string> => {
        runs++;
        return take(manager, 'A');
      };
      await expect(transactionWithRetries(dataSources[1]!, work, { attempts: 3 })).rejects.toMatchObject({
        errorCode: 'BUSINESS_NUMBER_CONFLICT',
      });
      expect(runs).toBe(3);
      const other = new Error('of the application');
      await expect(transactionWithRetries(dataSources[1]!, () => Promise.reject(other))).rejects.toBe(other);
    });

    it.each([{ attempts: 0 }, { attempts: 101 }, { isolationLevel: 'CHAOS' }, { retries: 3 }])(
      'refuses %p',
      async (options) => {
        await open('sqlite');
        const refused = transactionWithRetries(
          dataSources[0]!,
          () => Promise.resolve(),
          options as { attempts: number },
        );
        await expect(refused).rejects.toMatchObject({ errorCode: 'CONFIGURATION' });
      },
    );
  });
});
