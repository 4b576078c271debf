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

describe.each(databaseKinds)('Rows that a subscriber inserts again on %s', (kind) => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await testDatabase(kind);
    const entities = [Order, History, Ticket];
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
});
