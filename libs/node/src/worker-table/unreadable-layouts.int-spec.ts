import { DataSource } from 'typeorm';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { openStore } from '../../../../test/support/stores/open-store.js';

const BYTES = {
  mariadb: ['ALTER TABLE soc_raindrop_worker_layout MODIFY fingerprint varbinary(160) NOT NULL'],
  mysql: ['ALTER TABLE soc_raindrop_worker_layout MODIFY fingerprint varbinary(160) NOT NULL'],
  postgres: [
    "ALTER TABLE soc_raindrop_worker_layout ALTER fingerprint TYPE bytea USING convert_to(fingerprint, 'UTF8')",
  ],
  sqlite: ['UPDATE soc_raindrop_worker_layout SET fingerprint = CAST(fingerprint AS BLOB)'],
};

describe.each(databaseKinds)('a remembered layout that %s gives as bytes', (kind) => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await testDatabase(kind);
  });

  afterEach(() => database.drop());

  // Left out without a word, it would let a layout in that repeats its IDs.
  it('is read or refused, never left out', async () => {
    const store = openStore(database.options);
    await store.prepare({ min: 1, max: 1 });
    await store.rememberLayout('other');
    const admin = await new DataSource(database.options).initialize();
    for (const sql of BYTES[kind]) await admin.query(sql);
    await admin.destroy();
    const request = { workers: { min: 1, max: 1 }, from: 1, atMost: 1, graceMs: 0 };
    const looks = [() => store.readTable(), () => store.readSample(request)];
    for (const look of looks) {
      const layouts = await look().then(
        (found) => found.layouts,
        () => ['refused'],
      );
      expect(layouts).toHaveLength(1);
    }
    await store.close();
  });
});
