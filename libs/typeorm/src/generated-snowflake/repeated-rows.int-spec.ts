import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { AttachedSnowflakes } from './attached-snowflakes.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';

@Entity()
class Order {
  @GeneratedSnowflake()
  id!: string;

  @Column({ type: 'varchar', length: 20, unique: true, nullable: true })
  title!: string;
}

/** Beside a key of the database's: no constraint refuses a number that comes twice. */
@Entity()
class Bill {
  @PrimaryGeneratedColumn()
  id!: number;

  @GeneratedSnowflake({ primary: false, code: 'invoice' })
  invoice!: string;

  @GeneratedSnowflake({ primary: false, service: 'other' })
  receipt!: string;

  @Column({ type: 'int' })
  amount!: number;
}

class Stamp {
  @GeneratedSnowflake({ primary: false })
  serial!: string;

  @GeneratedSnowflake({ primary: false, service: 'other' })
  second!: string;
}

class Cover {
  @Column(() => Stamp)
  stamp!: Stamp;
}

@Entity()
class Letter {
  @GeneratedSnowflake()
  id!: string;

  @Column(() => Cover)
  cover!: Cover;
}

describe.each(databaseKinds)('One object and several rows on %s', (kind) => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await testDatabase(kind);
    const entities = [Order, Bill, Letter];
    dataSource = await new DataSource({ ...database.options, entities, synchronize: true }).initialize();
    attachSnowflakes(dataSource, snowflakeSource());
    attachSnowflakes(dataSource, snowflakeSource('other'));
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  beforeEach(async () => {
    for (const each of [Order, Bill, Letter]) await dataSource.createQueryBuilder().delete().from(each).execute();
  });

  /** So many rows, and none of their numbers twice. */
  const expectBills = async (count: number): Promise<void> => {
    const bills = await dataSource.manager.find(Bill);
    expect(bills).toHaveLength(count);
    expect(new Set(bills.map(({ invoice }) => invoice)).size).toBe(count);
    expect(new Set(bills.map(({ receipt }) => receipt)).size).toBe(count);
  };

  const twice = { errorCode: 'SNOWFLAKE_NOT_ASSIGNED', why: 'twice', retryable: false };

  it('gives each row of an insert an ID of its own', async () => {
    const bills: Partial<Bill>[] = Array<Partial<Bill>>(3).fill({ amount: 1 });
    await dataSource.manager.insert(Bill, bills);
    await expectBills(3);
    // The object is the first row.
    expect(await dataSource.manager.findOneByOrFail(Bill, { invoice: bills[0]!.invoice! })).toMatchObject({
      receipt: bills[0]!.receipt,
    });

    const order: Partial<Order> = {};
    const { identifiers } = await dataSource.manager.insert(Order, [order, order, order]);
    const stored = (await dataSource.manager.find(Order)).map(({ id }) => id);
    expect(stored).toHaveLength(3);
    expect(identifiers.map(({ id }) => id as unknown).sort()).toEqual([...stored].sort());
    expect(identifiers[0]).toEqual({ id: order.id });
  });

  it('with orIgnore() and by upsert, too', async () => {
    const order: Partial<Order> = {};
    await dataSource.createQueryBuilder().insert().into(Order).values([order, order]).orIgnore().execute();
    expect(await dataSource.manager.count(Order)).toBe(2);
    const other: Partial<Order> = {};
    await dataSource.manager.upsert(Order, [other, other], ['id']);
    expect(await dataSource.manager.count(Order)).toBe(4);
  });

  it('keeps the prototype, and what the object holds', async () => {
    const order = Object.assign(new Order(), { title: null as unknown as string });
    const kinds: unknown[] = [];
    const witness = { beforeInsert: ({ entity }: { entity: unknown }) => void kinds.push(entity instanceof Order) };
    dataSource.subscribers.push(witness);
    await dataSource.manager.insert(Order, [order, order]);
    dataSource.subscribers.splice(dataSource.subscribers.indexOf(witness), 1);
    expect(kinds).toEqual([true, true]);
  });

  it('leaves IDs that were set', async () => {
    const bill = { amount: 1, invoice: '77' };
    await dataSource.manager.insert(Bill, [bill, bill]);
    const found = await dataSource.manager.find(Bill);
    expect(found.map(({ invoice }) => invoice)).toEqual(['77', '77']);
    expect(new Set(found.map(({ receipt }) => receipt)).size).toBe(2);
  });

  it('fills a query builder anew that is executed again', async () => {
    const values: Partial<Bill> = { amount: 1 };
    const insert = dataSource.createQueryBuilder().insert().into(Bill).values(values).updateEntity(false);
    for (let run = 0; run < 3; run++) await insert.execute();
    await expectBills(3);
    values.invoice = '5';
    await insert.execute();
    expect(await dataSource.manager.countBy(Bill, { invoice: '5' })).toBe(1);

    const orders = dataSource.createQueryBuilder().insert().into(Order).values([{}, {}]).orIgnore();
    const first = await orders.execute();
    const second = await orders.execute();
    const ids = [...first.identifiers, ...second.identifiers].map(({ id }) => id as unknown);
    expect(new Set(ids).size).toBe(4);
    expect(await dataSource.manager.count(Order)).toBe(4);
  });

  it('refuses to save one object as two rows, and writes nothing', async () => {
    const bill = { amount: 1 };
    await expect(dataSource.manager.save(Bill, [bill, bill])).rejects.toMatchObject({
      ...twice,
      column: expect.stringMatching(/^Bill\./) as string,
    });
    const order = new Order();
    await expect(dataSource.manager.save([order, order])).rejects.toMatchObject(twice);
    await expectBills(0);
    expect(await dataSource.manager.count(Order)).toBe(0);
    // And then each by itself.
    await dataSource.manager.save(Bill, bill);
    await dataSource.manager.save(order);
    await expectBills(1);
  });

  it('gives no ID twice when one object is inserted by several calls at once', async () => {
    const bill: Partial<Bill> = { amount: 1 };
    await Promise.all([1, 2, 3].map(() => dataSource.manager.insert(Bill, bill)));
    await expectBills(3);
    const saved = { amount: 2 };
    const saves = await Promise.allSettled(
      [1, 2, 3].map(() => dataSource.manager.save(Bill, saved, { transaction: false })),
    );
    const written = saves.filter(({ status }) => status === 'fulfilled').length;
    expect(written).toBeGreaterThan(0);
    await expectBills(3 + (await dataSource.manager.countBy(Bill, { amount: 2 })));
  });

  it('keeps the ID of an object whose save failed, or was rolled back', async () => {
    await dataSource.manager.save(Object.assign(new Order(), { title: 'taken' }));
    const order = Object.assign(new Order(), { title: 'taken' });
    await expect(dataSource.manager.save(order)).rejects.toHaveProperty('name', 'QueryFailedError');
    const { id } = order;
    await expect(
      dataSource.transaction(async (manager) => {
        await manager.save(Object.assign(order, { title: 'free' }));
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    await dataSource.manager.save(order);
    expect(await dataSource.manager.findOneByOrFail(Order, { id })).toMatchObject({ id, title: 'free' });
    // An object that was inserted is looked up by its ID, and written again.
    const inserted: Partial<Order> = { title: 'a' };
    await dataSource.transaction(async (manager) => {
      await manager.insert(Order, inserted);
      await manager.upsert(Order, { ...inserted, title: 'b' }, ['id']);
      await manager.upsert(Order, Object.assign(inserted, { title: 'c' }), ['id']);
    });
    expect(await dataSource.manager.findOneByOrFail(Order, { id: inserted.id! })).toMatchObject({ title: 'c' });
  });

  it.each(['save', 'insert'] as const)('gives entities that share an embedded object one each: %s', async (way) => {
    const cover = { stamp: {} as Stamp };
    const letters = [1, 2, 3].map(() => Object.assign(new Letter(), { cover }));
    await (way === 'save' ? dataSource.manager.save(letters) : dataSource.manager.insert(Letter, letters));
    const found = await dataSource.manager.find(Letter);
    expect(new Set(found.map((each) => each.cover.stamp.serial)).size).toBe(3);
    expect(new Set(found.map((each) => each.cover.stamp.second)).size).toBe(3);
    for (const each of letters) {
      expect(await dataSource.manager.findOneByOrFail(Letter, { id: each.id })).toEqual(each);
    }
  });

  it('writes frozen objects from copies, and refuses to save them', async () => {
    const bill = Object.freeze({ amount: 1 });
    await dataSource.manager.insert(Bill, [bill, bill]);
    await expectBills(2);
    await expect(dataSource.manager.save(Bill, bill)).rejects.toMatchObject({
      errorCode: 'SNOWFLAKE_NOT_ASSIGNED',
      why: 'frozen',
      message: expect.stringContaining('Object.freeze') as string,
    });
    await expectBills(2);
    const cover = Object.freeze({ stamp: Object.freeze({}) });
    await dataSource.manager.save([1, 2].map(() => Object.assign(new Letter(), { cover })));
    const found = await dataSource.manager.find(Letter);
    expect(new Set(found.map((each) => each.cover.stamp.serial)).size).toBe(2);
    const sealed = Object.seal({
      amount: 1,
      invoice: undefined as string | undefined,
      receipt: undefined,
      id: undefined,
    });
    await dataSource.manager.insert(Bill, sealed);
    expect(sealed.invoice).toMatch(/^\d+$/);
  });

  it('assigns to no object twice in one array', () => {
    const attached = new AttachedSnowflakes(snowflakeSource('third'));
    @Entity()
    class Third {
      @GeneratedSnowflake({ service: 'third' })
      id!: string;
    }
    const other = new DataSource({ type: 'better-sqlite3', database: ':memory:', entities: [Third] });
    return other.initialize().then(async () => {
      attached.attach(other);
      const one = new Third();
      expect(() => attached.assign([one, one])).toThrow(expect.objectContaining(twice) as Error);
      expect(attached.assign(attached.assign([one, new Third()]))).toHaveLength(2);
      await other.destroy();
    });
  });
});
