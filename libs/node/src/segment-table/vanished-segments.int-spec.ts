import { DataSource } from 'typeorm';
import { openAppSegmentStore, openSegmentStore } from '../../../../test/support/stores/open-segment-store.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';

describe.each(databaseKinds)('A table of segments on %s that was dropped', (kind) => {
  let database: TestDatabase;
  let admin: DataSource;

  beforeEach(async () => {
    database = await testDatabase(kind);
    admin = await new DataSource(database.options).initialize();
  });

  afterEach(async () => {
    await admin.destroy();
    await database.drop();
  });

  it.each([
    { table: 'raindrop_segment', open: openSegmentStore },
    { table: 'raindrop_app_segment', open: openAppSegmentStore },
  ])('$table is not made anew beside its state, of numbers that begin at 1', async ({ table, open }) => {
    const before = open(database.options);
    await before.prepare();
    await admin.query(`DROP TABLE ${table}`);
    const after = open(database.options);
    // Its statements would begin at 1.
    const refusal = { errorCode: 'TABLE_MISSING', retryable: false, table, missing: [table], sql: [] };
    await expect(after.prepare()).rejects.toMatchObject(refusal);
    await expect(after.prepare()).rejects.toThrow(`drop ${table}_state as well`);
    await admin.query(`DROP TABLE ${table}_state`);
    await after.prepare();
    await Promise.all([before.close(), after.close()]);
  });

  it('hands out what was reserved, and then waits for it', async () => {
    const store = openSegmentStore(database.options);
    await store.prepare();
    const source = store.source('orders');
    await source.reserve({ count: 10, above: 0n });
    await admin.query('DROP TABLE raindrop_segment');
    await expect(source.reserve({ count: 10, above: 10n })).rejects.toMatchObject({
      errorCode: 'SEGMENT_STORE_UNAVAILABLE',
      retryable: true,
    });
    await store.close();
  });

  if (kind === 'mariadb') {
    it('is not taken for dropped by an account that may not use it', async () => {
      const store = openSegmentStore(database.options);
      await store.prepare();
      const name = String(database.options.database);
      const account = `poor_${name.slice(-8)}`;
      await admin.query(`CREATE USER ${account}@'%' IDENTIFIED BY 'p'`);
      await admin.query(`GRANT SELECT, INSERT, UPDATE ON ${name}.raindrop_segment_state TO ${account}@'%'`);
      const poor = openSegmentStore({ ...database.options, username: account, password: 'p' } as never);
      const refusal = { retryable: false, errorCode: 'DATABASE_REFUSED' };
      await expect(poor.prepare()).rejects.toMatchObject(refusal);
      await Promise.all([store.close(), poor.close()]);
      await admin.query(`DROP USER ${account}@'%'`);
    });
  }
});
