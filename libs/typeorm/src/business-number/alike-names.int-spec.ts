import { DataSource } from 'typeorm';
import { testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { businessNumberTableSql, segmentTableSql } from '@raindrop/node';
import { SqlSegmentStore } from '@raindrop/node/internal';
import { businessNumber } from './business-number.js';
import { sqlDatabase } from '../../../../test/support/stores/sql-database.js';

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
      ...{ tableName: 'raindrop_segment', autoCreateTable: false, autoCreateCode: true, defaultStep: 10 },
      ...{ opTimeoutMs: 5_000, skipAfterFailover: 0 },
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
