import { setImmediate } from 'node:timers/promises';
import { Column, DataSource, Entity, type InsertEvent, PrimaryGeneratedColumn } from 'typeorm';
import { snowflakeSource, waitingSource } from '../../../../test/support/module/snowflake-source.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { AttachedSnowflakes } from './attached-snowflakes.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';

@Entity({ name: 'told_order' })
class Order {
  @GeneratedSnowflake()
  id!: string;

  @Column({ type: 'varchar', length: 20, default: '' })
  title!: string;
}

@Entity({ name: 'told_history' })
class History {
  @GeneratedSnowflake()
  id!: string;

  @Column({ type: 'varchar', length: 20, default: '' })
  title!: string;
}

@Entity({ name: 'told_ticket' })
class Ticket {
  @PrimaryGeneratedColumn()
  no!: number;

  @GeneratedSnowflake({ primary: false })
  serial!: string;
}

/** No subscriber of the application listens to it. */
@Entity({ name: 'told_stub' })
class Stub {
  @PrimaryGeneratedColumn()
  no!: number;

  @GeneratedSnowflake({ primary: false })
  serial!: string;
}

describe.each(databaseKinds)('Rows that a subscriber inserts again on %s', (kind) => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await testDatabase(kind);
    const entities = [Order, History, Ticket, Stub];
    dataSource = await new DataSource({ ...database.options, entities, synchronize: true }).initialize();
  });

  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  /** Adds a subscriber that refuses the first row that it is told of. */
  function refuseFirst(entity: typeof Order | typeof Ticket): void {
    let isFirst = true;
    dataSource.subscribers.push({
      listenTo: () => entity,
      beforeInsert: () => {
        if (!isFirst) return;
        isFirst = false;
        throw new Error('refused');
      },
    });
  }

  it.each([
    ['before', true],
    ['before', false],
    ['after', true],
  ] as const)(
    'have IDs of their own in another table: %sInsert(), another call meanwhile: %p',
    async (when, meanwhile) => {
      const { source, open } = waitingSource();
      attachSnowflakes(dataSource, source);
      const mirrored: Promise<unknown>[] = [];
      const mirror = ({ entity }: InsertEvent<Partial<Order>>): void => {
        // The event's own manager is released by the time that TypeORM tells of the second row after the insert.
        mirrored.push(dataSource.manager.insert(History, entity));
      };
      dataSource.subscribers.push({ listenTo: () => Order, [`${when}Insert`]: mirror });
      const order: Partial<Order> = { title: 'a' };
      const inserted = dataSource.manager.insert(Order, [order, order]);
      const another = meanwhile ? dataSource.manager.insert(History, { title: 'unrelated' }) : undefined;
      await setImmediate();
      open();
      await inserted;
      await another;
      await Promise.all(mirrored);
      const ids = [
        ...(await dataSource.manager.find(Order)).map(({ id }) => id),
        ...(await dataSource.manager.find(History)).map(({ id }) => id),
      ];
      expect(ids).toHaveLength(meanwhile ? 5 : 4);
      expect(new Set(ids).size).toBe(ids.length);
    },
  );

  it.each([
    ['insert', true],
    ['save', true],
    ['insert', false],
  ] as const)('have IDs of their own in the same table: %s(), another call meanwhile: %p', async (how, meanwhile) => {
    const { source, open } = waitingSource();
    attachSnowflakes(dataSource, source);
    const others: Promise<unknown>[] = [];
    let told = 0;
    dataSource.subscribers.push({
      listenTo: () => Ticket,
      beforeInsert: ({ entity, manager }: InsertEvent<Ticket>) => {
        if (++told > 2) return;
        const another: Promise<unknown> =
          how === 'insert' ? manager.insert(Ticket, entity) : manager.save(Ticket, entity);
        // A save of the object that stands for two rows may be refused.
        others.push(another.catch(() => undefined));
      },
    });
    const ticket: Partial<Ticket> = {};
    const inserted = dataSource.manager.insert(Ticket, [ticket, ticket]);
    const another = meanwhile ? dataSource.manager.insert(History, { title: 'unrelated' }) : undefined;
    await setImmediate();
    open();
    await inserted;
    await another;
    await Promise.all(others);
    const serials = (await dataSource.manager.find(Ticket)).map(({ serial }) => serial);
    expect(new Set(serials).size).toBe(serials.length);
    if (how === 'insert') expect(serials).toHaveLength(4);
  });

  it('have keys of their own', async () => {
    const { source, open } = waitingSource();
    attachSnowflakes(dataSource, source);
    const others: Promise<unknown>[] = [];
    let told = 0;
    dataSource.subscribers.push({
      listenTo: () => Order,
      beforeInsert: ({ entity, manager }: InsertEvent<Order>) => {
        if (++told > 2) return;
        others.push(manager.insert(Order, entity));
      },
    });
    const order: Partial<Order> = {};
    const inserted = dataSource.manager.insert(Order, [order, order]);
    const another = dataSource.manager.insert(History, { title: 'unrelated' });
    await setImmediate();
    open();
    await Promise.all([inserted, another]);
    await Promise.all(others);
    expect(await dataSource.manager.count(Order)).toBe(4);
  });

  it('have keys of their own when the insert is tried again after a subscriber has refused a row', async () => {
    attachSnowflakes(dataSource, snowflakeSource());
    refuseFirst(Order);
    const repeated: Partial<Order> = {};
    const rows = [{}, repeated, repeated];
    await expect(dataSource.manager.insert(Order, rows)).rejects.toThrow('refused');
    await dataSource.manager.insert(Order, rows);
    expect(await dataSource.manager.count(Order)).toBe(3);
  });

  it('have IDs of their own when one object is inserted twice at once after a failure', async () => {
    attachSnowflakes(dataSource, snowflakeSource());
    refuseFirst(Ticket);
    const row: Partial<Ticket> = {};
    await expect(dataSource.manager.insert(Ticket, [{}, row])).rejects.toThrow('refused');
    await Promise.all([dataSource.manager.insert(Ticket, row), dataSource.manager.insert(Ticket, row)]);
    const serials = (await dataSource.manager.find(Ticket)).map(({ serial }) => serial);
    expect(new Set(serials).size).toBe(2);
  });

  it('are refused by assign() while they stand for two rows', async () => {
    const { source, open } = waitingSource();
    const attached = new AttachedSnowflakes(source);
    attached.attach(dataSource);
    const results: unknown[] = [];
    dataSource.subscribers.push({
      listenTo: () => Order,
      beforeInsert: ({ entity }: InsertEvent<Order>) => {
        try {
          attached.assign(entity, Order);
          results.push('assigned');
        } catch (error) {
          results.push((error as { why: string }).why);
        }
      },
    });
    const order: Partial<Order> = {};
    const inserted = dataSource.manager.insert(Order, [order, order]);
    const another = dataSource.manager.insert(History, {});
    open();
    await Promise.all([inserted, another]);
    expect(results).toEqual(['twice', 'twice']);
  });

  describe('by an insert that runs by itself', () => {
    const seen: unknown[] = [];

    beforeEach(() => {
      seen.length = 0;
      attachSnowflakes(dataSource, snowflakeSource());
    });

    const witness = (): void => {
      dataSource.subscribers.push({
        listenTo: () => Ticket,
        beforeInsert: ({ entity }: InsertEvent<Ticket>) => void seen.push(entity.serial),
      });
    };

    const serials = async (): Promise<string[]> => (await dataSource.manager.find(Ticket)).map((each) => each.serial);

    it.each(['in one call', 'in two at once'])(
      'have one ID each when their object is inserted again: %s',
      async (how) => {
        witness();
        const { manager } = dataSource;
        const ticket: Partial<Ticket> = {};
        await manager.insert(Ticket, [{}, ticket]);
        delete ticket.no;
        if (how === 'in one call') await manager.insert(Ticket, [ticket, ticket]);
        else await Promise.all([manager.insert(Ticket, ticket), manager.insert(Ticket, ticket)]);
        // The first of them has the ID that the object held.
        const found = await serials();
        expect([found.length, new Set(found).size]).toEqual([4, 3]);
      },
    );

    it('have IDs of their own when their query builder is executed again', async () => {
      witness();
      const insert = dataSource.createQueryBuilder().insert().into(Ticket).values([{}, {}]).updateEntity(false);
      for (let run = 0; run < 3; run++) await insert.execute();
      expect(new Set(await serials()).size).toBe(6);
      expect(seen).toEqual(await serials());
    });

    it.each([
      ['behind', 'own row', 'twice'],
      ['behind', 'next row', 'told'],
      ['in front', 'own row', 'told'],
    ])('are filled once where a subscriber %s broadcasts its %s by hand: %s', async (where, which, result) => {
      const rows: Partial<Ticket>[] = [{}, {}];
      const subscriber = {
        listenTo: () => Ticket,
        beforeInsert: ({ entity, metadata, queryRunner }: InsertEvent<Ticket>) => {
          if (seen.length > 0) return;
          seen.push('nothing');
          try {
            const row = which === 'own row' ? entity : rows[1];
            const results = { count: 0, promises: [], wait: () => Promise.resolve() };
            queryRunner.broadcaster.broadcastBeforeInsertEvent(results as never, metadata, row);
            seen[0] = 'told';
          } catch (error) {
            seen[0] = (error as { why: unknown }).why;
          }
        },
      };
      dataSource.subscribers[where === 'behind' ? 'push' : 'unshift'](subscriber);
      const inserted = dataSource.manager.insert(Ticket, rows);
      // What was told by hand is told once more by TypeORM.
      if (result === 'told') await expect(inserted).rejects.toMatchObject({ why: 'twice' });
      else await inserted;
      expect(seen).toEqual([result]);
      const ids = rows.map(({ serial }) => serial).filter(Boolean);
      expect(new Set(ids).size).toBe(ids.length);
    });

    it('have IDs where a subscriber in front has taken away those that they came with', async () => {
      const takeAway = ({ entity }: InsertEvent<Ticket>): void => void delete (entity as Partial<Ticket>).serial;
      dataSource.subscribers.unshift({ listenTo: () => Ticket, beforeInsert: takeAway });
      await dataSource.manager.insert(Ticket, [{}, { serial: '77' }, {}]);
      const found = await serials();
      expect(found).not.toContain('77');
      expect(new Set(found).size).toBe(3);
    });

    it.each(['insert', 'save'] as const)(
      'have IDs of their own where a subscriber in front writes them first: %s',
      async (how) => {
        const others: Promise<unknown>[] = [];
        const write = ({ entity, manager }: InsertEvent<Ticket>): void => {
          if (others.length > 1) return;
          const other: Promise<unknown> =
            how === 'insert' ? manager.insert(Ticket, entity) : manager.save(Ticket, entity);
          others.push(other.catch(() => undefined));
        };
        dataSource.subscribers.unshift({ listenTo: () => Ticket, beforeInsert: write });
        await dataSource.manager.insert(Ticket, [{}, {}, {}]).catch(() => undefined);
        await Promise.all(others);
        const found = await serials();
        expect(found.length).toBeGreaterThan(0);
        expect(new Set(found).size).toBe(found.length);
      },
    );
  });

  describe('by an insert of an object that has been another row', () => {
    let open: () => void;

    beforeEach(() => {
      attachSnowflakes(dataSource, snowflakeSource());
      const opened = new Promise<void>((resolve) => (open = resolve));
      let told = 0;
      // The first insert of the object waits until the test goes on.
      dataSource.subscribers.push({ listenTo: () => Ticket, beforeInsert: () => (++told === 1 ? opened : undefined) });
    });

    /** Inserts an object, whose own key it does not take. */
    const insert = (ticket: Partial<Ticket>): Promise<unknown> =>
      dataSource.createQueryBuilder().insert().into(Ticket).values(ticket).updateEntity(false).execute();

    const serialsOf = async (entity: typeof Ticket | typeof Stub): Promise<string[]> =>
      (await dataSource.manager.find(entity)).map(({ serial }) => serial);

    it.each(['meanwhile', 'afterwards'])('have IDs of their own where that row is rolled back %s', async (when) => {
      const ticket: Partial<Ticket> = {};
      const runner = dataSource.createQueryRunner();
      await runner.startTransaction();
      await runner.manager.insert(Stub, ticket);
      delete ticket.no;
      delete ticket.serial;
      const inserted = insert(ticket);
      if (when === 'afterwards') open();
      if (when === 'afterwards') await inserted;
      await runner.rollbackTransaction();
      await runner.release();
      const others = [insert(ticket), insert(ticket)];
      open();
      await Promise.all([inserted, ...others]);
      // On SQLite the transaction has the first of them as well. The second may have its ID, which the object holds.
      const serials = await serialsOf(Ticket);
      expect(serials.length - new Set(serials).size).toBe(when === 'afterwards' && kind !== 'sqlite' ? 1 : 0);
    });

    it('have IDs of their own where the query builder of that row is executed again', async () => {
      const ticket: Partial<Ticket> = {};
      const first = dataSource.createQueryBuilder().insert().into(Stub).values(ticket).updateEntity(false);
      await first.execute();
      delete ticket.serial;
      const inserted = insert(ticket);
      const again = first.execute();
      const another = insert(ticket);
      open();
      await Promise.all([inserted, again, another]);
      expect(new Set([...(await serialsOf(Ticket)), ...(await serialsOf(Stub))]).size).toBe(4);
    });

    it.each(['was given', 'was refused'])('have IDs of their own where the one of that row %s', async (how) => {
      open();
      const ticket: Partial<Ticket> = how === 'was given' ? { serial: '77' } : {};
      const first = dataSource.createQueryBuilder().insert().into(Ticket).values(ticket).updateEntity(false);
      if (how === 'was refused') {
        const refusing = {
          beforeInsert: () => {
            throw new Error('refused');
          },
        };
        dataSource.subscribers.unshift(refusing);
        await expect(first.execute()).rejects.toThrow('refused');
        dataSource.subscribers.shift();
      } else await first.execute();
      delete ticket.serial;
      await insert(ticket);
      first.values({});
      await first.execute();
      const before = await serialsOf(Ticket);
      await Promise.all([insert(ticket), insert(ticket)]);
      // The first of them has the ID that the object holds.
      expect(new Set(await serialsOf(Ticket)).size).toBe(before.length + 1);
    });
  });
});
