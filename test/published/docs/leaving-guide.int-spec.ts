import { presets } from '@raindrop/core';
import { GeneratedSnowflake } from '@raindrop/nestjs/typeorm';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { OPTIONS, startApp, typeorm } from '../../support/module/module-fixture.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { expectSince } from '../../support/expect-since.js';
import { readDocument } from './typescript-blocks.js';

const blocks = [...readDocument('docs/leaving.md').matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, sql]) => sql!);
const [toIdentity, toAutoIncrement, uuidOnPostgres, uuidOnMariadb, timeOnPostgres, timeOnMysql] = blocks.map((block) =>
  block.split(/;\n/).filter((each) => each.trim() !== ''),
);

@Entity('orders')
class Order {
  @GeneratedSnowflake()
  id!: string;

  @Column({ type: 'varchar', length: 20 })
  customer!: string;
}

@Entity('orders')
class OrderAfterwards {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: string;

  @Column({ type: 'varchar', length: 20 })
  customer!: string;
}

interface Item {
  readonly customer: string;
  readonly title: string;
}

const JOINED = 'SELECT customer, title FROM items JOIN orders ON';

// What the page is for: it says nothing of SQLite.
describe.each(databaseKinds.filter((kind) => kind !== 'sqlite'))('docs/leaving.md on %s', (kind) => {
  const isPostgres = kind === 'postgres';
  let database: TestDatabase;
  let source: DataSource;
  /** Of the orders, in the order in which they were saved. */
  let ids: string[];
  let before: number;

  beforeEach(async () => {
    database = await testDatabase(kind);
    source = await new DataSource(database.options).initialize();
    await source.query('CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, customer VARCHAR(20) NOT NULL)');
    before = Date.now();
    const { logger } = OPTIONS;
    const app = await startApp([
      typeorm({ ...database.options, entities: [Order] }),
      RaindropModule.forRoot({ logger }),
    ]);
    const orders = app.get(DataSource).getRepository(Order);
    ids = [];
    for (const customer of ['Ada', 'Grace']) ids.push((await orders.save({ customer })).id);
    expect(app.get(IdService).layout.fingerprint).toBe('1000@1767225600:t33.w10.b1.s18.e1=0');
    await app.close();
    const reference = 'CONSTRAINT items_order FOREIGN KEY (order_id) REFERENCES orders (id)';
    await source.query(`CREATE TABLE items (title VARCHAR(20), order_id BIGINT NOT NULL, ${reference})`);
    await source.query(`INSERT INTO items VALUES ('pen', ${ids[0]}), ('ink', ${ids[1]})`);
  });

  afterEach(async () => {
    await source.destroy();
    await database.drop();
  });

  async function execute(statements: readonly string[]): Promise<unknown> {
    let last: unknown;
    // All in one session, as a file of statements runs.
    const session = source.createQueryRunner();
    for (const each of statements) last = await session.query(each);
    await session.release();
    return last;
  }

  it('new keys of the database go on above the largest ID', async () => {
    await execute(isPostgres ? toIdentity! : toAutoIncrement!);
    const afterwards = await new DataSource({ ...database.options, entities: [OrderAfterwards] }).initialize();
    const saved = await afterwards.getRepository(OrderAfterwards).save({ customer: 'Joan' });
    expect(BigInt(saved.id)).toBe(BigInt(ids[1]!) + 1n);
    if (isPostgres) {
      await source.query(`SELECT setval(pg_get_serial_sequence('orders', 'id'), 1)`);
      expect((await afterwards.getRepository(OrderAfterwards).save({ customer: 'Linus' })).id).toBe('2');
    }
    await afterwards.destroy();
    expect(await source.query<Item[]>(`${JOINED} orders.id = order_id ORDER BY orders.id`)).toEqual([
      { customer: 'Ada', title: 'pen' },
      { customer: 'Grace', title: 'ink' },
    ]);
    await expect(source.query(`INSERT INTO items VALUES ('nib', 7)`)).rejects.toThrow(/foreign key/i);
  });

  // MySQL has no type UUID, as the page says.
  if (kind !== 'mysql') {
    it('UUIDs take the place of the keys, and every row keeps its number', async () => {
      await execute(isPostgres ? uuidOnPostgres! : uuidOnMariadb!);
      await source.query(`INSERT INTO orders (customer) VALUES ('Joan')`);
      const { length } = await source.query<unknown[]>('SELECT DISTINCT uuid FROM orders');
      expect(length).toBe(3);
      const joined = await source.query<Item[]>(`${JOINED} orders.uuid = order_uuid ORDER BY orders.id`);
      expect(joined.map(({ customer, title }) => [customer, title])).toEqual([
        ['Ada', 'pen'],
        ['Grace', 'ink'],
      ]);
      const found = await source.query<{ id: string }[]>(`SELECT id FROM orders WHERE id = ${ids[0]}`);
      expect(found.map(({ id }) => id)).toEqual([ids[0]]);
      await expect(source.query(`INSERT INTO orders (id, customer) VALUES (${ids[0]}, 'twice')`)).rejects.toThrow(
        /dupl/i,
      );
      const stray = `INSERT INTO items VALUES ('nib', '00000000-0000-0000-0000-000000000000')`;
      await expect(source.query(stray)).rejects.toThrow(/foreign key/i);
    });
  }

  it('the time of an ID stays readable in SQL', async () => {
    const [first] = (await execute(isPostgres ? timeOnPostgres! : timeOnMysql!)) as { created_at: Date }[];
    expectSince(before, first!.created_at.getTime());
  });

  it('IDs of milliseconds are larger than those of the default layout', () => {
    const smallest = presets.twitter().idFloor(new Date());
    expect(smallest).toBeGreaterThan(BigInt(ids[1]!));
    // 33 bits of seconds end in 2298.
    expect(smallest).toBeGreaterThan(BigInt(ids[1]!) + (1n << 30n) * 86_400n * 365n);
  });
});
