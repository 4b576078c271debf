import { createLayout } from '@raindrop/core';
import { GeneratedSnowflake } from '@raindrop/nestjs/typeorm';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { Column, DataSource, Entity, EntitySchema, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { OPTIONS, startApp, typeorm } from '../../support/module/module-fixture.js';
import { databaseKinds, testDatabase, type DatabaseKind } from '../../support/servers/test-databases.js';
import { expectSince } from '../../support/expect-since.js';
import { DOCUMENTS } from './documents.js';
import { readDocument, runBlock, typescriptBlocks } from './typescript-blocks.js';

const GUIDE = readDocument('docs/migration.md');
const [above] = typescriptBlocks(GUIDE);
const LEAF = readDocument('docs/coming-from/leaf.md');
const sqlOf = (text: string): string[] => [...text.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, sql]) => sql!);
const [widenMysql, widenPostgres] = sqlOf(GUIDE);
const [fromLeaf] = sqlOf(LEAF);

@Entity('orders')
class OldOrder {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'varchar', length: 20 })
  customer!: string;
}

@Entity('items')
class OldItem {
  @PrimaryGeneratedColumn()
  id!: number;

  @ManyToOne(() => OldOrder)
  order!: OldOrder;
}

@Entity('orders')
class Order {
  @GeneratedSnowflake()
  id!: string;

  @Column({ type: 'varchar', length: 20 })
  customer!: string;
}

const servers = databaseKinds.filter((kind) => kind !== 'sqlite');
const isMysql = (kind: DatabaseKind): boolean => kind === 'mysql' || kind === 'mariadb';

/** An application with auto-increment keys; the work is done on its database when it has one order, of the key 1. */
async function withOldOrder(
  kind: DatabaseKind,
  entities: NonNullable<ConstructorParameters<typeof DataSource>[0]['entities']>,
  work: (old: DataSource, options: ConstructorParameters<typeof DataSource>[0]) => Promise<void>,
): Promise<void> {
  const database = await testDatabase(kind);
  const old = await new DataSource({ ...database.options, entities, synchronize: true }).initialize();
  try {
    expect(await old.getRepository(OldOrder).save({ customer: 'Ada' })).toMatchObject({ id: 1 });
    await work(old, database.options);
  } finally {
    if (old.isInitialized) await old.destroy();
    await database.drop();
  }
}

