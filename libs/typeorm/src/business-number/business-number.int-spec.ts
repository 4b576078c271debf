import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import {
  databaseKinds,
  kindsInTurn,
  testDatabase,
  type TestDatabase,
} from '../../../../test/support/servers/test-databases.js';
import { waitersOn } from '../../../../test/support/stores/lock-waiters.js';
import { until } from '../../../../test/support/until.js';
import { businessNumber } from './business-number.js';
import type { BusinessNumberOptions, ResetBy } from './business-number-options.js';
import { prepareBusinessNumbers } from './prepare-business-numbers.js';
import { transactionWithRetries } from './transaction-with-retries.js';

describe.each(kindsInTurn(__filename))('businessNumber() on %s', (kind) => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await testDatabase(kind);
    dataSource = await new DataSource(database.options).initialize();
    await prepareBusinessNumbers(dataSource);
  });

  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const number = (template: string, options?: BusinessNumberOptions): Promise<string> =>
    dataSource.transaction((manager) => businessNumber(manager, template, options));

  /** Leaves a row behind as many numbers would. */
  const count = (value: bigint): Promise<unknown> =>
    dataSource.query(`UPDATE raindrop_business_number SET value = ${value}`);

  it('counts from 1, or from start', async () => {
    expect(await number('INV-{seq:6}')).toBe('INV-000001');
    expect(await number('INV-{seq:6}')).toBe('INV-000002');
    expect(await number('INV-{seq:6}', { start: 500 })).toBe('INV-000003');
    expect(await number('ORD-{seq}', { start: 500 })).toBe('ORD-500');
    expect(await number('ORD-{seq}', { start: 500 })).toBe('ORD-501');
  });

  it('counts several in one transaction', async () => {
    const numbers = await dataSource.transaction(async (manager) => [
      await businessNumber(manager, '{seq}'),
      await businessNumber(manager, '{seq}'),
    ]);
    expect(numbers).toEqual(['1', '2']);
  });

  it('gives a number back with the rollback, of the first one too', async () => {
    for (const wanted of ['1', '2']) {
      await expect(rolledBack(dataSource, (manager) => businessNumber(manager, '{seq}'))).resolves.toBe(wanted);
      expect(await number('{seq}')).toBe(wanted);
    }
  });

  it('gives a number back with the rollback of a nested transaction', async () => {
    const numbers = await dataSource.transaction(async (manager) => {
      const outer = await businessNumber(manager, '{seq}');
      const undone = await rolledBack(manager, (nested) => businessNumber(nested, '{seq}'));
      const kept = await manager.transaction((nested) => businessNumber(nested, '{seq}'));
      return [outer, undone, kept, await businessNumber(manager, '{seq}')];
    });
    expect(numbers).toEqual(['1', '2', '2', '3']);
  });

  it('counts for each tenant and each series, told apart byte by byte', async () => {
    const names = ['acme', 'Acme', 'acmé', 'acme\u0301', 'ａｃｍｅ', '😀', '😁', 'a\'c"me', 'a\\'];
    for (const per of names) expect(await number('{seq}', { per })).toBe('1');
    for (const name of names) expect(await number('{seq}', { name })).toBe('1');
    for (const template of names) expect(await number(`${template}{seq}`)).toBe(`${template}1`);
    for (const per of names) expect(await number('{seq}', { per })).toBe('2');
    expect(await number('{seq}')).toBe('1');
  });

  it('starts anew in a new period, and goes on with the old one when the clock goes back', async () => {
    const options = { resetBy: 'day', timeZone: 'America/New_York' } as const;
    const at = (time: string): Promise<string> => number('{yyyy}{MM}{dd}-{seq}', { ...options, at: new Date(time) });
    expect(await at('2026-03-09T03:59:59Z')).toBe('20260308-1');
    expect(await at('2026-03-09T04:00:00Z')).toBe('20260309-1');
    expect(await at('2026-03-09T03:59:59Z')).toBe('20260308-2');
    expect(await at('2026-03-09T04:00:00Z')).toBe('20260309-2');
  });

  it('goes on under its name when the template gets another look', async () => {
    expect(await number('INV-{seq:4}', { name: 'invoices' })).toBe('INV-0001');
    expect(await number('{seq:6}/INV', { name: 'invoices' })).toBe('000002/INV');
  });

  it('is exact above 2^53, and ends at 2^63 - 1', async () => {
    await number('{seq}');
    await count(2n ** 53n);
    expect(await number('{seq}')).toBe('9007199254740993');
    expect(await number('{seq}')).toBe('9007199254740994');
    await count(2n ** 63n - 2n);
    expect(await number('{seq}')).toBe('9223372036854775807');
    await expect(number('{seq}')).rejects.toMatchObject({ errorCode: 'BUSINESS_NUMBERS_EXHAUSTED' });
  });

  it('refuses what no longer fits, consumes nothing, and lets the transaction go on', async () => {
    const request = (manager: EntityManager, width: number): Promise<string> =>
      businessNumber(manager, `{yyyy}-{seq:${width}}`, {
        name: 'n',
        resetBy: 'year',
        at: new Date('2026-05-05'),
        per: 't',
      });
    await dataSource.transaction((manager) => request(manager, 2));
    await count(98n);
    await dataSource.transaction(async (manager) => {
      expect(await request(manager, 2)).toBe('2026-99');
      const refusal = { errorCode: 'BUSINESS_NUMBERS_EXHAUSTED', series: 'n', per: 't', period: '2026', last: 99n };
      await expect(request(manager, 2)).rejects.toMatchObject(refusal);
      await expect(request(manager, 1)).rejects.toMatchObject({ last: 9n });
      expect(await request(manager, 3)).toBe('2026-100');
    });
    expect(await dataSource.transaction((manager) => request(manager, 3))).toBe('2026-101');
  });

  it('refuses another resetBy for a series that has numbers, whichever it was, and consumes nothing', async () => {
    const [template, at] = ['{yyyy}-{MM}-{seq}', new Date('2026-05-05')];
    for (const [former, other] of [
      ['year', 'month'],
      ['month', 'year'],
      ['never', 'year'],
      ['year', 'never'],
    ] as const) {
      const options = { name: `${former}-${other}`, at };
      expect(await number(template, { ...options, resetBy: former })).toBe('2026-05-1');
      await dataSource.transaction(async (manager) => {
        const request = (resetBy: typeof other): Promise<string> =>
          businessNumber(manager, template, { ...options, resetBy });
        await expect(request(other)).rejects.toMatchObject({ errorCode: 'NUMBER_RESET_CHANGED' });
        await expect(request(other)).rejects.toMatchObject({ errorCode: 'NUMBER_RESET_CHANGED' });
        expect(await request(former)).toBe('2026-05-2');
      });
      expect(await number(template, { ...options, resetBy: former, per: 'other' })).toBe('2026-05-1');
    }
  });

  it('refuses a manager that is in no transaction', async () => {
    const refusal = { errorCode: 'TRANSACTION_REQUIRED', why: 'none' };
    await expect(businessNumber(dataSource.manager, '{seq}')).rejects.toMatchObject(refusal);
    const runner = dataSource.createQueryRunner();
    await expect(businessNumber(runner.manager, '{seq}')).rejects.toMatchObject(refusal);
    await runner.startTransaction();
    expect(await businessNumber(runner.manager, '{seq}')).toBe('1');
    await runner.commitTransaction();
    await expect(businessNumber(runner.manager, '{seq}')).rejects.toMatchObject(refusal);
    await runner.release();
  });

  it.each(kind === 'sqlite' || kind === 'postgres' ? ['COMMIT'] : ['COMMIT', 'CREATE TABLE committing (id integer)'])(
    'refuses a transaction that the database has ended (%s), and consumes nothing',
    async (statement) => {
      const refusal = { errorCode: 'TRANSACTION_REQUIRED', why: 'ended' };
      for (const wanted of ['1', '2']) {
        const work = dataSource.transaction(async (manager) => {
          await manager.query(statement);
          await manager.query('DROP TABLE IF EXISTS committing');
          return businessNumber(manager, '{seq}');
        });
        await expect(work).rejects.toMatchObject(refusal);
        expect(await number('{seq}')).toBe(wanted);
      }
    },
  );

  it('names the ways to the table when it is missing', async () => {
    const work = dataSource.transaction((manager) => businessNumber(manager, '{seq}', { tableName: 'elsewhere' }));
    const error = await work.catch((caught: unknown) => caught as Error & { sql: string[] });
    expect(error).toMatchObject({ errorCode: 'TABLE_MISSING', kind: 'businessNumber', table: 'elsewhere' });
    expect((error as Error).message).toMatch(
      /prepareBusinessNumbers.*sql.*businessNumberTableSql.*businessNumberTableMigration/,
    );
    for (const statement of (error as { sql: string[] }).sql) await dataSource.query(statement);
    expect(await number('{seq}', { tableName: 'elsewhere' })).toBe('1');
    const nowhere = dataSource.transaction((manager) =>
      businessNumber(manager, '{seq}', { tableName: 'nowhere.numbers' }),
    );
    await expect(nowhere).rejects.toMatchObject({ errorCode: 'TABLE_MISSING' });
  });

  it('takes one statement, two for the first number of a period, and three for the first of a series', async () => {
    const number = (manager: EntityManager, year: string): Promise<string> =>
      businessNumber(manager, '{yyyy}-{seq}', { resetBy: 'year', at: new Date(year) });
    const statements: string[] = [];
    await dataSource.transaction(async (manager) => {
      const query = manager.queryRunner!.query.bind(manager.queryRunner);
      manager.queryRunner!.query = ((...parameters: Parameters<typeof query>) => {
        statements.push(parameters[0]);
        return query(...parameters);
      }) as typeof query;
      for (const [year, wanted] of [
        ['2026', 3],
        ['2026', 1],
        ['2027', 2],
        ['2027', 1],
      ] as const) {
        statements.length = 0;
        await number(manager, year);
        expect(statements).toHaveLength(wanted);
      }
      manager.queryRunner!.query = query;
    });
  });

  it('refuses bad input before it asks the database', async () => {
    await expect(number('{sequence}')).rejects.toMatchObject({ errorCode: 'INVALID_NUMBER_TEMPLATE', position: 0 });
    await expect(number('{seq}', { per: '' })).rejects.toMatchObject({ errorCode: 'CONFIGURATION' });
    await expect(number('{seq}', { tableName: 'a b' })).rejects.toMatchObject({ errorCode: 'INVALID_TABLE_NAME' });
  });
});

