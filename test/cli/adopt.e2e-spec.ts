import { NestFactory } from '@nestjs/core';
import { IdService, RaindropModule, type SnowflakeModuleOptions } from '@raindrop/nestjs';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource, type EntityTarget, type ObjectLiteral } from 'typeorm';
import { databaseUrl } from '../demo/demo-process.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../servers/test-databases.js';
import { NewLine, NewOrder, OldLine, OldOrder } from './adopted-entities.js';
import { raindrop, raindropJson, type CliResult } from './cli-process.js';
import { compiledMigration, typeErrors } from './compiled-migration.js';

// Every step starts a process.
jest.setTimeout(120_000);

interface Adoption {
  readonly type: string;
  readonly isGenerated: boolean;
  readonly highest: string;
  readonly references: readonly { readonly table: string; readonly column: string }[];
  readonly mustWiden: readonly string[];
  readonly firstNewId: string;
  readonly options: SnowflakeModuleOptions;
  readonly migration: string;
}

describe.each(databaseKinds)('raindrop adopt on %s', (kind) => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await testDatabase(kind);
  });

  afterEach(() => database.drop());

  async function using<T>(
    settings: { readonly entities: EntityTarget<ObjectLiteral>[]; readonly migration?: string; readonly create?: true },
    work: (dataSource: DataSource) => Promise<T>,
  ): Promise<T> {
    const { entities, migration, create } = settings;
    const dataSource = new DataSource({
      ...database.options,
      ...{ entities: entities as never, synchronize: create ?? false },
      migrations: migration === undefined ? [] : [compiledMigration(migration)],
    });
    await dataSource.initialize();
    try {
      return await work(dataSource);
    } finally {
      await dataSource.destroy();
    }
  }

  const before = { entities: [OldOrder, OldLine] };
  const after = { entities: [NewOrder, NewLine] };

  const createOldOrders = (): Promise<void> =>
    using({ ...before, create: true }, async (dataSource) => {
      const orders = dataSource.getRepository(OldOrder);
      const first = await orders.save({ title: 'first', lines: [{}, {}] });
      await orders.save({ title: 'second', previous: first, lines: [{}] });
    });

  const adopt = (...args: string[]): Promise<{ code: number | null; result: Adoption }> =>
    raindropJson<Adoption>(['adopt', '--url', databaseUrl(database.options), '--table', 'orders', ...args]);

  it('emits a migration after which new keys come from Raindrop and sort after the old ones', async () => {
    await createOldOrders();
    const { code, result } = await adopt();
    expect({ code, highest: result.highest, isGenerated: result.isGenerated }).toEqual({
      ...{ code: 0, highest: '2', isGenerated: true },
    });
    expect(result.references.map(({ table, column }) => `${table}.${column}`).sort()).toEqual([
      'order_lines.orderId',
      'orders.previousId',
    ]);
    expect([...result.mustWiden].sort()).toEqual(['order_lines.orderId', 'orders.id', 'orders.previousId']);
    expect(typeErrors(result.migration)).toEqual([]);
    // Dry: the database goes on as before.
    await using(before, (dataSource) => dataSource.getRepository(OldOrder).save({ title: 'third' }));

    const { migration, options } = result;
    await using({ ...after, migration }, async (dataSource) => {
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
    await using({ ...after, migration }, async (dataSource) => {
      await dataSource.runMigrations();
      await dataSource.query(`INSERT INTO orders (id, title) VALUES (${firstNewId}, 'new')`);
      if (kind === 'sqlite') {
        // TypeORM leaves foreign keys on in a transaction: the lines would be deleted with the table.
        await expect(dataSource.undoLastMigration()).rejects.toThrow('--transaction none');
      }
      await dataSource.undoLastMigration({ transaction: kind === 'sqlite' ? 'none' : 'all' });
    });
    await using(before, async (dataSource) => {
      await dataSource.query(`INSERT INTO orders (title) VALUES ('counted')`);
      const [row] = await dataSource.query<{ id: string | number }[]>(`SELECT id FROM orders WHERE title = 'counted'`);
      expect(BigInt(row!.id)).toBe(BigInt(firstNewId) + 1n);
      expect(await dataSource.getRepository(OldLine).count()).toBe(3);
    });
  });

  it('refuses to migrate when old keys have grown past the first new ID', async () => {
    await createOldOrders();
    await using({ entities: [] }, async (dataSource) => {
      const wide = kind === 'postgres' ? 'ALTER TABLE orders ALTER COLUMN id TYPE bigint' : undefined;
      if (wide !== undefined) await dataSource.query(wide);
    });
    const { migration, firstNewId } = (await adopt()).result;
    const isInt = kind === 'mariadb' || kind === 'mysql';
    const text = isInt ? migration.replaceAll(`${firstNewId}n`, '2n') : migration;
    await using({ ...after, migration: text }, async (dataSource) => {
      if (!isInt) await dataSource.query(`INSERT INTO orders (id, title) VALUES (${firstNewId}, 'grown')`);
      await expect(dataSource.runMigrations()).rejects.toThrow('run raindrop adopt again');
      expect(await dataSource.query<object[]>('SELECT id FROM order_lines')).toHaveLength(3);
    });
  });

  it('says what keeps it from a table', async () => {
    await using({ entities: [] }, async (dataSource) => {
      const top = '9200000000000000000';
      for (const sql of [
        'CREATE TABLE words (id varchar(36) NOT NULL PRIMARY KEY)',
        'CREATE TABLE full_up (id bigint NOT NULL PRIMARY KEY)',
        `INSERT INTO full_up (id) VALUES (${top})`,
        'CREATE TABLE half (id bigint NOT NULL PRIMARY KEY)',
        `INSERT INTO half (id) VALUES (4611686018427387904)`,
        'CREATE TABLE parts (id bigint NOT NULL PRIMARY KEY, CONSTRAINT f FOREIGN KEY (id) REFERENCES half (id))',
      ]) {
        await dataSource.query(sql);
      }
    });
    const url = databaseUrl(database.options);
    const run = (table: string, ...args: string[]): ReturnType<typeof raindrop> =>
      raindrop(['adopt', '--url', url, '--table', table, ...args]);
    const results = new Map<string, CliResult>();
    for (const table of ['words', 'full_up', 'half', 'parts', 'nowhere']) results.set(table, await run(table));
    results.set('key', await run('words', '--column', 'key'));
    const [words, full, half, parts, none, column] = [...results.values()];
    expect(words).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('only integer keys') as string,
    });
    expect(full).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('99 % are used up') as string });
    expect(parts).toMatchObject({ code: 1, stderr: expect.stringContaining('refers to half') as string });
    expect(half).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('all columns are bigint already') as string,
    });
    for (const missing of [none!, column!]) {
      expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no column') as string });
    }
  });
});

it('raindrop adopt writes the migration to a file that is not there yet', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-adopt-'));
  const database = await testDatabase('sqlite');
  try {
    const dataSource = await new DataSource({
      ...database.options,
      entities: [OldOrder, OldLine],
      synchronize: true,
    }).initialize();
    await dataSource.destroy();
    const file = join(directory, 'adopt-orders.ts');
    const args = ['adopt', '--url', databaseUrl(database.options), '--table', 'orders', '--write', file];
    expect(await raindrop(args)).toMatchObject({ code: 0, stdout: `${file}\n` });
    expect(typeErrors(readFileSync(file, 'utf8'))).toEqual([]);
    writeFileSync(file, 'mine');
    expect(await raindrop(args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is there already') as string,
    });
    expect(readFileSync(file, 'utf8')).toBe('mine');
    const nowhere = join(directory, 'none.sqlite');
    const { code } = await raindrop(['adopt', '--url', `sqlite:${nowhere}`, '--table', 'orders']);
    expect([code, existsSync(nowhere)]).toEqual([1, false]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
    await database.drop();
  }
});