describe('From auto-increment', () => {
  it('says whether the first ID lies above the largest key', () => {
    const { isAbove } = runBlock(above!, {}) as {
      isAbove: (ids: Pick<IdService, 'layout'>, largest: string) => boolean;
    };
    const ids = {
      layout: createLayout({ startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10 }, Date.now()),
    };
    expect(['2147483648', String(2n ** 62n)].map((largest) => isAbove(ids, largest))).toEqual([true, false]);
  });

  it.each(databaseKinds)('new rows on %s get larger keys beside the old ones', async (kind) => {
    await withOldOrder(kind, [OldOrder], async (old, options) => {
      if (isMysql(kind)) await old.query(widenMysql!);
      if (kind === 'postgres') await old.query(widenPostgres!);
      await old.destroy();
      const app = await startApp([typeorm({ ...options, entities: [Order] }), RaindropModule.forRoot(OPTIONS)]);
      const orders = app.get(DataSource).getRepository(Order);
      const before = Date.now();
      await orders.save({ customer: 'Grace' });
      const found = await orders.find({ order: { id: 'ASC' } });
      expect(found.map(({ customer }) => customer)).toEqual(['Ada', 'Grace']);
      expect(found[0]!.id).toBe('1');
      expectSince(before, app.get(IdService).parse(found[1]!.id).time.getTime());
      await app.close();
    });
  });

  it.each(databaseKinds)('synchronize: true on %s is refused, as the page shows', async (kind) => {
    await withOldOrder(kind, [OldOrder], async (old, options) => {
      await old.getRepository(OldOrder).save({ customer: 'Grace' });
      await old.getRepository(OldOrder).save({ customer: 'Joan' });
      const source = new DataSource({ ...options, entities: [Order], synchronize: true });
      const error: unknown = await source.initialize().catch((reason: unknown) => reason);
      expect(error).toMatchObject({ errorCode: 'UNMIGRATED_TABLE' });
      if (isMysql(kind)) expect(GUIDE).toContain((error as Error).message);
      const keys = await old.query<{ id: unknown }[]>('SELECT * FROM orders ORDER BY id');
      expect(keys.map(({ id }) => Number(id))).toEqual([1, 2, 3]);
    });
  });

  it.each(servers)('synchronize: true on %s changes nothing after the migration', async (kind) => {
    await withOldOrder(kind, [OldOrder], async (old, options) => {
      if (isMysql(kind)) await old.query(widenMysql!);
      if (kind === 'postgres') await old.query(widenPostgres!);
      const source = await new DataSource({ ...options, entities: [Order] }).initialize();
      const { upQueries } = await source.driver.createSchemaBuilder().log();
      await source.destroy();
      expect(upQueries.map(({ query }) => query)).toEqual([]);
    });
  });

  it.each(servers)('keys of %s that foreign keys name are changed, or refuse, as it says', async (kind) => {
    await withOldOrder(kind, [OldOrder, OldItem], async (old) => {
      if (isMysql(kind)) await expect(old.query(widenMysql!)).rejects.toThrow(/foreign key/i);
      else await old.query(widenPostgres!);
    });
  });

  it.each(databaseKinds)('the old version on %s goes on with its own keys, or behind the large one', async (kind) => {
    await withOldOrder(kind, [OldOrder], async (old) => {
      if (isMysql(kind)) await old.query(`${widenMysql!} AUTO_INCREMENT`);
      if (kind === 'postgres') await old.query(widenPostgres!.replace(/,[^,]*DROP DEFAULT/, ''));
      await old.query(`INSERT INTO orders (id, customer) VALUES (30077675337940996, 'Grace')`);
      await old.query(`INSERT INTO orders (customer) VALUES ('Linus')`);
      const found: unknown = await old.query(
        `SELECT CAST(id AS CHAR(20)) AS "key" FROM orders WHERE customer = 'Linus'`,
      );
      expect((found as [{ key: string }])[0].key.trim()).toBe(kind === 'postgres' ? '2' : '30077675337940997');
    });
  });
});

it.each(databaseKinds)('the rows of Leaf go on in %s behind its numbers', async (kind) => {
  const leaf = new EntitySchema({
    name: 'leaf_alloc',
    columns: {
      biz_tag: { type: String, length: 128, primary: true },
      max_id: { type: 'bigint', default: 1 },
      step: { type: 'int' },
      description: { type: String, length: 256, nullable: true },
    },
  });
  const database = await testDatabase(kind);
  const source = await new DataSource({ ...database.options, entities: [leaf], synchronize: true }).initialize();
  const rows = { biz_tag: 'order', max_id: '4001', step: 2_000 };
  await source.getRepository(leaf).insert([rows, { ...rows, biz_tag: 'ticket', description: 'at the desk' }]);
  const service = { idMode: 'numberSection', codes: [], logger: OPTIONS.logger } as const;
  const start = () => startApp([typeorm(database.options), RaindropModule.forRoot(service)]);
  await (await start()).close();
  await source.query(fromLeaf!);
  const app = await start();
  expect(await app.get(IdService).nextIdAsync('order')).toBe(4_002n);
  expect(await app.get(IdService).nextIdAsync('ticket')).toBe(4_002n);
  await app.close();
  await source.destroy();
  await database.drop();
});

it('The tables of docs/coming-from name options that exist', () => {
  const known = [...readDocument('docs/configuration.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name!);
  const pages = DOCUMENTS.filter((path) => path.startsWith('docs/coming-from/')).map(readDocument);
  const tables = pages.flatMap((page) => page.split(/^\| [^|]+ \| option(?: or call)? \|.*\n/m).slice(1));
  expect(tables).toHaveLength(4);
  const cells = tables.flatMap((table) => [...table.split('\n\n')[0]!.matchAll(/^\| .*? \| (.*?) ?\|/gm)]);
  const named = cells.flatMap(([, cell]) => [...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name!));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});
