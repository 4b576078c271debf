import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { parseId, presets } from '@raindrop/core';
import { openIdService } from '@raindrop/node';
import { databaseIdMigration, workerTableMigration } from '@raindrop/typeorm';
import { SILENT } from '../../support/module/start-app.js';
import { testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';

const OPTIONS = { layout: presets.tsid({ nodeBits: 4 }) } as const;

/** The highest of 4 bits. */
const WORKER = 15;

class CreateOrders1767225600001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT raindrop_id(), n int)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE orders');
  }
}

class FillOrders1767225600002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('INSERT INTO orders (n) SELECT generate_series(1, 3)');
  }

  async down(): Promise<void> {}
}

describe('databaseIdMigration()', () => {
  let database: TestDatabase;
  const sources: DataSource[] = [];

  beforeEach(async () => {
    database = await testDatabase('postgres');
  });

  afterEach(async () => {
    await Promise.all(sources.splice(0).map((each) => each.destroy()));
    await database.drop();
  });

  async function open(migrations: readonly (new () => MigrationInterface)[], more: object = {}): Promise<DataSource> {
    const source = await new DataSource({ ...database.options, ...more, migrations: [...migrations] }).initialize();
    sources.push(source);
    return source;
  }

  it('makes the worker table and the function, alone or after the migration of the table', async () => {
    for (const before of [[], [workerTableMigration()]]) {
      const source = await open([...before, databaseIdMigration(OPTIONS), CreateOrders1767225600001]);
      const names = (await source.runMigrations()).map(({ name }) => name);
      expect(names).toContain('InstallDatabaseIds_raindrop_id_1704067204000');
      await source.query('INSERT INTO orders (n) VALUES (1)');
      const [row] = await source.query<{ id: string }[]>('SELECT id FROM orders');
      expect(parseId(OPTIONS.layout, row!.id).workerId).toBe(WORKER);
      expect((await source.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
      const ids = await openIdService({ ...OPTIONS, dbConfig: database.options, logger: SILENT });
      expect(parseId(ids.layout, ids.nextId()).workerId).not.toBe(WORKER);
      await ids.close();
      await source.query('DROP SCHEMA public CASCADE');
      await source.query('CREATE SCHEMA public');
    }
  });

  it("issues in later migrations of the same run only with 'each' or 'none', where it is committed by then", async () => {
    const migrations = [databaseIdMigration(OPTIONS), CreateOrders1767225600001, FillOrders1767225600002];
    const all = await open(migrations);
    await expect(all.runMigrations()).rejects.toMatchObject({ driverError: { code: 'RD001' } });
    const each = await open(migrations, { migrationsTransactionMode: 'each' });
    expect(await each.runMigrations()).toHaveLength(3);
    expect(await each.query('SELECT n FROM orders')).toHaveLength(3);
    const none = await open([
      databaseIdMigration(OPTIONS, { name: 'other_id', timestamp: 1767225600003, workerId: 3 }),
    ]);
    expect(await none.runMigrations({ transaction: 'none' })).toHaveLength(1);
  });

  it('is of the names, the worker id and the roles that are given, in the schema of the DataSource', async () => {
    const admin = await open([]);
    await admin.query('CREATE SCHEMA "shop"');
    const given = { name: 'next_id', workerId: 5, grantTo: ['pg_monitor'], timestamp: 1767225600000 } as const;
    const migration = databaseIdMigration({ ...OPTIONS, tableName: 'ids_worker' }, given);
    const source = await open([migration], { schema: 'shop' });
    expect((await source.runMigrations()).map(({ name }) => name)).toEqual([
      'InstallDatabaseIds_next_id_1767225600000',
    ]);
    const [found] = await admin.query<unknown[]>(
      `SELECT holder, has_function_privilege('pg_monitor', 'shop.next_id()', 'EXECUTE') AS may FROM shop.ids_worker WHERE id = 5`,
    );
    expect(found).toEqual({ holder: 'shop.next_id', may: true });
  });

  it('leaves by its down: the row stays, and no other function gets the worker id', async () => {
    const source = await open([databaseIdMigration(OPTIONS)], { migrationsTransactionMode: 'each' });
    await source.runMigrations();
    await source.query('CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT raindrop_id())');
    // Nothing loses its default without a word.
    await expect(source.undoLastMigration()).rejects.toMatchObject({ driverError: { code: '2BP01' } });
    await source.query('DROP TABLE orders');
    await source.undoLastMigration();
    const left = await source.query<unknown[]>(
      `SELECT proname AS name FROM pg_proc WHERE proname LIKE 'raindrop%' UNION ALL SELECT relname FROM pg_class WHERE relname LIKE 'raindrop_id%'`,
    );
    expect(left).toEqual([]);
    expect(await source.query(`SELECT code FROM soc_raindrop_worker WHERE id = ${WORKER}`)).toEqual([
      { code: 'database' },
    ]);
    await expect(source.runMigrations()).rejects.toMatchObject({ driverError: { code: 'RD002' } });
    const next = await open([databaseIdMigration(OPTIONS, { workerId: 14, timestamp: 1767225600000 })]);
    expect(await next.runMigrations()).toHaveLength(1);
  });

  it.each([
    [{ timestamp: 123 }, /timestamp = 123: must be Unix milliseconds of 13 digits/],
    [{ name: 'a-b' }, /name = "a-b": must be 'function' or 'schema.function'/],
    [{ workerId: 16 }, /workerId = 16: must be an integer from 0 to 15/],
  ])('is refused with %j when it is made', (given, message) => {
    expect(() => databaseIdMigration(OPTIONS, given)).toThrow(message);
  });

  it('is refused on other databases before anything is made', async () => {
    const sqlite = await testDatabase('sqlite');
    const source = await new DataSource({ ...sqlite.options, migrations: [databaseIdMigration(OPTIONS)] }).initialize();
    await expect(source.runMigrations()).rejects.toThrow(/databaseIdMigration\(\) is for PostgreSQL/);
    expect(await source.query("SELECT name FROM sqlite_master WHERE name LIKE '%worker%'")).toEqual([]);
    await source.destroy();
    await sqlite.drop();
  });
});
