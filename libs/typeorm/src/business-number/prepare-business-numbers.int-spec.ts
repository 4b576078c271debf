import { DataSource } from 'typeorm';
import { businessNumberTableSql, segmentTableSql, type SupportedDatabase } from '@raindrop/node';
import { SqlSegmentStore } from '@raindrop/node/internal';
import { limitedAccount, type ServerOptions } from '../../../../test/support/module/limited-account.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { expectSince } from '../../../../test/support/expect-since.js';
import { businessNumberTableMigration } from '../migrations/table-migrations.js';
import { sqlDatabase } from '../../../../test/support/stores/sql-database.js';
import { businessNumber } from './business-number.js';
import { prepareBusinessNumbers } from './prepare-business-numbers.js';

describe.each(databaseKinds)('the table of business numbers on %s', (kind) => {
  let database: TestDatabase;
  const opened: DataSource[] = [];

  beforeEach(async () => {
    database = await testDatabase(kind);
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((dataSource) => dataSource.destroy()));
    await database.drop();
  });

  async function open(more: object = {}): Promise<DataSource> {
    const dataSource = await new DataSource({ ...database.options, ...more }).initialize();
    opened.push(dataSource);
    return dataSource;
  }

  const number = (dataSource: DataSource, tableName?: string): Promise<string> =>
    dataSource.transaction((manager) => businessNumber(manager, '{seq}', { tableName }));

  it('is created by any number of processes at once, once', async () => {
    const dataSources = await Promise.all(Array.from({ length: 8 }, () => open()));
    await Promise.all(dataSources.map((dataSource) => prepareBusinessNumbers(dataSource)));
    expect(await number(dataSources[0]!)).toBe('1');
    await prepareBusinessNumbers(dataSources[1]!);
    expect(await number(dataSources[1]!)).toBe('2');
  });

  it('is created by a migration, which leaves an existing one alone, and dropped by its down', async () => {
    const migrations = [businessNumberTableMigration({ tableName: 'numbers' })];
    const dataSource = await open({ migrations });
    await prepareBusinessNumbers(dataSource, { tableName: 'numbers' });
    expect(await number(dataSource, 'numbers')).toBe('1');
    await dataSource.runMigrations();
    expect(await number(dataSource, 'numbers')).toBe('2');
    await dataSource.undoLastMigration();
    await expect(number(dataSource, 'numbers')).rejects.toMatchObject({ errorCode: 'TABLE_MISSING' });
    await dataSource.runMigrations();
    expect(await number(dataSource, 'numbers')).toBe('1');
  });

  it('is created by hand with businessNumberTableSql()', async () => {
    const dataSource = await open();
    for (const sql of businessNumberTableSql(dataSource.options.type as SupportedDatabase)) await dataSource.query(sql);
    expect(await number(dataSource)).toBe('1');
  });

  it('tells which numbers were given out, and when', async () => {
    const dataSource = await open();
    await prepareBusinessNumbers(dataSource);
    const before = Date.now();
    const options = { start: 7, per: 'acme', resetBy: 'month', at: new Date('2026-03-31') } as const;
    for (let index = 0; index < 3; index++) {
      await dataSource.transaction((manager) => businessNumber(manager, '{yyyy}{MM}-{seq}', options));
    }
    const [row] = await dataSource.query<Record<string, unknown>[]>(
      `SELECT * FROM raindrop_business_number WHERE period <> 'resets'`,
    );
    expect(row).toMatchObject({ series: '{yyyy}{MM}-{seq}', per: 'acme', period: '2026-03' });
    expect([Number(row!['start_value']), Number(row!['value'])]).toEqual([7, 9]);
    for (const time of [Number(row!['created_ms']), Number(row!['updated_ms'])]) {
      expectSince(before, time);
    }
    expect(Number(row!['updated_ms'])).toBeGreaterThanOrEqual(Number(row!['created_ms']));
  });

  if (kind !== 'sqlite') {
    it('is asked for when the account may not create it, and found when it is there', async () => {
      const account = await limitedAccount(kind, database.options as ServerOptions, 'secret');
      const [limited, admin] = [await open(account.options), await open()];
      const refused = await prepareBusinessNumbers(limited).catch((error: unknown) => error as { sql: string[] });
      expect(refused).toMatchObject({ errorCode: 'TABLE_MISSING' });
      for (const sql of refused!.sql) await admin.query(sql);
      await prepareBusinessNumbers(limited);
      await limited.destroy();
      opened.splice(opened.indexOf(limited), 1);
      await Promise.all(opened.splice(0).map((dataSource) => dataSource.destroy()));
      await database.drop();
      await account.drop();
    });
  }

  it('is not taken for the table of another program', async () => {
    const dataSource = await open();
    await dataSource.query('CREATE TABLE raindrop_business_number (id integer)');
    const error = await prepareBusinessNumbers(dataSource).catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      errorCode: 'NOT_OUR_TABLE',
      kind: 'businessNumber',
      table: 'raindrop_business_number',
      retryable: false,
      message: expect.stringMatching(
        /is not a table of business numbers: it lacks series, .*another tableName/,
      ) as string,
    });
  });
});

