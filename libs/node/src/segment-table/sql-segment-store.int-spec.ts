import { DataSource } from 'typeorm';
import { openAppSegmentStore, openSegmentStore } from '../../../../test/support/stores/open-segment-store.js';
import {
  describeSegmentStore,
  type SegmentStoreBench,
} from '../../../../test/proof/contract/segment-store.contract.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import {
  type AppSegmentStoreBench,
  describeAppSegmentStore,
} from '../../../../test/proof/contract/app-segment-store.contract.js';
import { onSharedDatabase, type SharedDatabase } from '../../../../test/support/stores/shared-database.js';
import { openIdService } from '../service/open-id-service.js';
import type { SqlAppSegmentStore, SqlSegmentStore } from './sql-segment-store.js';

describe.each(databaseKinds)('on %s', (kind) => {
  const database = onSharedDatabase(kind);
  describeSegmentStore(kind, () => Promise.resolve(makeBench(database)));
});

function makeBench({ options, admin, tableName: nameOf }: SharedDatabase): SegmentStoreBench {
  const stores: SqlSegmentStore[] = [];
  const tableName = nameOf('raindrop_segment');
  return {
    open: (settings) => {
      const store = openSegmentStore(options, { tableName, ...settings });
      stores.push(store);
      return store;
    },
    change: async (code, change) => {
      const changes = Object.entries(change).map(([column, value]) => `${column} = ${String(value)}`);
      await admin.query(`UPDATE ${tableName} SET ${changes.join(', ')} WHERE code = '${code}'`);
    },
    dispose: async () => {
      await Promise.all(stores.map((store) => store.close()));
    },
  };
}

describe('The store of application and shard', () => {
  describe.each(databaseKinds)('on %s', (kind) => {
    const shared = onSharedDatabase(kind);
    describeAppSegmentStore(kind, () => Promise.resolve(makeBench(shared)));

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

  function makeBench({ options, admin, tableName: nameOf }: SharedDatabase): AppSegmentStoreBench {
    const stores: SqlAppSegmentStore[] = [];
    const tableName = nameOf('raindrop_app_segment');
    return {
      open: () => {
        const store = openAppSegmentStore(options, { tableName });
        stores.push(store);
        return store;
      },
      change: async (app, shard, change) => {
        const changes = Object.entries(change).map(([column, value]) => `${column} = ${String(value)}`);
        await admin.query(
          `UPDATE ${tableName} SET ${changes.join(', ')} WHERE app_id = ${app} AND shard_id = ${shard}`,
        );
      },
      rowsOf: async (app) => {
        const sql = `SELECT COUNT(*) AS rows_found FROM ${tableName} WHERE app_id = ${app}`;
        return Number((await admin.query<{ rows_found: unknown }[]>(sql))[0]!.rows_found);
      },
      remove: async (app, shard) => {
        const more = shard === undefined ? '' : ` AND shard_id = ${shard}`;
        await admin.query(`DELETE FROM ${tableName} WHERE app_id = ${app}${more}`);
      },
      dispose: async () => {
        await Promise.all(stores.map((store) => store.close()));
      },
    };
  }
});

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
