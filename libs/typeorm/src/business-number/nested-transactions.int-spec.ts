import { setImmediate as turn } from 'node:timers/promises';
import { DataSource, type EntityManager } from 'typeorm';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { until } from '../../../../test/support/until.js';
import { BusinessNumberConflictError } from './business-number-errors.js';
import { businessNumber } from './business-number.js';
import { prepareBusinessNumbers } from './prepare-business-numbers.js';
import { transactionWithRetries } from './transaction-with-retries.js';

/** A call that hangs fails soon. */
async function settled<T>(call: Promise<T>): Promise<T> {
  await until('it to settle', () => Promise.race([call.then(...BOTH), turn(false)]));
  return call;
}

const BOTH = [() => true, () => true] as const;

describe.each(databaseKinds)('transactionWithRetries() inside another one on %s', (kind) => {
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
