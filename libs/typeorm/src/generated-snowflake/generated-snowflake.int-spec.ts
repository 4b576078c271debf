import 'reflect-metadata';
import { createLayout, Layout } from '@raindrop/core';
import { SnowflakeGenerator } from '@raindrop/core/internal';
import {
  BaseEntity,
  Column,
  DataSource,
  Entity,
  EntitySchema,
  PrimaryGeneratedColumn,
  type DataSourceOptions,
  type EntitySubscriberInterface,
  type InsertEvent,
} from 'typeorm';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { runs } from '../../../../test/tier.js';
import { systemPorts } from '@raindrop/node/internal';
import { StaticTenure } from '../../../core/src/generator/tenure.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { GeneratedSnowflake, snowflakeColumn } from './generated-snowflake.decorator.js';
import { SnowflakeNotAssignedError } from './snowflake-errors.js';
import type { SnowflakeSource } from './generated-column.js';

@Entity()
class Customer {
  @GeneratedSnowflake({ comment: 'an ID' })
  id!: string;

  @Column({ type: 'varchar', length: 50, default: '' })
  title!: string;
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

interface Note {
  id: string;
  text: string;
}
const noteSchema = new EntitySchema<Note>({
  name: 'note',
  columns: { id: snowflakeColumn(), text: { type: 'varchar', length: 50 } },
});

const entities = [Customer, Tag, Ticket, Counter, noteSchema];

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

/** 1,500 in `npm run test:all`: TypeORM compares every two of them. */
const MANY = runs(1_500);
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

  it('keeps an ID that is set, and replaces null', async () => {
    const repository = dataSource.getRepository(Customer);
    await repository.save({ id: '9007199254740993', title: 'kept' });
    expect(await stored('customer', 'id')).toContain('9007199254740993');
    expect(await repository.existsBy({ id: '9007199254740992' })).toBe(false);
    const filled = await repository.save({ id: null as unknown as string, title: 'null' });
    expect(filled.id).toMatch(WIDE_ID);
  });

  it('leaves an existing row its ID in an upsert that names all columns', async () => {
    const { manager } = dataSource;
    const upsert = (tag: Partial<Tag>, ...columns: string[]): Promise<unknown> =>
      manager.createQueryBuilder().insert().into(Tag).values(tag).orUpdate(columns, ['name']).execute();
    await upsert({ name: 'kept', uses: 1 }, 'id', 'uses');
    const { id } = await manager.findOneByOrFail(Tag, { name: 'kept' });
    const met: Partial<Tag> = { name: 'kept', uses: 2 };
    await upsert(met, 'name', 'id', 'uses');
    expect(met.id).not.toBe(id);
    // The object carries an ID that is not in the database.
    await upsert(met, 'id', 'uses');
    await upsert({ name: 'kept', uses: 3 }, 'id');
    expect(await manager.findBy(Tag, { name: 'kept' })).toMatchObject([{ id, uses: 2 }]);
    await manager.upsert(Tag, { id: '77', name: 'kept', uses: 4 }, ['name']);
    expect(await manager.findBy(Tag, { name: 'kept' })).toMatchObject([{ id, uses: 4 }]);
  });

  it('leaves an existing row its ID in an upsert by the ID that meets another unique value', async () => {
    const { manager } = dataSource;
    await manager.insert(Tag, { name: 'taken', uses: 1 });
    const { id } = await manager.findOneByOrFail(Tag, { name: 'taken' });
    const upsert = (tag: Partial<Tag>, ...columns: string[]): Promise<unknown> =>
      manager.createQueryBuilder().insert().into(Tag).values(tag).orUpdate(columns, ['id']).execute();
    const isMysql = kind === 'mariadb' || kind === 'mysql';
    for (const columns of [['id'], ['ID', 'uses'], ['uses', 'id']]) {
      if (kind === 'postgres' && columns.includes('ID')) continue;
      const failure = await upsert({ id: '78', name: 'taken', uses: 2 }, ...columns).then(
        () => 'none',
        (error: Error) => error.name,
      );
      // MariaDB and MySQL find the row by any of its unique values.
      expect([columns, failure]).toEqual([columns, isMysql ? 'none' : 'QueryFailedError']);
    }
    await manager.upsert(Tag, { id: '79', name: 'taken', uses: 3 }, ['id']).catch(() => undefined);
    expect(await manager.findBy(Tag, { name: 'taken' })).toMatchObject([{ id, uses: isMysql ? 3 : 1 }]);
  });

  it(`saves and deletes ${MANY} rows by ID`, async () => {
    const repository = dataSource.getRepository(noteSchema);
    const notes = await repository.save(Array.from({ length: MANY }, () => ({ text: 'many' })));
    await repository.save(notes.map((note) => ({ ...note, text: 'changed' })));
    expect(await repository.countBy({ text: 'changed' })).toBe(MANY);
    const { affected } = await repository.delete(notes.map(({ id }) => id));
    expect(affected).toBe(MANY);
    expect(await repository.countBy({ text: 'changed' })).toBe(0);
  });

  it('fills columns beside an auto-increment key: a bigint and a number', async () => {
    const repository = dataSource.getRepository(Ticket);
    const ticket = await repository.save(new Ticket());
    expect([typeof ticket.id, typeof ticket.number, typeof ticket.short]).toEqual(['number', 'bigint', 'number']);
    expect(await repository.findOneByOrFail({ number: ticket.number })).toEqual(ticket);
    expect(await stored('ticket', 'number')).toContain(ticket.number.toString());
  });

  it('has what returning() tells in the form of the property', async () => {
    if (kind === 'sqlite' || kind === 'mysql') return; // TypeORM refuses returning() there.
    const tickets: Partial<Ticket>[] = [{}, {}];
    const insert = dataSource.createQueryBuilder().insert().into(Ticket).values(tickets).returning(['number', 'short']);
    const { generatedMaps } = await insert.execute();
    expect(tickets.map(({ number, short }) => [typeof number, typeof short])).toEqual([
      ['bigint', 'number'],
      ['bigint', 'number'],
    ]);
    expect(generatedMaps.map(({ number }) => number as unknown)).toEqual(tickets.map(({ number }) => number));
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
    [
      'callListeners(false) with null beside an ID, of which a lenient MariaDB would make 0',
      () => {
        const values = [
          { id: null as unknown as string, name: 'silent' },
          { id: '7', name: 'silent' },
        ];
        return dataSource.createQueryBuilder().insert().into(Tag).values(values).callListeners(false).execute();
      },
    ],
  ])('refuses %s, and writes nothing', async (_, insert) => {
    const failure: unknown = await insert().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(SnowflakeNotAssignedError);
    expect(failure).toMatchObject({ service: 'default', column: 'tag.id', retryable: false });
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
