import { setImmediate } from 'node:timers/promises';
import { Column, DataSource, Entity, type InsertEvent, PrimaryGeneratedColumn } from 'typeorm';
import { snowflakeSource, waitingSource } from '../../../../test/support/module/snowflake-source.js';
import { kindsInTurn, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
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

  @GeneratedSnowflake({ primary: false })
  invoice!: string;

  @GeneratedSnowflake({ primary: false, service: 'other' })
  receipt!: string;

  @Column({ type: 'int' })
  amount!: number;
}

class Stamp {
  @GeneratedSnowflake({ primary: false })
  serial!: string;
}

@Entity()
class Letter {
  @GeneratedSnowflake()
  id!: string;

  @Column(() => Stamp)
  stamp!: Stamp;
}

const entities = [Order, Bill, Letter];
const twice = { errorCode: 'SNOWFLAKE_NOT_ASSIGNED', why: 'twice', retryable: false };

describe.each(kindsInTurn(__filename))('One object and several DataSources on %s', (kind) => {
  let databases: TestDatabase[];
  let first: DataSource;
  let second: DataSource;
  /** Of a database of its own. */
  let elsewhere: DataSource;
  let open = (): void => undefined;

  const openDataSource = (database: TestDatabase, synchronize: boolean): Promise<DataSource> =>
    new DataSource({ ...database.options, entities, synchronize }).initialize();

  beforeAll(async () => {
    databases = [await testDatabase(kind), await testDatabase(kind)];
    first = await openDataSource(databases[0]!, true);
    second = await openDataSource(databases[0]!, false);
    elsewhere = await openDataSource(databases[1]!, true);
  });

  afterAll(async () => {
    for (const each of [first, second, elsewhere]) await each.destroy();
    for (const each of databases) await each.drop();
  });

  const attach = (source = snowflakeSource()): void => {
    const other = snowflakeSource('other');
    for (const each of [first, second, elsewhere]) {
      attachSnowflakes(each, source);
      attachSnowflakes(each, other);
    }
  };

  /** A service that has no ID before `open()`. */
  const attachWaiting = (): void => {
    const waiting = waitingSource();
    ({ open } = waiting);
    attach(waiting.source);
  };

  afterEach(async () => {
    // What a failed test has left waiting.
    open();
    await setImmediate();
    for (const each of [first, second, elsewhere]) {
      for (const subscriber of [...each.subscribers]) (subscriber as { detach?: () => void }).detach?.();
      each.subscribers.splice(0);
      for (const entity of entities) await each.createQueryBuilder().delete().from(entity).execute();
    }
  });

  const tell = (...dataSources: DataSource[]): void => {
    for (const each of dataSources) each.subscribers.push({ beforeInsert: () => undefined });
  };

  /** So many bills, and none of their numbers twice. */
  const expectBills = async (count: number, ...dataSources: DataSource[]): Promise<Bill[]> => {
    const found = await Promise.all(dataSources.map((each) => each.manager.find(Bill)));
    const bills = found.flat();
    expect(bills).toHaveLength(count);
    for (const name of ['invoice', 'receipt'] as const) {
      expect(bills.filter((bill) => !/^\d+$/.test(bill[name]))).toEqual([]);
      expect(new Set(bills.map((bill) => bill[name])).size).toBe(count);
    }
    return bills;
  };

  it.each([
    ['none', []],
    ['one of them', [0]],
    ['both', [0, 1]],
  ])('gives no ID twice when it is inserted by both at once, told by %s', async (_by, told) => {
    attach();
    tell(...told.map((at) => [first, second][at]!));
    const bill: Partial<Bill> = { amount: 1 };
    await Promise.all([first, second].map((each) => each.manager.insert(Bill, bill)));
    const bills = await expectBills(2, first);
    // The object is the first row.
    expect(bills).toContainEqual(expect.objectContaining({ invoice: bill.invoice, receipt: bill.receipt }));
  });

  it.each([
    ['none', []],
    ['one of them', [0]],
    ['both', [0, 1]],
  ])('gives no ID twice when both wait for IDs, told by %s', async (_by, told) => {
    attachWaiting();
    tell(...told.map((at) => [first, second][at]!));
    const bill: Partial<Bill> = { amount: 1 };
    const inserts = [first, second, first].map((each) => each.manager.insert(Bill, [bill, bill]));
    await setImmediate();
    open();
    await Promise.all(inserts);
    const bills = await expectBills(6, first);
    expect(bills).toContainEqual(expect.objectContaining({ invoice: bill.invoice, receipt: bill.receipt }));
  });

  it.each([
    ['keys', 'insert'],
    ['orIgnore()', 'orIgnore'],
    ['upsert', 'upsert'],
  ])('gives no key twice: %s', async (_what, way) => {
    attach();
    const order: Partial<Order> = {};
    await Promise.all(
      [first, second].map(({ manager }) => {
        if (way === 'insert') return manager.insert(Order, order);
        if (way === 'upsert') return manager.upsert(Order, order, ['id']);
        return manager.createQueryBuilder().insert().into(Order).values(order).orIgnore().execute();
      }),
    );
    expect(await first.manager.count(Order)).toBe(2);
    expect(await first.manager.countBy(Order, { id: order.id! })).toBe(1);
  });

  it('gives no ID twice when query builders of both are executed again and again', async () => {
    attach();
    const bill: Partial<Bill> = { amount: 1 };
    const builders = [first, second].map((each) =>
      each.createQueryBuilder().insert().into(Bill).values([bill, bill]).updateEntity(false),
    );
    await Promise.all([...builders, ...builders].map((each) => each.execute()));
    await expectBills(8, first);
  });

  it.each([true, false])('gives each row an embedded object of its own, saved: %p', async (isSaved) => {
    attachWaiting();
    const stamp = {} as Stamp;
    const letters = [first, second].map(({ manager }) => {
      const letter = Object.assign(new Letter(), { stamp });
      return isSaved ? manager.save(letter, { transaction: false }) : manager.insert(Letter, letter);
    });
    await setImmediate();
    open();
    await Promise.all(letters);
    const found = await first.manager.find(Letter);
    expect(new Set(found.map((each) => each.stamp.serial)).size).toBe(2);
  });

  it.each([
    ['saved', false],
    ['inserted', false],
    ['inserted', true],
  ])('refuses to save what the other one has %s at the same time, told: %p', async (way, isTold) => {
    attachWaiting();
    if (isTold) tell(first);
    const order = new Order();
    const written =
      way === 'saved' ? first.manager.save(order, { transaction: false }) : first.manager.insert(Order, order);
    await setImmediate();
    await expect(second.manager.save(order, { transaction: false })).rejects.toMatchObject(twice);
    open();
    await written;
    expect(await first.manager.find(Order)).toMatchObject([{ id: order.id }]);
    // And then it is a row that exists.
    await second.manager.save(Object.assign(order, { title: 'a' }));
    expect(await first.manager.find(Order)).toEqual([order]);
  });

  it('inserts a copy of what the other one saves at the same time', async () => {
    attachWaiting();
    const bill = Object.assign(new Bill(), { amount: 1 });
    const saved = first.manager.save(bill, { transaction: false });
    await setImmediate();
    const inserted = second.manager.insert(Bill, bill);
    await setImmediate();
    open();
    await Promise.all([saved, inserted]);
    expect(await expectBills(2, first)).toContainEqual(bill);
  });

  it('refuses to assign an ID to what one of them inserts', async () => {
    const { source, open: openSource } = waitingSource();
    attachSnowflakes(first, source);
    const attached = new AttachedSnowflakes(snowflakeSource());
    attached.attach(second);
    const order = new Order();
    const inserted = first.manager.insert(Order, order);
    expect(() => attached.assign(order)).toThrow(expect.objectContaining(twice) as Error);
    openSource();
    await inserted;
    expect(await second.manager.find(Order)).toMatchObject([{ id: order.id }]);
  });

  it('keeps the ID of what is written by one after the other', async () => {
    attach();
    const order = Object.assign(new Order(), { title: 'a' });
    await first.manager.save(order);
    const { id } = order;
    await second.manager.save(Object.assign(order, { title: 'b' }));
    await expect(second.manager.insert(Order, order)).rejects.toHaveProperty('name', 'QueryFailedError');
    expect(await first.manager.find(Order)).toEqual([{ id, title: 'b' }]);
    const other: Partial<Order> = {};
    await first.manager.insert(Order, other);
    await elsewhere.manager.insert(Order, other);
    await elsewhere.manager.save(order);
    expect(await elsewhere.manager.find(Order, { order: { id: 'ASC' } })).toMatchObject([{ id }, { id: other.id }]);
  });

  it.each(['insert', 'save'] as const)('is free again when one of them has failed: %s', async (way) => {
    attach();
    await first.manager.save(Object.assign(new Order(), { title: 'taken' }));
    const order = Object.assign(new Order(), { title: 'taken' });
    const failed = way === 'save' ? first.manager.save(order) : first.manager.insert(Order, order);
    await expect(failed).rejects.toHaveProperty('name', 'QueryFailedError');
    const { id } = order;
    order.title = 'free';
    await (way === 'save' ? second.manager.save(order) : second.manager.insert(Order, order));
    expect(await first.manager.findOneByOrFail(Order, { title: 'free' })).toEqual({ id, title: 'free' });
  });

  it.each(['insert', 'told insert', 'save'] as const)(
    'is free again when one of them got no ID, or was rolled back: %s',
    async (way) => {
      const broken = (): never => {
        throw new Error('broken');
      };
      attachSnowflakes(first, snowflakeSource('default', { nextId: broken }));
      attachSnowflakes(second, snowflakeSource());
      if (way === 'told insert') tell(first);
      const order = new Order();
      const write = ({ manager }: Pick<DataSource, 'manager'>): Promise<unknown> =>
        way === 'save' ? manager.save(order) : manager.insert(Order, order);
      await expect(write(first)).rejects.toThrow('broken');
      expect(order.id).toBeUndefined();
      const rolledBack = second.transaction(async (manager) => {
        await write({ manager });
        throw new Error('rolled back');
      });
      await expect(rolledBack).rejects.toThrow('rolled back');
      const { id } = order;
      await write(first);
      expect(await second.manager.find(Order)).toEqual([expect.objectContaining({ id }) as Order]);
    },
  );

  describe('of two databases', () => {
    it.each([true, false])('gives each row an ID of its own at once, waiting: %p', async (isWaiting) => {
      if (isWaiting) attachWaiting();
      else attach();
      const bill: Partial<Bill> = { amount: 1 };
      const inserts = [first, elsewhere].map((each) => each.manager.insert(Bill, bill));
      await setImmediate();
      open();
      await Promise.all(inserts);
      await expectBills(2, first, elsewhere);
      // The object is the row of the first call.
      expect(await first.manager.find(Bill)).toMatchObject([{ invoice: bill.invoice, receipt: bill.receipt }]);
    });

    it('refuses to save it at once', async () => {
      attachWaiting();
      const order = new Order();
      const saved = first.manager.save(order, { transaction: false });
      await setImmediate();
      await expect(elsewhere.manager.save(order, { transaction: false })).rejects.toMatchObject(twice);
      open();
      await saved;
      await elsewhere.manager.save(order);
      expect(await elsewhere.manager.find(Order)).toEqual([order]);
    });

    it.each(['insert', 'save'] as const)('writes an ID that was assigned before into both: %s', async (way) => {
      const attached = new AttachedSnowflakes(snowflakeSource());
      for (const each of [first, elsewhere]) attached.attach(each);
      const order = attached.assign(new Order());
      const { id } = order;
      await Promise.all(
        [first, elsewhere].map(({ manager }) => (way === 'save' ? manager.save(order) : manager.insert(Order, order))),
      );
      for (const each of [first, elsewhere]) expect(await each.manager.find(Order)).toMatchObject([{ id }]);
    });

    it.each(['insert', 'save'] as const)('writes the ID of a copy that a subscriber makes: %s', async (way) => {
      attach();
      const write = ({ manager }: DataSource, row: Partial<Order>): Promise<unknown> =>
        way === 'save' ? manager.save(Order, row) : manager.insert(Order, row);
      first.subscribers.push({
        afterInsert: ({ entity }: InsertEvent<Order>) => write(elsewhere, { ...entity }),
      });
      const order = new Order();
      await write(first, order);
      expect(await elsewhere.manager.find(Order)).toMatchObject([{ id: order.id }]);
    });
  });

  describe('of which one has two EntityManagers', () => {
    it('gives no ID twice when it is inserted by both at once', async () => {
      attachWaiting();
      const runners = [first, first].map((each) => each.createQueryRunner());
      const bill: Partial<Bill> = { amount: 1 };
      const inserts = runners.map(({ manager }) => manager.insert(Bill, bill));
      await setImmediate();
      open();
      await Promise.all(inserts);
      for (const each of runners) await each.release();
      await expectBills(2, first);
    });

    it('refuses to save it by both at once', async () => {
      attachWaiting();
      const runners = [first, first].map((each) => each.createQueryRunner());
      const order = new Order();
      const saved = runners[0]!.manager.save(order, { transaction: false });
      await setImmediate();
      await expect(runners[1]!.manager.save(order, { transaction: false })).rejects.toMatchObject(twice);
      open();
      await saved;
      for (const each of runners) await each.release();
      expect(await first.manager.find(Order)).toEqual([order]);
    });
  });
});
