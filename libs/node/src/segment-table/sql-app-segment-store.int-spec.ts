import { DataSource } from 'typeorm';
import {
  describeAppSegmentStore,
  type AppSegmentStoreBench,
} from '../../../../test/proof/contract/app-segment-store.contract.js';
import { openAppSegmentStore } from '../../../../test/support/stores/open-segment-store.js';
import { databaseKinds, testDatabase, type DatabaseKind } from '../../../../test/support/servers/test-databases.js';
import type { SqlAppSegmentStore } from './sql-segment-store.js';

describe.each(databaseKinds)('on %s', (kind) => {
  describeAppSegmentStore(kind, () => makeBench(kind));

  // The original service's table; for SQLite and PostgreSQL what that would be.
  it("takes the original service's id_alloc, and adds a column to it", async () => {
    const database = await testDatabase(kind);
    const others = await new DataSource(database.options).initialize();
    const time = kind === 'sqlite' ? 'text' : kind === 'postgres' ? 'timestamp' : 'datetime';
    await others.query(`CREATE TABLE id_alloc (
      app_id int NOT NULL, shard_id int NOT NULL, app_name varchar(64) NOT NULL, max_id bigint NOT NULL DEFAULT 0,
      step int NOT NULL, max_limit_id bigint NOT NULL, description varchar(128), create_time ${time} NOT NULL,
      update_time ${time} NOT NULL, PRIMARY KEY (app_id, shard_id))`);
    await others.query(
      `INSERT INTO id_alloc VALUES (2, 3, 'old', 41000, 500, 0, NULL, '2024-05-06 07:08:09', '2024-05-06 07:08:09')`,
    );
    const store = openAppSegmentStore(database.options, { tableName: 'id_alloc' });
    await store.prepare();
    expect(await store.apps()).toEqual([{ id: 2, name: 'old', description: '' }]);
    expect(await store.source(2, 3).reserve({ above: 0n })).toEqual({ first: 41_001n, last: 41_500n, step: 500 });
    await expect(store.source(2, 4).reserve({ above: 0n })).rejects.toMatchObject({ errorCode: 'UNKNOWN_SHARD' });
    await store.registerApp(2, 'old', 'completed');
    expect(await store.source(2, 4).reserve({ above: 0n })).toEqual({ first: 1n, last: 1_000n, step: 1_000 });
    await store.close();
    await others.destroy();
    await database.drop();
  });

  it('refuses names that would be cut', async () => {
    const database = await testDatabase(kind);
    const store = openAppSegmentStore(database.options);
    await store.prepare();
    await store.registerApp(1, '𝄞'.repeat(128), 'é'.repeat(255));
    await expect(store.registerApp(1, 'x'.repeat(129), 'x'.repeat(256))).rejects.toMatchObject({
      errorCode: 'CONFIGURATION',
      problems: [{ option: 'name' }, { option: 'description' }],
    });
    await store.close();
    await database.drop();
  });
});

async function makeBench(kind: DatabaseKind): Promise<AppSegmentStoreBench> {
  const database = await testDatabase(kind);
  const others = await new DataSource(database.options).initialize();
  const stores: SqlAppSegmentStore[] = [];
  return {
    open: () => {
      const store = openAppSegmentStore(database.options);
      stores.push(store);
      return store;
    },
    change: async (app, shard, change) => {
      const changes = Object.entries(change).map(([column, value]) => `${column} = ${String(value)}`);
      await others.query(
        `UPDATE raindrop_app_segment SET ${changes.join(', ')} WHERE app_id = ${app} AND shard_id = ${shard}`,
      );
    },
    rowsOf: async (app) => {
      const sql = `SELECT COUNT(*) AS rows_found FROM raindrop_app_segment WHERE app_id = ${app}`;
      return Number((await others.query<{ rows_found: unknown }[]>(sql))[0]!.rows_found);
    },
    remove: async (app, shard) => {
      const more = shard === undefined ? '' : ` AND shard_id = ${shard}`;
      await others.query(`DELETE FROM raindrop_app_segment WHERE app_id = ${app}${more}`);
    },
    dispose: async () => {
      await Promise.all(stores.map((store) => store.close()));
      await others.destroy();
      await database.drop();
    },
  };
}
