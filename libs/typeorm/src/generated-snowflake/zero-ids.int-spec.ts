import { Column, DataSource, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn, type Relation } from 'typeorm';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';

/** A property's type, whatever its default is. */
type Id = string;

const ZEROS = [0, '0', 0n] as unknown as readonly Id[];
const NO_IDS = ['', Number.NaN, -1] as unknown as readonly Id[];

class Key {
  @GeneratedSnowflake()
  id = 0 as unknown as Id;
}

@Entity()
class Order {
  @GeneratedSnowflake()
  id = 0 as unknown as Id;

  @Column({ type: 'varchar', length: 20 })
  title!: string;

  @OneToMany(() => Item, (item) => item.order, { cascade: true })
  items!: Relation<Item>[];
}

@Entity()
class Item {
  @GeneratedSnowflake()
  id: Id = '0';

  @Column({ type: 'int' })
  place!: number;

  @ManyToOne(() => Order, (order) => order.items)
  order!: Relation<Order>;
}

@Entity()
class Bill {
  @PrimaryGeneratedColumn()
  id!: number;

  @GeneratedSnowflake({ primary: false })
  invoice = 0n as unknown as Id;
}

@Entity()
class Embedding {
  @Column(() => Key)
  key = new Key();

  @Column({ type: 'int' })
  place!: number;
}

describe.each(databaseKinds)('An ID of 0 counts as not set on %s', (kind) => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await testDatabase(kind);
    const entities = [Order, Item, Bill, Embedding];
    dataSource = await new DataSource({ ...database.options, entities, synchronize: true }).initialize();
    attachSnowflakes(dataSource, snowflakeSource());
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  beforeEach(async () => {
    for (const entity of [Item, Order, Bill, Embedding])
      await dataSource.createQueryBuilder().delete().from(entity).execute();
  });

  const orders = (id: Id): Order[] => ['first', 'second'].map((title) => Object.assign(new Order(), { id, title }));

  const expectTwo = async (): Promise<void> => {
    const ids = (await dataSource.manager.find(Order)).map(({ id }) => id);
    expect(ids).toEqual([expect.stringMatching(/^\d{17,19}$/), expect.stringMatching(/^\d{17,19}$/)]);
    expect(new Set(ids).size).toBe(2);
  };

  it.each(ZEROS)('%p, by save', async (zero) => {
    const saved = await dataSource.manager.save(orders(zero));
    await expectTwo();
    expect(saved.map(({ title }) => title)).toEqual(['first', 'second']);
    for (const { id, title } of saved)
      expect(await dataSource.manager.findOneByOrFail(Order, { id })).toMatchObject({ title });
  });

  it.each(ZEROS)('%p, by insert, by a query builder and by upsert', async (zero) => {
    const { manager } = dataSource;
    await manager.insert(Order, orders(zero));
    await expectTwo();
    await manager.createQueryBuilder().insert().into(Order).values(orders(zero)).orIgnore().execute();
    await manager.upsert(Order, orders(zero), ['id']);
    expect(await manager.count(Order)).toBe(6);
    expect(await manager.existsBy(Order, { id: '0' })).toBe(false);
  });

  it.each([...ZEROS, null])('does not make one child of several in a cascade: %p', async (none) => {
    const items = [1, 2, 3].map((place) => Object.assign(new Item(), { id: none, place }));
    const order = await dataSource.manager.save(Object.assign(new Order(), { title: 'x', items }));
    const found = await dataSource.manager.findOneOrFail(Order, {
      where: { id: order.id },
      relations: { items: true },
    });
    expect(found.items.map(({ place }) => place).sort()).toEqual([1, 2, 3]);
  });

  it('beside the key, and in an embedded object', async () => {
    const bills = await dataSource.manager.save([new Bill(), new Bill()]);
    expect(new Set(bills.map(({ invoice }) => String(invoice))).size).toBe(2);
    expect(await dataSource.manager.count(Bill)).toBe(2);
    await dataSource.manager.save([1, 2].map((place) => Object.assign(new Embedding(), { place })));
    expect(await dataSource.manager.count(Embedding)).toBe(2);
  });

  it('is refused where no subscriber is called, and nothing is written', async () => {
    const insert = (id: Id): Promise<unknown> =>
      dataSource.createQueryBuilder().insert().into(Order).values({ id, title: 'x' }).callListeners(false).execute();
    for (const zero of ZEROS) await expect(insert(zero)).rejects.toMatchObject({ errorCode: 'SNOWFLAKE_NOT_ASSIGNED' });
    const silent = dataSource.manager.save(orders('0'), { listeners: false });
    await expect(silent).rejects.toMatchObject({ errorCode: 'SNOWFLAKE_NOT_ASSIGNED' });
    expect(await dataSource.manager.count(Order)).toBe(0);
  });

  it.each(NO_IDS)('%p stays refused', async (given) => {
    const failure = { errorCode: expect.stringMatching(/^(INVALID_ID|UNSAFE_SNOWFLAKE)$/) as string };
    await expect(dataSource.manager.save(orders(given))).rejects.toMatchObject(failure);
    await expect(dataSource.manager.insert(Order, orders(given))).rejects.toMatchObject(failure);
    expect(await dataSource.manager.count(Order)).toBe(0);
  });

  it('may be looked for, and finds nothing', async () => {
    await dataSource.manager.save(orders('0'));
    for (const zero of ZEROS) {
      expect(await dataSource.manager.findBy(Order, { id: zero })).toEqual([]);
      expect((await dataSource.manager.delete(Order, { id: zero })).affected).toBe(0);
    }
    expect(await dataSource.manager.count(Order)).toBe(2);
  });
});
