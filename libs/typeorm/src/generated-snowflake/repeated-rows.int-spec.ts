import { setImmediate } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { Column, DataSource, Entity, type InsertEvent, InsertQueryBuilder, PrimaryGeneratedColumn } from 'typeorm';
import { snowflakeSource, waitingSource } from '../../../../test/support/module/snowflake-source.js';
import { kindsOfTier, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { runs } from '../../../../test/tier.js';
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

@Entity()
class Ticket {
  @PrimaryGeneratedColumn()
  id!: number;

  @GeneratedSnowflake({ primary: false, service: 'waiting' })
  number!: string;
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

/** Its number stands in a property of another name. */
@Entity()
class Tag {
  @PrimaryGeneratedColumn()
  id!: number;

  private kept?: string;

  @GeneratedSnowflake({ primary: false })
  get number(): string | undefined {
    return this.kept;
  }

  set number(value: string | undefined) {
    this.kept = value;
  }
}

/** Its columns are not those of the entities whose objects are written to it. */
@Entity()
class Trace {
  @PrimaryGeneratedColumn()
  key!: number;

  @GeneratedSnowflake({ primary: false })
  trace!: string;
}

const SEEDS = runs(100);

describe.each(kindsOfTier)('One object and several rows on %s', (kind) => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await testDatabase(kind);
    const entities = [Order, Bill, Letter, Tag, Trace];
    dataSource = await new DataSource({ ...database.options, entities, synchronize: true }).initialize();
    attachSnowflakes(dataSource, snowflakeSource());
    attachSnowflakes(dataSource, snowflakeSource('other'));
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  beforeEach(async () => {
    for (const each of [Order, Bill, Letter, Tag, Trace])
      await dataSource.createQueryBuilder().delete().from(each).execute();
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
      column: expect.stringMatching(/^bill\./) as string,
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

  it('gives no ID twice when one query builder is executed twice at once', async () => {
    const insert = dataSource
      .createQueryBuilder()
      .insert()
      .into(Bill)
      .values([{ amount: 1 }, { amount: 2 }])
      .updateEntity(false);
    await Promise.all([insert.execute(), insert.execute(), insert.execute()]);
    await expectBills(6);
    await insert.execute();
    await expectBills(8);
  });

  it.each([
    ['nothing', []],
    ['what has its IDs', { amount: 1, invoice: '5', receipt: '6' }],
  ])('gives no ID twice when %s is inserted meanwhile', async (_what, values) => {
    const bill: Partial<Bill> = { amount: 1 };
    const { manager } = dataSource;
    await Promise.all([manager.insert(Bill, bill), manager.insert(Bill, values), manager.insert(Bill, bill)]);
    await expectBills(Array.isArray(values) ? 2 : 3);
  });

  it('gives no ID twice when a clone of a query builder is executed while it is itself', async () => {
    const insert = dataSource
      .createQueryBuilder()
      .insert()
      .into(Bill)
      .values([{ amount: 1 }, { amount: 2 }]);
    const executed = [insert.execute(), insert.clone().execute(), new InsertQueryBuilder(insert).execute()];
    const clone = insert.clone();
    await Promise.all(executed);
    await expectBills(6);
    await clone.values({ amount: 3 }).execute();
    await expectBills(7);
  });

  it('gives no ID twice when a subscriber of queries executes a clone', async () => {
    const insert = dataSource.createQueryBuilder().insert().into(Bill).values({ amount: 1 }).updateEntity(false);
    let cloned: Promise<unknown> | undefined;
    const subscriber = {
      beforeQuery: ({ query }: { query: string }) => {
        if (query.startsWith('INSERT')) cloned ??= insert.clone().execute();
      },
    };
    dataSource.subscribers.push(subscriber);
    await insert.execute();
    await cloned;
    dataSource.subscribers.splice(dataSource.subscribers.indexOf(subscriber), 1);
    await expectBills(2);
  });

  it.each(['insert', 'save'] as const)(
    'gives no ID twice when a subscriber copies what has its ID: %s',
    async (way) => {
      const subscriber = {
        listenTo: () => Order,
        beforeInsert: ({ entity, manager }: InsertEvent<Order>) =>
          Promise.all([{ ...entity }, entity, entity].map((each) => manager.insert('Trace', each))),
      };
      dataSource.subscribers.push(subscriber);
      const { manager } = dataSource;
      await (way === 'save' ? manager.save(Order, { id: '5' }) : manager.insert(Order, { id: '5' }));
      dataSource.subscribers.splice(dataSource.subscribers.indexOf(subscriber), 1);
      expect(new Set((await dataSource.manager.find(Trace)).map(({ trace }) => trace)).size).toBe(3);
    },
  );

  it('gives no ID twice where the value of a column stands in another property', async () => {
    const tag = new Tag();
    await dataSource.manager.insert(Tag, [tag, tag]);
    const other = new Tag();
    await Promise.all([1, 2].map(() => dataSource.manager.insert(Tag, other)));
    const tags = await dataSource.manager.find(Tag);
    expect(new Set(tags.map(({ number }) => number)).size).toBe(4);
    expect(tags.map(({ number }) => number)).toEqual(expect.arrayContaining([tag.number, other.number]));
  });

  it.each([{}, { cover: {} as Cover }])('gives each row an embedded object of its own, of %p', async (given) => {
    const letter = { cover: given.cover as Cover };
    const insert = dataSource.createQueryBuilder().insert().into(Letter).values([letter, letter]).updateEntity(false);
    await insert.execute();
    await Promise.all([insert.execute(), insert.execute()]);
    const found = await dataSource.manager.find(Letter);
    expect(new Set(found.map(({ cover }) => cover.stamp.serial)).size).toBe(6);
    expect(new Set(found.map(({ cover }) => cover.stamp.second)).size).toBe(6);
  });

  describe('while a service has no ID', () => {
    let own: TestDatabase;
    let other: DataSource;
    /** Of the same database. */
    let third: DataSource;

    beforeEach(async () => {
      own = await testDatabase(kind);
      const options = { ...own.options, entities: [Bill, Letter, Order, Ticket] };
      other = await new DataSource({ ...options, synchronize: true }).initialize();
      third = await new DataSource(options).initialize();
    });

    afterEach(async () => {
      await third.destroy();
      await other.destroy();
      await own.drop();
    });

    it.each([true, false])('refuses to save an object that is being inserted, told: %p', async (isTold) => {
      const { source, open } = waitingSource('waiting');
      attachSnowflakes(other, source);
      if (isTold) other.subscribers.push({ beforeInsert: () => undefined });
      const ticket = new Ticket();
      const inserted = other.manager.insert(Ticket, ticket);
      await expect(other.manager.save(ticket, { transaction: false })).rejects.toMatchObject(twice);
      open();
      await inserted;
      const [found] = await other.manager.find(Ticket);
      expect(found).toMatchObject({ number: ticket.number });
    });

    it.each([
      ['Bill', false],
      ['Bill', true],
      ['Letter', false],
    ])('sets no ID in an object whose insert has failed: %s, told: %p', async (name, isTold) => {
      const { source, open } = waitingSource();
      let isBroken = true;
      const failing = snowflakeSource('other');
      const nextId = (): bigint => {
        if (isBroken) throw new Error('broken');
        return failing.nextId();
      };
      attachSnowflakes(other, snowflakeSource('other', { nextId }));
      const attached = attachSnowflakes(other, source);
      if (isTold) other.subscribers.push({ beforeInsert: () => undefined });
      const values = name === 'Bill' ? { amount: 1 } : { cover: { stamp: {} } };
      const insert = other.createQueryBuilder().insert().into(name).values(values).updateEntity(false);
      const executed = insert.execute();
      if (isTold || name === 'Letter') await expect(executed).rejects.toThrow('broken');
      open();
      await executed.catch(() => undefined);
      await setImmediate();
      attached.detach();
      attachSnowflakes(other, snowflakeSource());
      isBroken = false;
      for (let run = 0; run < 2; run++) await insert.execute();
      const rows = await other.manager.find<Bill | Letter>(name);
      expect(rows).toHaveLength(2);
      const ids = rows.map((row) => ('cover' in row ? row.cover.stamp.serial : row.invoice));
      expect(new Set(ids).size).toBe(2);
    });

    it('saves what waits for its ID while another statement of its transaction fails', async () => {
      const { source, open } = waitingSource();
      attachSnowflakes(other, source);
      const order = new Order();
      await other.transaction(async (manager) => {
        const saved = manager.save(order);
        const failed = manager.transaction((nested) => nested.query('SELECT * FROM no_such_table'));
        await expect(failed).rejects.toHaveProperty('name', 'QueryFailedError');
        open();
        await saved;
      });
      expect(await other.manager.find(Order)).toEqual([order]);
    });

    it('gives no ID twice, and fills every row, in any order of calls', async () => {
      for (let seed = 1; seed <= SEEDS; seed++) await expectAnyOrder(seed);
    });

    /**
     * Calls at once that insert a few objects through two DataSources, by services that have no ID now and then, told to a
     * subscriber or not.
     */
    const expectAnyOrder = async (seed: number): Promise<void> => {
      let state = seed * 7919;
      const below = (count: number): number => {
        state = (state * 1103515245 + 12345) % 2147483648;
        return Math.floor((state / 2147483648) * count);
      };
      const attached = ['default', 'other'].flatMap((name) => {
        const source = snowflakeSource(name);
        const nextId = (): bigint => {
          if (below(4) === 0) throw Object.assign(new Error('none right now'), { retryable: true });
          if (below(40) === 0) throw new Error('broken');
          return source.nextId();
        };
        const nextIdAsync = async (): Promise<bigint> => {
          for (let turns = below(3); turns > 0; turns--) await setImmediate();
          if (below(30) === 0) throw new Error('lost');
          return source.nextIdAsync();
        };
        const shared = snowflakeSource(name, { nextId, nextIdAsync });
        return [other, third].map((each) => attachSnowflakes(each, shared));
      });
      const either = (): DataSource => (below(2) === 0 ? other : third);
      const witness = { beforeInsert: () => (below(2) === 0 ? setImmediate() : undefined) };
      if (below(2) === 0) other.subscribers.push(witness);
      if (below(2) === 0) third.subscribers.push(witness);
      const bills = Array.from({ length: 3 }, (): Partial<Bill> => ({ amount: 1 }));
      const covers = [{}, { stamp: {} }] as Cover[];
      const letters = Array.from({ length: 3 }, () => ({ cover: covers[below(2)]! }));
      const frozen = Object.freeze({ amount: 1, cover: Object.freeze({}) as Cover });
      const some = <Given extends object>(from: readonly Given[]): (Given | typeof frozen)[] =>
        Array.from({ length: below(4) }, () => (below(8) > 0 ? from[below(from.length)]! : frozen));
      // Rows of their own: what a call has inserted counts as set by the caller to the calls that follow.
      const repeated = { amount: 2 };
      const cover = { stamp: {} } as Cover;
      const builders = [
        either()
          .createQueryBuilder()
          .insert()
          .into(Bill)
          .values([repeated, repeated, { amount: 3 }])
          .updateEntity(false),
        either().createQueryBuilder().insert().into(Letter).values([{ cover }, { cover }, {}]).updateEntity(false),
      ];
      const hasClones = below(2) === 0;
      const calls = Array.from({ length: 2 + below(5) }, () => {
        const way = below(4);
        if (way === 0) return either().manager.insert(Bill, some(bills));
        if (way === 1) return either().manager.insert(Letter, some(letters));
        if (!hasClones || below(2) === 0) return builders[way - 2]!.execute();
        return builders[way - 2]!.clone().execute();
      });
      await Promise.allSettled(calls);
      // The IDs that a clone has set count as the caller's once it is through.
      for (const each of hasClones ? [] : builders) await Promise.allSettled([each.execute(), each.execute()]);
      const rows = [...(await other.manager.find(Bill)), ...(await other.manager.find(Letter))];
      const first = rows.map((row) => ('cover' in row ? row.cover.stamp.serial : row.invoice));
      const second = rows.map((row) => ('cover' in row ? row.cover.stamp.second : row.receipt));
      for (const ids of [first, second]) {
        expect([seed, ids.filter((id) => !/^\d+$/.test(id))]).toEqual([seed, []]);
        expect([seed, new Set(ids).size]).toEqual([seed, ids.length]);
      }
      for (const { subscribers } of [other, third]) {
        if (subscribers.includes(witness)) subscribers.splice(subscribers.indexOf(witness), 1);
      }
      for (const each of attached) each.detach();
      for (const each of [Bill, Letter]) await other.createQueryBuilder().delete().from(each).execute();
    };
  });

  it('keeps neither the other rows of an insert nor its query builder, as long as one object is kept', async () => {
    v8.setFlagsFromString('--expose-gc');
    const collect = vm.runInNewContext('gc') as () => void;
    const insertSome = async (): Promise<[object, WeakRef<object>[]]> => {
      const rows: Partial<Bill>[] = [{ amount: 1 }, { amount: 2 }];
      const insert = dataSource.createQueryBuilder().insert().into(Bill).values(rows);
      // A second call at the same time enters the objects of the first.
      await Promise.all([insert.execute(), dataSource.manager.insert(Bill, { amount: 3 })]);
      return [rows[0]!, [new WeakRef(rows[1]!), new WeakRef(insert)]];
    };
    const [kept, others] = await insertSome();
    for (let turn = 0; turn < 10 && others.some((each) => each.deref()); turn++) {
      await setImmediate();
      collect();
    }
    expect(kept).toMatchObject({ amount: 1 });
    expect(others.map((each) => each.deref())).toEqual([undefined, undefined]);
  });

  it('gives no ID twice when an object is inserted again while its service has none', async () => {
    const { source, open } = waitingSource('waiting');
    const own = await testDatabase(kind);
    const options = { ...own.options, entities: [Ticket], synchronize: true };
    const other = await new DataSource(options).initialize();
    const attached = new AttachedSnowflakes(source);
    attached.attach(other);
    const ticket: Partial<Ticket> = {};
    const inserts = [1, 2, 3].map(() => other.manager.insert(Ticket, [ticket, ticket]));
    // The object is to become a row of the first insert.
    expect(() => attached.assign(ticket, Ticket)).toThrow(expect.objectContaining(twice) as Error);
    open();
    await Promise.all(inserts);
    const numbers = (await other.manager.find(Ticket)).map(({ number }) => number);
    expect(numbers).toHaveLength(6);
    expect(new Set(numbers).size).toBe(6);
    expect(numbers).toContain(ticket.number);
    await other.destroy();
    await own.drop();
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
