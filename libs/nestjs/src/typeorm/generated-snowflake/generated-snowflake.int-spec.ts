import 'reflect-metadata';
import { createLayout, Layout, SnowflakeGenerator, StaticTenure } from '@raindrop/core';
import {
  BaseEntity,
  ChildEntity,
  Column,
  DataSource,
  Entity,
  EntitySchema,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  TableInheritance,
  type DataSourceOptions,
  type EntitySubscriberInterface,
  type InsertEvent,
  type Relation,
} from 'typeorm';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../../test/servers/test-databases.js';
import { systemPorts } from '../../system/system-ports.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';
import { snowflakeColumn } from './snowflake-column.js';
import { SnowflakeNotAssignedError } from './snowflake-errors.js';
import type { SnowflakeSource } from './snowflake-source.js';

abstract class Document {
  @GeneratedSnowflake({ comment: 'an ID' })
  id!: string;

  @Column({ type: 'varchar', length: 50, default: '' })
  title!: string;
}

@Entity()
class Customer extends Document {
  @OneToMany(() => Order, (order) => order.customer, { cascade: true })
  orders!: Relation<Order>[];

  @OneToOne(() => Profile, (profile) => profile.customer, { cascade: true })
  profile!: Relation<Profile>;
}

@Entity()
class Order extends Document {
  @ManyToOne(() => Customer, (customer) => customer.orders, { cascade: ['insert'], nullable: true })
  customer!: Relation<Customer> | null;

  @ManyToMany(() => Tag, { cascade: true })
  @JoinTable()
  tags!: Relation<Tag>[];
}

@Entity()
class Profile extends Document {
  @Column({ type: 'bigint' })
  customerId!: string;

  @OneToOne(() => Customer, (customer) => customer.profile)
  @JoinColumn({ name: 'customerId' })
  customer!: Relation<Customer>;
}

@Entity()
class Tag extends BaseEntity {
  @GeneratedSnowflake()
  id!: string;

  @Column({ type: 'varchar', length: 50, unique: true })
  name!: string;

  @Column({ type: 'int', default: 0 })
  uses!: number;
}

@Entity()
class InvoiceLine {
  @PrimaryColumn({ type: 'int' })
  invoice!: number;

  @GeneratedSnowflake({ name: 'line_id' })
  line!: string;
}

@Entity()
class Ticket {
  @PrimaryGeneratedColumn()
  id!: number;

  @GeneratedSnowflake({ primary: false, unique: true })
  number!: bigint;

  @GeneratedSnowflake({ primary: false, service: 'small', nullable: true })
  short!: number;
}

@Entity()
class Counter {
  @GeneratedSnowflake({ service: 'small', code: 'counters' })
  id!: number;

  @Column({ type: 'int', default: 0 })
  value!: number;
}

class Reference {
  @GeneratedSnowflake({ primary: false })
  key!: string;
}

@Entity()
class Shipment {
  @GeneratedSnowflake()
  id!: string;

  @Column(() => Reference)
  reference!: Reference;
}

@Entity()
@TableInheritance({ column: { type: 'varchar', length: 20, name: 'kind' } })
class Payment {
  @GeneratedSnowflake()
  id!: string;
}

@ChildEntity()
class CardPayment extends Payment {
  @GeneratedSnowflake({ primary: false })
  authorisation!: string;
}

@ChildEntity()
class CashPayment extends Payment {
  @Column({ type: 'int', nullable: true })
  change!: number;
}

interface Note {
  id: string;
  text: string;
}
const noteSchema = new EntitySchema<Note>({
  name: 'note',
  columns: { id: snowflakeColumn(), text: { type: 'varchar', length: 50 } },
});

const entities = [
  Customer,
  Order,
  Profile,
  Tag,
  InvoiceLine,
  Ticket,
  Counter,
  Shipment,
  Payment,
  CardPayment,
  CashPayment,
  noteSchema,
];

const now = Date.now();
const wide = createLayout(
  { timeUnit: 'millisecond', startTimeStamp: '2024-01-01', timeStampLength: 41, workIdLength: 10, endBitsLength: 1 },
  now,
);
const narrow = new Layout({
  fields: [
    { name: 'time', role: 'time', bits: 31 },
    { name: 'worker', role: 'worker', bits: 4 },
    { name: 'sequence', role: 'sequence', bits: 12 },
  ],
  unitMs: 1_000,
  epochMs: Date.UTC(2024, 0, 1),
});

