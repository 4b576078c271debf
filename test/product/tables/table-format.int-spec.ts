import type { DataSource } from 'typeorm';
import { openAppSegmentStore, openSegmentStore } from '../../support/stores/open-segment-store.js';
import { openStore, takeRow } from '../../support/stores/open-store.js';
import { databaseKinds, type TestDatabase } from '../../support/servers/test-databases.js';
import { onFreshDatabase } from '../../support/stores/fresh-database.js';

/** What a release that comes after this one does to the tables. */
const LATER_FORMAT = 2;

describe.each(databaseKinds)('Tables of %s that a later release has changed', (kind) => {
  let database: TestDatabase;
  let admin: DataSource;
  const opened = onFreshDatabase(kind, (given, by) => ([database, admin] = [given, by]));

  /** There is a row where a server has been noted. */
  const change = async (table: string): Promise<void> => {
    const state = `${table}_state`;
    if ((await admin.query<unknown[]>(`SELECT id FROM ${state}`)).length === 0) {
      await admin.query(`INSERT INTO ${state} (id) VALUES (1)`);
    }
    await admin.query(`UPDATE ${state} SET format = ${LATER_FORMAT}`);
  };
  const refused = (table: string): object => ({
    errorCode: 'TABLE_FORMAT',
    retryable: false,
    table,
    format: LATER_FORMAT,
    known: 1,
    message: expect.stringContaining('Update Raindrop in this process.') as string,
  });

  it('refuse workers: those that start, and those that look again', async () => {
    const store = openStore(database.options);
    opened.push(store);
    await store.prepare({ min: 1, max: 3 });
    await store.readTable();
    await change('soc_raindrop_worker');
    await expect(store.readRow(1)).rejects.toMatchObject(refused('soc_raindrop_worker'));
    const next = openStore(database.options);
    opened.push(next);
    await next.prepare({ min: 1, max: 3 });
    await expect(takeRow(next, 1)).rejects.toMatchObject(refused('soc_raindrop_worker'));
  });

  it('refuse segments, from the moment that the rows are changed', async () => {
    const [codes, apps] = [openSegmentStore(database.options), openAppSegmentStore(database.options)];
    opened.push(codes, apps);
    await Promise.all([codes.prepare(), apps.prepare()]);
    await apps.registerApp(1, 'shop', '');
    const [code, shard] = [codes.source('order'), apps.source(1, 7)];
    await code.reserve({ above: 0n });
    await shard.reserve({ above: 0n });
    for (const table of ['raindrop_segment', 'raindrop_app_segment']) {
      await change(table);
      // So that no process continues with a row that it read before.
      await admin.query(`UPDATE ${table} SET epoch = epoch + 1`);
    }
    await expect(code.reserve({ above: 0n })).rejects.toMatchObject(refused('raindrop_segment'));
    await expect(shard.reserve({ above: 0n })).rejects.toMatchObject(refused('raindrop_app_segment'));
    const others = openSegmentStore(database.options);
    opened.push(others);
    await others.prepare();
    await expect(others.source('invoice').reserve({ above: 0n })).rejects.toMatchObject(refused('raindrop_segment'));
  });
});