it.each(databaseKinds.filter((kind) => kind === 'mariadb' || kind === 'mysql'))(
  'driver settings for big numbers and character sets change nothing on %s',
  async (kind) => {
    const database = await testDatabase(kind);
    const rounding = {
      ...database.options,
      supportBigNumbers: false,
      bigNumberStrings: false,
      charset: 'LATIN1_SWEDISH_CI',
    };
    const dataSources = await Promise.all(
      [database.options, rounding as typeof database.options].map((options) => new DataSource(options).initialize()),
    );
    const [plain, odd] = dataSources as [DataSource, DataSource];
    await prepareBusinessNumbers(odd);
    const start = 2n ** 53n + 1n;
    const number = (dataSource: DataSource, per: string): Promise<string> =>
      dataSource.transaction((manager) => businessNumber(manager, '號{seq}', { per, start }));
    expect(await number(odd, '東')).toBe(`號${start}`);
    expect(await number(odd, '西')).toBe(`號${start}`);
    expect(await number(plain, '東')).toBe(`號${start + 1n}`);
    expect(await number(odd, '東')).toBe(`號${start + 2n}`);
    await Promise.all(dataSources.map((dataSource) => dataSource.destroy()));
    await database.drop();
  },
);

/** What the work gave, after its transaction was rolled back. */
async function rolledBack<T>(
  owner: Pick<DataSource | EntityManager, 'transaction'>,
  work: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  const done: T[] = [];
  const reason = new Error('rolled back');
  await expect(
    owner.transaction(async (manager) => {
      done.push(await work(manager));
      throw reason;
    }),
  ).rejects.toBe(reason);
  return done[0]!;
}

const TEMPLATE = 'INV-{yyyy}-{MM}-{seq}';

const CHANGED = { errorCode: 'NUMBER_RESET_CHANGED' };

describe.each(kindsInTurn(__filename))('a change of resetBy while old and new instances run, on %s', (kind) => {
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