function source(name: string, layout: Layout): SnowflakeSource & { codes: (string | undefined)[] } {
  const generator = new SnowflakeGenerator({ layout, tenure: new StaticTenure(1) }, systemPorts('exact'));
  const codes: (string | undefined)[] = [];
  return {
    name,
    layout,
    codes,
    nextId: (code) => {
      codes.push(code);
      return generator.nextId(code);
    },
    nextIdAsync: (code) => generator.nextIdAsync(code),
  };
}

/** What a user's own subscriber saw. */
class Witness implements EntitySubscriberInterface {
  readonly seen: unknown[] = [];
  beforeInsert(event: InsertEvent<{ id?: unknown }>): void {
    this.seen.push(event.entity?.id);
  }
}

const WIDE_ID = /^\d{17,19}$/;

describe.each(databaseKinds)('@GeneratedSnowflake() on %s', (kind) => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let statements: string[] = [];
  const small = source('small', narrow);
  const witness = new Witness();

  beforeAll(async () => {
    database = await testDatabase(kind);
    const logger = {
      logQuery: (sql: string) => void statements.push(sql),
      logQueryError: () => undefined,
      logQuerySlow: () => undefined,
      logSchemaBuild: () => undefined,
      logMigration: () => undefined,
      log: () => undefined,
    };
    const options = { ...database.options, entities, synchronize: true, logging: true, logger } as DataSourceOptions;
    dataSource = await new DataSource(options).initialize();
    dataSource.subscribers.push(witness);
    attachSnowflakes(dataSource, source('default', wide));
    attachSnowflakes(dataSource, small);
    Tag.useDataSource(dataSource);
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  beforeEach(() => {
    statements = [];
  });

  /** The database's own text of a column. */
  const stored = async (table: string, column: string): Promise<string[]> => {
    const quoted = dataSource.driver.escape(column);
    const rows: { text: string }[] = await dataSource.query(
      `SELECT CAST(${quoted} AS ${kind === 'postgres' || kind === 'sqlite' ? 'TEXT' : 'CHAR'}) AS text ` +
        `FROM ${dataSource.driver.escape(table)}`,
    );
    return rows.map(({ text }) => text);
  };

  it('saves an instance with one INSERT and no SELECT', async () => {
    const shipment = await dataSource.getRepository(Shipment).save(new Shipment());
    expect(shipment.id).toMatch(WIDE_ID);
    expect(statements.filter((sql) => sql.startsWith('INSERT'))).toHaveLength(1);
    expect(statements.filter((sql) => /^\s*SELECT/i.test(sql))).toEqual([]);
    expect(await stored('shipment', 'id')).toContain(shipment.id);
  });

  it('saves a plain object and an array, in ascending order', async () => {
    const repository = dataSource.getRepository(Customer);
    const one = await repository.save({ title: 'plain' });
    const more = await repository.save([{ title: 'a' }, repository.create({ title: 'b' }), { title: 'c' }]);
    const ids = [one, ...more].map((each) => BigInt(each.id));
    expect(ids).toEqual([...ids].sort((a, b) => (a < b ? -1 : 1)));
    expect(new Set(ids).size).toBe(4);
    expect(await stored('customer', 'id')).toEqual(expect.arrayContaining(ids.map(String)));
  });

  it('keeps an ID that is set, and replaces null', async () => {
    const repository = dataSource.getRepository(Customer);
    await repository.save({ id: '9007199254740993', title: 'kept' });
    expect(await stored('customer', 'id')).toContain('9007199254740993');
    expect(await repository.existsBy({ id: '9007199254740992' })).toBe(false);
    const filled = await repository.save({ id: null as unknown as string, title: 'null' });
    expect(filled.id).toMatch(WIDE_ID);
  });

  it('cascades one-to-many and one-to-one with foreign keys', async () => {
    const customer = await dataSource.getRepository(Customer).save({
      title: 'family',
      orders: [{ title: 'first' }, { title: 'second' }] as Order[],
      profile: { title: 'profile' } as Profile,
    });
    const found = await dataSource.getRepository(Customer).findOneOrFail({
      where: { id: customer.id },
      relations: { orders: true, profile: true },
    });
    expect(found.orders.map(({ id }) => id).sort()).toEqual(customer.orders.map(({ id }) => id).sort());
    expect(found.profile).toMatchObject({ id: customer.profile.id, customerId: customer.id });
  });

  it('cascades many-to-one and many-to-many', async () => {
    const repository = dataSource.getRepository(Order);
    const order = await repository.save({
      title: 'order',
      customer: { title: 'cascaded' } as Customer,
      tags: [{ name: `red ${kind}` }, { name: `blue ${kind}` }] as Tag[],
    });
    const found = await repository.findOneOrFail({
      where: { id: order.id },
      relations: { customer: true, tags: true },
      loadRelationIds: false,
    });
    expect(found.customer!.id).toBe(order.customer.id);
    expect(found.tags.map(({ id }) => id).sort()).toEqual(order.tags.map(({ id }) => id).sort());
  });

  it('leaves an empty many-to-one empty', async () => {
    const order = await dataSource.getRepository(Order).save({ title: 'alone', customer: null });
    const found = await dataSource
      .getRepository(Order)
      .findOneOrFail({ where: { id: order.id }, relations: { customer: true } });
    expect(found.customer).toBeNull();
  });

  it('fills insert() of one row and of 1,000 in one statement', async () => {
    const repository = dataSource.getRepository(noteSchema);
    const single = await repository.insert({ text: 'single' });
    expect(single.identifiers[0]!.id).toMatch(WIDE_ID);

    const rows = Array.from({ length: 1_000 }, (_, index): Partial<Note> => ({ text: `bulk ${index}` }));
    statements = [];
    const { identifiers } = await repository.insert(rows);
    expect(statements.map((sql) => sql.slice(0, 11))).toEqual(['INSERT INTO']);
    expect(identifiers.map(({ id }) => id as string)).toEqual(rows.map(({ id }) => id));
    const written = new Set(await stored('note', 'id'));
    expect(rows.filter(({ id }) => !written.has(id!))).toEqual([]);
    expect(written.size).toBe(1_001);
  });

  it('saves and deletes 1,500 rows by ID', async () => {
    const repository = dataSource.getRepository(noteSchema);
    const notes = await repository.save(Array.from({ length: 1_500 }, () => ({ text: 'many' })));
    await repository.save(notes.map((note) => ({ ...note, text: 'changed' })));
    expect(await repository.countBy({ text: 'changed' })).toBe(1_500);
    const { affected } = await repository.delete(notes.map(({ id }) => id));
    expect(affected).toBe(1_500);
    expect(await repository.countBy({ text: 'changed' })).toBe(0);
  });

  it('fills QueryBuilder values, also inside a transaction that is rolled back', async () => {
    const values: Partial<Customer>[] = [{ title: 'x' }, { title: 'y' }];
    await dataSource.createQueryBuilder().insert().into(Customer).values(values).execute();
    expect(await stored('customer', 'id')).toEqual(expect.arrayContaining(values.map(({ id }) => id)));

    let lost: string | undefined;
    await expect(
      dataSource.transaction(async (manager) => {
        lost = (await manager.save(Customer, { title: 'lost' })).id;
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(lost).toMatch(WIDE_ID);
    expect(await stored('customer', 'id')).not.toContain(lost);
  });

  it('upserts: a new row gets an ID, an existing row keeps its own', async () => {
    const repository = dataSource.getRepository(Tag);
    const name = `upsert ${kind}`;
    await repository.upsert({ name, uses: 1 }, ['name']);
    const { id } = await repository.findOneByOrFail({ name });
    expect(id).toMatch(WIDE_ID);
    await repository.upsert([{ name, uses: 2 }], ['name']);
    expect(await repository.findOneByOrFail({ name })).toMatchObject({ id, uses: 2 });
  });

  it('serves active records', async () => {
    const tag = await Tag.create({ name: `active ${kind}` }).save();
    expect(tag.id).toMatch(WIDE_ID);
    expect((await Tag.findOneByOrFail({ id: tag.id })).name).toBe(tag.name);
  });

  it('fills the missing half of a composite key', async () => {
    const repository = dataSource.getRepository(InvoiceLine);
    const [first, second] = await repository.save([{ invoice: 1 }, { invoice: 1 }]);
    expect(first!.line).not.toBe(second!.line);
    expect(await repository.findOneByOrFail({ invoice: 1, line: first!.line })).toEqual(first);
    expect(await stored('invoice_line', 'line_id')).toEqual(expect.arrayContaining([first!.line, second!.line]));
  });

  it('fills columns beside an auto-increment key: a bigint and a number', async () => {
    const repository = dataSource.getRepository(Ticket);
    const ticket = await repository.save(new Ticket());
    expect([typeof ticket.id, typeof ticket.number, typeof ticket.short]).toEqual(['number', 'bigint', 'number']);
    expect(await repository.findOneByOrFail({ number: ticket.number })).toEqual(ticket);
    expect(await stored('ticket', 'number')).toContain(ticket.number.toString());
  });

  it('fills number keys from the service and code that the column names', async () => {
    const repository = dataSource.getRepository(Counter);
    const counter = await repository.save(new Counter());
    expect(typeof counter.id).toBe('number');
    expect(small.codes.at(-1)).toBe('counters');
    counter.value = 7;
    await repository.save(counter);
    expect(await repository.findBy({})).toEqual([counter]);
  });

  it('fills an embedded column, and makes the embedded object when it is missing', async () => {
    const repository = dataSource.getRepository(Shipment);
    const shipment = await repository.save({});
    const embedded = await repository.save({ reference: new Reference() });
    expect(await repository.findOneByOrFail({ id: shipment.id })).toEqual(shipment);
    expect(embedded.reference.key).toMatch(WIDE_ID);
    const { reference } = embedded;
    expect(await repository.countBy({ reference: { key: reference.key } })).toBe(1);
  });

  it('serves single-table inheritance: parents and siblings leave a child column empty', async () => {
    const card = await dataSource.manager.save(new CardPayment());
    const cash = await dataSource.manager.save(new CashPayment());
    const other = await dataSource.manager.save(new Payment());
    expect([card.id, card.authorisation, cash.id, other.id].every((id) => WIDE_ID.test(id))).toBe(true);
    expect(Object.keys({ ...cash, ...other })).not.toContain('authorisation');
    expect((await stored('payment', 'authorisation')).filter((text) => text !== null)).toEqual([card.authorisation]);
    expect(await dataSource.getRepository(CardPayment).findOneByOrFail({ id: card.id })).toEqual(card);
    expect(await dataSource.getRepository(Payment).count()).toBe(3);
  });

  it('serves an EntitySchema', async () => {
    const note = await dataSource.getRepository<Note>('note').save({ text: 'hello' });
    expect(note.id).toMatch(WIDE_ID);
    expect(await dataSource.getRepository(noteSchema).findOneBy({ id: note.id })).toEqual(note);
  });

  it('is in front of subscribers that were there before', async () => {
    witness.seen.length = 0;
    const customer = await dataSource.getRepository(Customer).save({ title: 'seen' });
    expect(witness.seen).toEqual([customer.id]);
  });

  it.each([
    ['save with listeners: false', () => dataSource.manager.save(Tag, { name: 'silent' }, { listeners: false })],
    [
      'callListeners(false)',
      () =>
        dataSource.createQueryBuilder().insert().into(Tag).values({ name: 'silent' }).callListeners(false).execute(),
    ],
  ])('refuses %s, and writes nothing', async (_, insert) => {
    const failure: unknown = await insert().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(SnowflakeNotAssignedError);
    expect(failure).toMatchObject({ service: 'default', column: 'Tag.id', retryable: false });
    expect(await dataSource.getRepository(Tag).countBy({ name: 'silent' })).toBe(0);
  });

  it('takes an ID that was set by hand where no subscriber is called', async () => {
    await dataSource.manager.save(Tag, { id: '9007199254740995', name: `by hand ${kind}` }, { listeners: false });
    expect(await stored('tag', 'id')).toContain('9007199254740995');
  });

  it('has nothing to migrate after synchronize', async () => {
    expect((await dataSource.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
  });
});