it('asks for an initialised DataSource, a supported database and a SQLite without a transaction', async () => {
  const database = await testDatabase('sqlite');
  const dataSource = new DataSource(database.options);
  await expect(prepareBusinessNumbers(dataSource)).rejects.toThrow('await dataSource.initialize() first');
  await dataSource.initialize();
  await dataSource.transaction(async () => {
    await expect(prepareBusinessNumbers(dataSource)).rejects.toThrow('call this before the first one');
  });
  await dataSource.destroy();
  await database.drop();
  expect(() => businessNumberTableSql('oracle' as SupportedDatabase)).toThrow("Supported are 'mysql', 'mariadb'");
  expect(() => businessNumberTableSql('postgres', 'a b')).toThrow('is not a table name');
  expect(() => businessNumberTableMigration({ timestamp: 5 })).toThrow('13 digits');
});

/** What a MySQL from before 8.0.17 reads: comments for later versions and for MariaDB are comments to it. */
const asOldMysql = (sql: string): string => sql.replaceAll(/\/\*(M!|!8).*?\*\//g, '');

describe('names that differ by case or accents only', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await testDatabase('mariadb');
    dataSource = await new DataSource(database.options).initialize();
  });

  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const number = (per: string): Promise<string> =>
    dataSource.transaction((manager) => businessNumber(manager, '{seq}', { per }));

  it('have numbers of their own on a MySQL before 8.0.17', async () => {
    for (const sql of businessNumberTableSql('mysql')) await dataSource.query(asOldMysql(sql));
    for (const per of ['acme', 'Acme', 'acmé']) expect(await number(per)).toBe('1');
    for (const per of ['acme', 'Acme', 'acmé']) expect(await number(per)).toBe('2');
  });

  it('have segments of their own there', async () => {
    for (const sql of segmentTableSql('mysql')) await dataSource.query(asOldMysql(sql));
    const store = new SqlSegmentStore(sqlDatabase(database.options), {
      tableName: 'raindrop_segment',
      autoCreateTable: false,
      autoCreateCode: true,
      defaultStep: 10,
      opTimeoutMs: 5_000,
      skipAfterFailover: 0,
    });
    for (const code of ['order', 'Order']) {
      expect(await store.source(code).reserve({ above: 0n })).toMatchObject({ first: 1n, last: 10n });
    }
    await store.close();
  });

  it('are refused by a table whose collation takes one for the other, and nothing is consumed', async () => {
    for (const sql of businessNumberTableSql('mysql')) {
      await dataSource.query(asOldMysql(sql).replaceAll('utf8mb4_bin', 'utf8mb4_general_ci'));
    }
    expect(await number('acme')).toBe('1');
    const refusal = await number('Acme').catch((error: unknown) => error as Error);
    expect(refusal).toMatchObject({ errorCode: 'CONFIGURATION' });
    expect((refusal as Error).message).toMatch(/'Acme'.*ALTER TABLE `raindrop_business_number` MODIFY `series`/);
    expect(await number('acme')).toBe('2');
    // The statement that the message names.
    await dataSource.query(/ALTER TABLE [^;]*/.exec((refusal as Error).message)![0]);
    expect(await number('Acme')).toBe('1');
    expect(await number('acme')).toBe('3');
  });
});
