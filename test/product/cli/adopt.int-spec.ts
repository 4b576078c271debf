import { NestFactory } from '@nestjs/core';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseUrl } from '../service/service-process.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { NewLine, NewOrder, OldLine, OldOrder } from './adopted-entities.js';
import { using, type Adoption } from './adoption.js';
import { jsonHere, raindropHere } from './cli-in-process.js';
import { typeErrors } from './compiled-migration.js';

/** Compiled at the end, together. */
const migrations: string[] = [];

describe.each(databaseKinds)('raindrop adopt on %s', (kind) => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await testDatabase(kind);
  });

  afterEach(() => database.drop());

  const before = { entities: [OldOrder, OldLine] };
  const after = { entities: [NewOrder, NewLine] };

  const createOldOrders = (): Promise<void> =>
    using(database, { ...before, create: true }, async (dataSource) => {
      const orders = dataSource.getRepository(OldOrder);
      const first = await orders.save({ title: 'first', lines: [{}, {}] });
      await orders.save({ title: 'second', previous: first, lines: [{}] });
    });

  const adopt = (...args: string[]): Promise<{ code: number | null; result: Adoption }> =>
    jsonHere<Adoption>(['adopt', '--url', databaseUrl(database.options), '--table', 'orders', ...args]);

  it('emits a migration after which new keys come from Raindrop and sort after the old ones', async () => {
    await createOldOrders();
    const { code, result } = await adopt();
    expect({ code, highest: result.highest, isGenerated: result.keys[0]!.isGenerated }).toEqual({
      code: 0,
      highest: '2',
      isGenerated: true,
    });
    expect(result.references.map(({ table, column }) => `${table}.${column}`).sort()).toEqual([
      'order_lines.orderId',
      'orders.previousId',
    ]);
    expect([...result.mustWiden].sort()).toEqual(['order_lines.orderId', 'orders.id', 'orders.previousId']);
    migrations.push(result.migration);
    // Dry: the database goes on as before.
    await using(database, before, (dataSource) => dataSource.getRepository(OldOrder).save({ title: 'third' }));

    const { migration, options } = result;
    await using(database, { ...after, migration }, async (dataSource) => {
      await dataSource.runMigrations();
      const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
      expect(upQueries.map(({ query }) => query)).toEqual([]);

      const imported = RaindropModule.forRoot({ ...options, dbConfig: database.options, checkShutdownHooks: false });
      const app = await NestFactory.createApplicationContext(imported, { logger: false });
      try {
        app.get(IdService).attach(dataSource);
        const orders = dataSource.getRepository(NewOrder);
        const second = await orders.findOneByOrFail({ title: 'second' });
        const fresh = await orders.save(
          orders.create({ title: 'new', previous: second, lines: [new NewLine(), new NewLine()] }),
        );
        expect(BigInt(fresh.id)).toBeGreaterThanOrEqual(BigInt(result.firstNewId));

        const all = await orders.find({ order: { id: 'ASC' }, relations: { lines: true, previous: true } });
        expect(all.map(({ title, lines, previous }) => [title, lines.length, previous?.title])).toEqual([
          ['first', 2, undefined],
          ['second', 1, 'first'],
          ['third', 0, undefined],
          ['new', 2, 'second'],
        ]);
        expect(all.map(({ id }) => id)).toEqual(['1', '2', '3', fresh.id]);
        // The foreign key is there, and cascades.
        await expect(dataSource.query(`DELETE FROM orders WHERE title = 'first'`)).rejects.toThrow(/foreign key/i);
        await orders.delete({ id: fresh.id });
        expect(await dataSource.getRepository(NewLine).count()).toBe(3);
      } finally {
        await app.close();
      }
    });
  });

  it('goes back to keys of the database, which go on after the largest', async () => {
    await createOldOrders();
    const { migration, firstNewId } = (await adopt()).result;
    await using(database, { ...after, migration }, async (dataSource) => {
      await dataSource.runMigrations();
      await dataSource.query(`INSERT INTO orders (id, title) VALUES (${firstNewId}, 'new')`);
      if (kind === 'sqlite') {
        // TypeORM leaves foreign keys on in a transaction: the lines would be deleted with the table.
        await expect(dataSource.undoLastMigration()).rejects.toThrow('--transaction none');
      }
      await dataSource.undoLastMigration({ transaction: kind === 'sqlite' ? 'none' : 'all' });
    });
    await using(database, before, async (dataSource) => {
      await dataSource.query(`INSERT INTO orders (title) VALUES ('counted')`);
      const [row] = await dataSource.query<{ id: string | number }[]>(`SELECT id FROM orders WHERE title = 'counted'`);
      expect(BigInt(row!.id)).toBe(BigInt(firstNewId) + 1n);
      expect(await dataSource.getRepository(OldLine).count()).toBe(3);
    });
  });

  it('refuses to migrate when old keys have grown past the first new ID', async () => {
    await createOldOrders();
    await using(database, { entities: [] }, async (dataSource) => {
      const wide = kind === 'postgres' ? 'ALTER TABLE orders ALTER COLUMN id TYPE bigint' : undefined;
      if (wide !== undefined) await dataSource.query(wide);
    });
    const { migration, firstNewId } = (await adopt()).result;
    const isInt = kind === 'mariadb' || kind === 'mysql';
    const text = isInt ? migration.replaceAll(`${firstNewId}n`, '2n') : migration;
    await using(database, { ...after, migration: text }, async (dataSource) => {
      if (!isInt) await dataSource.query(`INSERT INTO orders (id, title) VALUES (${firstNewId}, 'grown')`);
      await expect(dataSource.runMigrations()).rejects.toThrow('run raindrop adopt again');
      expect(await dataSource.query<object[]>('SELECT id FROM order_lines')).toHaveLength(3);
    });
  });
});

it('raindrop adopt writes the migration to a new file, whose folders it makes', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-adopt-'));
  const database = await testDatabase('sqlite');
  try {
    await using(database, { entities: [OldOrder, OldLine], create: true }, (): Promise<void> => Promise.resolve());
    const file = join(directory, 'src/migrations/adopt-orders.ts');
    const args = ['adopt', '--url', databaseUrl(database.options), '--table', 'orders', '--write', file];
    expect(await raindropHere(args)).toMatchObject({ code: 0, stdout: `${file}\n` });
    migrations.push(readFileSync(file, 'utf8'));
    writeFileSync(file, 'mine');
    expect(await raindropHere(args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('exists already') as string,
    });
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect(await raindropHere([...args.slice(0, -1), join(file, 'inside.ts')])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--write .*inside\.ts: mkdir failed with (EEXIST|ENOTDIR)/) as string,
    });
    const nowhere = join(directory, 'none.sqlite');
    const { code } = await raindropHere(['adopt', '--url', `sqlite:${nowhere}`, '--table', 'orders']);
    expect([code, existsSync(nowhere)]).toEqual([1, false]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
    await database.drop();
  }
});

it('the migrations are TypeScript that a strict compiler takes', () => {
  // Two of SQLite, and one of each other database that is here.
  expect(migrations.length).toBeGreaterThanOrEqual(2);
  expect(typeErrors(migrations)).toEqual([]);
});
