import { DataSource } from 'typeorm';
import { openIdService } from '../open-id-service.js';
import { testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';

const CODE = '\u6ce8\u6587';

describe('A code of letters that the database cannot store', () => {
  let database: TestDatabase;
  let admin: DataSource;
  afterEach(async () => {
    await admin.destroy();
    await database.drop();
  });

  const nextId = async (place: object): Promise<unknown> => {
    const ids = await openIdService({
      idMode: 'numberSection',
      tableName: 'raindrop_segment',
      dbConfig: place as never,
    });
    try {
      expect(await ids.nextIdAsync('order')).toBe(1n);
      return await ids.nextIdAsync(CODE);
    } finally {
      await ids.close();
    }
  };

  const refusal = { errorCode: 'UNSTORABLE_CODE', retryable: false, idCode: CODE };

  it('is refused on PostgreSQL in LATIN1', async () => {
    database = await testDatabase('postgres');
    admin = await new DataSource(database.options).initialize();
    const name = `${String(database.options.database)}_latin1`;
    await admin.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`);
    try {
      await expect(nextId({ ...database.options, database: name })).rejects.toMatchObject(refusal);
    } finally {
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    }
  });

  it('is refused on MariaDB by a column of latin1', async () => {
    database = await testDatabase('mariadb');
    admin = await new DataSource(database.options).initialize();
    const ids = await openIdService({
      idMode: 'numberSection',
      tableName: 'raindrop_segment',
      dbConfig: database.options as never,
    });
    await ids.close();
    await admin.query('ALTER TABLE raindrop_segment MODIFY code varchar(128) CHARACTER SET latin1 NOT NULL');
    await expect(nextId(database.options)).rejects.toMatchObject(refusal);
  });
});
