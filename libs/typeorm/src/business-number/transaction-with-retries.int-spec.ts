import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import {
  type DatabaseKind,
  kindsInTurn,
  testDatabase,
  type TestDatabase,
} from '../../../../test/support/servers/test-databases.js';
import { waitersOn } from '../../../../test/support/stores/lock-waiters.js';
import { until } from '../../../../test/support/until.js';
import { RefusingMysqlProxy } from '../../../../test/support/proxies/refusing-mysql-proxy.js';
import { businessNumber } from './business-number.js';
import { prepareBusinessNumbers } from './prepare-business-numbers.js';
import { transactionWithRetries } from './transaction-with-retries.js';
import { BusinessNumberConflictError, conflictOf } from './business-number-errors.js';

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

/** A call that hangs fails soon. */
async function settled<T>(call: Promise<T>): Promise<T> {
  await until('it to settle', () => Promise.race([call.then(...BOTH), turn(false)]));
  return call;
}

const BOTH = [() => true, () => true] as const;

describe.each(kindsInTurn(__filename))('transactionWithRetries() inside another one on %s', (kind) => {
  let databases: TestDatabase[];
  let x: DataSource;
  let y: DataSource;

  beforeEach(async () => {
    databases = [await testDatabase(kind), await testDatabase(kind)];
    [x, y] = (await Promise.all(databases.map(({ options }) => new DataSource(options).initialize()))) as [
      DataSource,
      DataSource,
    ];
    for (const each of [x, y]) await prepareBusinessNumbers(each);
  });

  afterEach(async () => {
    await Promise.all([x, y].map((dataSource) => dataSource.destroy()));
    await Promise.all(databases.map((database) => database.drop()));
  });

  const next = (manager: EntityManager): Promise<string> => businessNumber(manager, '{seq}');
  const number = (dataSource: DataSource): Promise<string> => transactionWithRetries(dataSource, next);
  const reason = new Error('of the application');

  it('is a part of it: a number of the same series is the next one, and goes back with it', async () => {
    const work = transactionWithRetries(x, async (manager) => {
      expect([await next(manager), await number(x), await next(manager)]).toEqual(['1', '2', '3']);
      throw reason;
    });
    await expect(settled(work)).rejects.toBe(reason);
    expect(await number(x)).toBe('1');
  });

  it('gives its own number back when it alone fails', async () => {
    const numbers = transactionWithRetries(x, async (manager) => {
      const first = await next(manager);
      const failing = transactionWithRetries(x, async (inner) => {
        await next(inner);
        throw reason;
      });
      await expect(failing).rejects.toBe(reason);
      return [first, await next(manager)];
    });
    expect(await settled(numbers)).toEqual(['1', '2']);
    expect(await number(x)).toBe('3');
  });

  it('is a part of the outermost one through one of another database', async () => {
    const numbers = transactionWithRetries(x, async (manager) => [
      await next(manager),
      ...(await transactionWithRetries(y, async (other) => [await next(other), await number(x), await number(y)])),
      await next(manager),
    ]);
    expect(await settled(numbers)).toEqual(['1', '1', '2', '2', '3']);
    expect([await number(x), await number(y)]).toEqual(['4', '3']);
  });

  it('waits for the others that are inside the same one', async () => {
    const outer = transactionWithRetries(x, () =>
      Promise.allSettled(
        Array.from({ length: 6 }, (_, index) =>
          transactionWithRetries(x, async (manager) => {
            const given = await next(manager);
            await turn();
            if (index % 2 === 1) throw reason;
            return given;
          }),
        ),
      ),
    );
    const given = (await settled(outer)).flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    expect(given).toEqual(['1', '2', '3']);
    expect(await number(x)).toBe('4');
  });

  it('leaves a conflict to the outermost one, which runs all of it again', async () => {
    const runs = { outer: 0, inner: 0 };
    const numbers = transactionWithRetries(x, async (manager) => {
      runs.outer++;
      const first = await next(manager);
      const second = await transactionWithRetries(x, async (inner) => {
        if (++runs.inner === 1) throw new BusinessNumberConflictError('40001', undefined);
        return next(inner);
      });
      return [first, second];
    });
    expect(await settled(numbers)).toEqual(['1', '2']);
    expect(runs).toEqual({ outer: 2, inner: 2 });
  });

  it('cannot have an isolation level that the outer one was not given', async () => {
    const inner = transactionWithRetries(x, () =>
      transactionWithRetries(x, () => Promise.resolve(), { isolationLevel: 'SERIALIZABLE' }),
    );
    await expect(settled(inner)).rejects.toMatchObject({ errorCode: 'CONFIGURATION' });
    const same = { isolationLevel: 'SERIALIZABLE' } as const;
    expect(await settled(transactionWithRetries(x, () => transactionWithRetries(x, next, same), same))).toBe('1');
  });

  it('is one of its own once the other one is over', async () => {
    let late: Promise<string> | undefined;
    let letGo = (): void => undefined;
    const over = new Promise<void>((resolve) => (letGo = resolve));
    await transactionWithRetries(x, () => {
      late = over.then(() => number(x));
      return Promise.resolve();
    });
    letGo();
    expect(await settled(late!)).toBe('1');
    expect(await number(x)).toBe('2');
  });

  it('is no trap inside a transaction that has locked the series in another way', async () => {
    const numbers = x.transaction(async (manager) => {
      const outer = await next(manager);
      const inner = transactionWithRetries(x, next, { attempts: 2 });
      return [outer, await inner.catch((error: unknown) => error)];
    });
    // On SQLite's one connection it is a part of it.
    const [outer, inner] = await settled(numbers);
    expect(outer).toBe('1');
    if (kind === 'sqlite') expect(inner).toBe('2');
    else expect(inner).toMatchObject({ errorCode: 'BUSINESS_NUMBER_CONFLICT', driverCode: 'HELD_BY_CALLER' });
  });

  if (kind !== 'sqlite') {
    it('waits for a transaction that does not wait for it', async () => {
      const runner = x.createQueryRunner();
      await runner.startTransaction();
      expect(await next(runner.manager)).toBe('1');
      const late = [number(x), x.transaction(next)];
      await turn();
      await runner.commitTransaction();
      expect((await settled(Promise.all(late))).sort()).toEqual(['2', '3']);
      await runner.release();
    });
  }

  if (kind !== 'sqlite') return;

  it('does not wait for ever for one that waits for it', async () => {
    const [inX, inY] = [x, y].map((outer, index) =>
      transactionWithRetries(outer, async (manager) => {
        const own = await next(manager);
        await turn();
        return [own, await number(index === 0 ? y : x)];
      }),
    );
    const numbers = await settled(Promise.all([inX, inY]));
    expect(numbers.flat().sort()).toEqual(['1', '1', '2', '2']);
  });
});

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
    // A storage engine that could not commit, or a node whose cluster may have: the outcome is unknown.
    ['ER_ERROR_DURING_COMMIT', false],
    // Known to be rolled back only when its session is ended.
    ['ER_UNKNOWN_COM_ERROR', false],
  ])('%s is an answer that it was rolled back: %s', (code, isRolledBack) => {
    expect(conflictOf({ code }) !== undefined).toBe(isRolledBack);
  });
});
