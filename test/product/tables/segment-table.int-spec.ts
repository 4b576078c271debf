import { DataSource, type DataSourceOptions } from 'typeorm';
import { openAppSegmentStore, openSegmentStore } from '../../support/stores/open-segment-store.js';
import { limitedAccount, type ServerOptions } from '../../support/module/limited-account.js';
import { kindsInTurn, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import {
  type SupportedDatabase,
  InvalidTableNameError,
  TableMissingError,
  appSegmentTableSql,
  segmentTableSql,
} from '@raindrop/node';
import { appSegmentTableMigration, segmentTableMigration } from '@raindrop/typeorm';
import { onFreshDatabase } from '../../support/stores/fresh-database.js';

/** Both tables, and what makes and uses them. */
const TABLES = [
  {
    table: 'raindrop_segment',
    sqlOf: segmentTableSql,
    open: openSegmentStore,
    use: async (store: ReturnType<typeof openSegmentStore>) => {
      await store.prepare();
      return (await store.source('orders').reserve({ above: 0n })).last;
    },
  },
  {
    table: 'raindrop_app_segment',
    sqlOf: appSegmentTableSql,
    open: openAppSegmentStore,
    use: async (store: ReturnType<typeof openAppSegmentStore>) => {
      await store.prepare();
      await store.registerApp(1, 'shop', '');
      return (await store.source(1, 2).reserve({ above: 0n })).last;
    },
  },
] as const;

interface Closable {
  prepare(): Promise<void>;
  close(): Promise<void>;
}

describe.each(kindsInTurn(__filename))('on %s the table', (kind) => {
  let database: TestDatabase;
  let admin: DataSource;
  const stores = onFreshDatabase(kind, (...given) => ([database, admin] = given));

  const type = (): SupportedDatabase => admin.options.type as SupportedDatabase;

  async function runAll(statements: readonly string[]): Promise<void> {
    for (const statement of statements) await admin.query(statement);
  }

  describe.each(TABLES)('$table', ({ table, sqlOf, open, use }) => {
    function opened(options: { tableName?: string; autoCreateTable?: boolean } = {}): Closable {
      const store = open(database.options, options);
      stores.push(store);
      return store;
    }

    const used = (store: Closable): Promise<bigint> => use(store as never);

    it('can be created by hand, after which no rights to create are needed', async () => {
      await runAll(sqlOf(type()));
      expect(await used(opened({ autoCreateTable: false }))).toBe(1_000n);
      // The statements may be run again.
      await runAll(sqlOf(type()));
      expect(await used(opened())).toBe(2_000n);
    });

    it('is missing with an error that carries the statements, when it may not be created', async () => {
      const store = opened({ autoCreateTable: false });
      const error = await store.prepare().catch((reason: unknown) => reason);
      if (!(error instanceof TableMissingError)) throw new Error('prepare should have failed');
      expect(error).toMatchObject({ errorCode: 'TABLE_MISSING', retryable: false, table });
      expect(error.message).toMatch(/autoCreateTable is false.*egmentTableSql\(\).*egmentTableMigration\(\)/);
      await runAll(error.sql);
      expect(await used(store)).toBe(1_000n);
    });

    it("is not touched when it is somebody else's", async () => {
      await admin.query(`CREATE TABLE ${table} (code varchar(9) PRIMARY KEY, step int)`);
      await expect(opened().prepare()).rejects.toMatchObject({
        errorCode: 'NOT_OUR_TABLE',
        retryable: false,
        missingColumns: expect.arrayContaining(['max_id', 'max_limit_id']) as string[],
      });
    });

    it('may have a long name, and be in a schema that its name says', async () => {
      const server = String(database.options.database);
      const schema = { sqlite: 'main', postgres: 'apart', mariadb: server, mysql: server }[kind];
      if (kind === 'postgres') await admin.query('CREATE SCHEMA apart');
      const tableName = `${schema}.${'x'.repeat(63)}`;
      expect(await used(opened({ tableName }))).toBe(1_000n);
      await runAll(sqlOf(type(), tableName));
      expect(await used(opened({ tableName, autoCreateTable: false }))).toBe(2_000n);
      expect(() => opened({ tableName: 'a; b' })).toThrow(InvalidTableNameError);
    });

    it('has the columns that the documentation names, with their defaults', async () => {
      await used(opened());
      const key = table === 'raindrop_segment' ? { code: "'x'" } : { app_id: 5, shard_id: 6 };
      await admin.query(
        `INSERT INTO ${table} (${Object.keys(key).join(', ')}) VALUES (${Object.values(key).join(', ')})`,
      );
      const condition = Object.entries(key).map(([column, value]) => `${column} = ${value}`);
      const [row] = await admin.query<Record<string, unknown>[]>(
        `SELECT * FROM ${table} WHERE ${condition.join(' AND ')}`,
      );
      const own =
        table === 'raindrop_segment' ? { code: 'x', version: '0' } : { app_id: '5', shard_id: '6', app_name: '' };
      const texts = Object.fromEntries(Object.entries(row!).map(([column, value]) => [column, String(value)]));
      expect(texts).toEqual({
        ...own,
        max_id: '0',
        step: '1000',
        max_limit_id: '0',
        description: '',
        epoch: '0',
        create_time: expect.stringMatching(/\d/) as string,
        update_time: expect.stringMatching(/\d/) as string,
      });
    });
  });

  it('comes and goes with a migration, and is no difference to TypeORM', async () => {
    const migrations = [segmentTableMigration(), appSegmentTableMigration()];
    const source = await new DataSource({ ...database.options, migrations }).initialize();
    expect((await source.runMigrations()).map(({ name }) => name)).toEqual([
      'CreateSegmentTable_raindrop_segment_1704067200000',
      'CreateAppSegmentTable_raindrop_app_segment_1704067201000',
    ]);
    const [codes, apps] = [
      openSegmentStore(database.options, { autoCreateTable: false }),
      openAppSegmentStore(database.options, { autoCreateTable: false }),
    ];
    stores.push(codes, apps);
    await Promise.all([codes.prepare(), apps.prepare()]);
    expect((await source.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
    await source.undoLastMigration();
    await expect(apps.prepare()).rejects.toMatchObject({ errorCode: 'TABLE_MISSING' });
    await codes.prepare();
    await source.destroy();
  });
});

describe.each(kindsInTurn(__filename))('on %s a migration', (kind) => {
  it('refuses a table that is not ours, and is not noted as run', async () => {
    const database = await testDatabase(kind);
    const source = await new DataSource({ ...database.options, migrations: [segmentTableMigration()] }).initialize();
    await source.query('CREATE TABLE raindrop_segment (code varchar(9) PRIMARY KEY)');
    const printed = jest.spyOn(console, 'log').mockImplementation();
    await expect(source.runMigrations()).rejects.toMatchObject({ errorCode: 'NOT_OUR_TABLE', kind: 'segment' });
    printed.mockRestore();
    expect(await source.showMigrations()).toBe(true);
    await source.destroy();
    await database.drop();
  });
});

describe.each(kindsInTurn(__filename).filter((kind) => kind !== 'sqlite'))(
  'an account without rights on %s',
  (kind) => {
    it('is told which statements somebody has to run for it', async () => {
      const database = await testDatabase(kind);
      const account = await limitedAccount(kind, database.options as ServerOptions, 'of-no-worth');
      const store = openSegmentStore(account.options);
      await expect(store.prepare()).rejects.toMatchObject({
        errorCode: 'TABLE_MISSING',
        message: expect.stringContaining('its account may not create it') as string,
        sql: segmentTableSql(account.options.type),
      });
      const admin = await new DataSource(database.options).initialize();
      for (const statement of segmentTableSql(account.options.type)) await admin.query(statement);
      if (kind === 'postgres') await admin.query(`GRANT SELECT ON raindrop_segment TO ${account.options.username}`);
      // It may read the table, and no more.
      await store.prepare();
      await expect(store.source('orders').reserve({ above: 0n })).rejects.toMatchObject({
        errorCode: 'DATABASE_REFUSED',
        refusal: 'rights',
        retryable: false,
      });
      await store.close();
      await admin.destroy();
      await database.drop();
      await account.drop();
    });
  },
);

describe('the migrations', () => {
  it.each([123, 1_704_067_200_000.5, Number.NaN])('refuse the timestamp %p', (timestamp) => {
    expect(() => segmentTableMigration({ timestamp })).toThrow(/must be Unix milliseconds of 13 digits/);
    expect(() => appSegmentTableMigration({ timestamp })).toThrow(/must be Unix milliseconds of 13 digits/);
  });
});

describe("PostgreSQL's schema option", () => {
  it('is where the table is, as it is for the entities', async () => {
    const database = await testDatabase('postgres');
    const admin = await new DataSource(database.options).initialize();
    await admin.query('CREATE SCHEMA "my-app"');
    const store = openSegmentStore({ ...database.options, schema: 'my-app' } as DataSourceOptions);
    await store.prepare();
    await store.source('orders').reserve({ above: 0n });
    expect(await admin.query('SELECT max_id FROM "my-app".raindrop_segment')).toEqual([{ max_id: '1000' }]);
    await store.close();
    await admin.destroy();
    await database.drop();
  });
});
