import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { waitersOn } from '../../../../test/support/stores/lock-waiters.js';
import { until } from '../../../../test/support/until.js';
import { businessNumber } from './business-number.js';
import type { ResetBy } from './business-number-options.js';
import { prepareBusinessNumbers } from './prepare-business-numbers.js';
import { transactionWithRetries } from './transaction-with-retries.js';

const TEMPLATE = 'INV-{yyyy}-{MM}-{seq}';
const CHANGED = { errorCode: 'NUMBER_RESET_CHANGED' };

describe.each(databaseKinds)('a change of resetBy while old and new instances run, on %s', (kind) => {
  let database: TestDatabase;
  let dataSources: DataSource[];

  beforeEach(async () => {
    database = await testDatabase(kind);
    const options = { ...database.options, ...(kind === 'sqlite' && { timeout: 0 }) } as typeof database.options;
    dataSources = [];
    for (const each of [options, options]) dataSources.push(await new DataSource(each).initialize());
    await prepareBusinessNumbers(dataSources[0]!);
  });

  afterEach(async () => {
    await Promise.all(dataSources.map((dataSource) => dataSource.destroy()));
    await database.drop();
  });

  const number = (manager: EntityManager, resetBy: ResetBy, more: object = {}): Promise<string> =>
    businessNumber(manager, TEMPLATE, { resetBy, at: new Date('2026-05-05'), ...more });

  it('gives no number twice: all of a series are of the one that began', async () => {
    for (let round = 0; round < 10; round++) {
      const per = `tenant ${round}`;
      const calls = Array.from({ length: 8 }, (_, index) =>
        transactionWithRetries(
          dataSources[index % 2]!,
          (manager) => number(manager, index % 2 === 0 ? 'year' : 'month', { per }),
          { attempts: 100 },
        ),
      );
      const outcomes = await Promise.allSettled(calls);
      const numbers = outcomes.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
      const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
      expect(numbers.sort()).toEqual([1, 2, 3, 4].map((value) => `INV-2026-05-${value}`));
      for (const error of refused) expect(error).toMatchObject(CHANGED);
    }
  });

  it('knows a series that was begun before there were such rows', async () => {
    const [dataSource] = dataSources as [DataSource];
    await dataSource.transaction((manager) => number(manager, 'year'));
    await dataSource.query(`DELETE FROM raindrop_business_number WHERE period = 'resets'`);
    for (let time = 0; time < 2; time++) {
      const refused = dataSource.transaction((manager) => number(manager, 'month'));
      await expect(refused).rejects.toMatchObject({ ...CHANGED, formerPeriod: '2026' });
    }
    expect(await dataSource.transaction((manager) => number(manager, 'year'))).toBe('INV-2026-05-2');
    const next = { at: new Date('2027-01-01') };
    expect(await dataSource.transaction((manager) => number(manager, 'year', next))).toBe('INV-2027-01-1');
  });

  if (kind === 'sqlite') return;

  describe('of two that begin a series at the same moment', () => {
    let runners: [QueryRunner, QueryRunner];

    beforeEach(() => {
      runners = dataSources.map((dataSource) => dataSource.createQueryRunner()) as typeof runners;
    });

    afterEach(async () => {
      for (const runner of runners) {
        if (runner.isTransactionActive) await runner.rollbackTransaction();
        await runner.release();
      }
    });

    const waits = (): Promise<void> =>
      until('the second to wait', async () => (await waitersOn(dataSources[0]!)) === 1).then(() => undefined);

    it('the second waits for the first, and is refused when that one commits', async () => {
      const [first, second] = runners;
      await first.startTransaction('READ COMMITTED');
      await second.startTransaction('READ COMMITTED');
      expect(await number(first.manager, 'year')).toBe('INV-2026-05-1');
      const waiting = number(second.manager, 'month');
      await waits();
      await first.commitTransaction();
      await expect(waiting).rejects.toMatchObject({ ...CHANGED, period: '2026-05', formerPeriod: '2026' });
      // Its transaction can go on.
      expect(await number(second.manager, 'year')).toBe('INV-2026-05-2');
      await second.commitTransaction();
    });

    it('the second begins it when the first one gives up', async () => {
      const [first, second] = runners;
      await first.startTransaction('READ COMMITTED');
      await second.startTransaction('READ COMMITTED');
      await number(first.manager, 'year');
      const waiting = number(second.manager, 'month');
      await waits();
      await first.rollbackTransaction();
      expect(await waiting).toBe('INV-2026-05-1');
      await second.commitTransaction();
      await expect(dataSources[0]!.transaction((manager) => number(manager, 'year'))).rejects.toMatchObject(CHANGED);
    });

    it('the second learns of the first although its snapshot is older', async () => {
      const [first, second] = runners;
      await second.startTransaction('REPEATABLE READ');
      await second.query('SELECT * FROM raindrop_business_number');
      await first.startTransaction('READ COMMITTED');
      await number(first.manager, 'year');
      await first.commitTransaction();
      const conflict = { errorCode: 'BUSINESS_NUMBER_CONFLICT' };
      await expect(number(second.manager, 'month')).rejects.toMatchObject(kind === 'postgres' ? conflict : CHANGED);
    });
  });
});
