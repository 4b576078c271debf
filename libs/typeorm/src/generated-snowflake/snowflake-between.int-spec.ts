import { createLayout, InvalidPartError } from '@raindrop/core';
import { And, Brackets, Column, DataSource, Entity, ManyToOne, MoreThan, Not, Or, type Relation } from 'typeorm';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';
import { SnowflakeBetween } from './snowflake-form.js';
import { UnresolvedRangeError } from './snowflake-errors.js';

@Entity()
class Shelf {
  @GeneratedSnowflake()
  id!: string;
}

@Entity()
class Book {
  @GeneratedSnowflake()
  id!: string;

  @Column({ type: 'varchar', length: 20 })
  name!: string;

  @ManyToOne(() => Shelf)
  shelf!: Relation<Shelf>;

  @Column({ type: 'bigint', nullable: true })
  shelfId!: string;
}

@Entity()
class TypedBook {
  @GeneratedSnowflake({ prefix: 'book' })
  id!: string;

  @Column({ type: 'varchar', length: 20 })
  name!: string;
}

const SECOND = Date.parse('2026-03-01T12:00:00Z');
const layout = createLayout(
  { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 },
  SECOND,
);

/** The first and the last ID of the seconds around `SECOND`: whatever worker, lane, sequence and end bits. */
const EDGES = new Map(
  [-1, 0, 1].flatMap((offset) => [
    [`first of ${offset}`, layout.idFloor(SECOND + offset * 1_000)] as const,
    [`last of ${offset}`, layout.idCeil(SECOND + offset * 1_000)] as const,
  ]),
);

describe.each(databaseKinds)('SnowflakeBetween() on %s', (kind) => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await testDatabase(kind);
    const options = { ...database.options, entities: [Shelf, Book, TypedBook], synchronize: true };
    dataSource = await new DataSource(options).initialize();
    attachSnowflakes(dataSource, snowflakeSource('default', { layout }));
    const [, , first] = [...EDGES.values()];
    await dataSource.manager.insert(Shelf, { id: String(first) });
    for (const [name, id] of EDGES) {
      await dataSource.manager.insert(Book, { id: String(id), name, shelf: { id: String(first) } });
      await dataSource.manager.insert(TypedBook, { id: id as unknown as string, name });
    }
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const names = (rows: readonly { name: string }[]): string[] => rows.map(({ name }) => name).sort();
  const THIS = ['first of 0', 'last of 0'];

  it.each<[string, number, number, string[]]>([
    ['the second alone, by its first and last millisecond', 0, 999, THIS],
    ['the whole second for any moment inside it', 400, 400, THIS],
    ['the second before as well, from its last millisecond', -1, 999, [...THIS, 'first of -1', 'last of -1']],
    [
      'the second after as well, when its first millisecond is included',
      0,
      1_000,
      [...THIS, 'first of 1', 'last of 1'],
    ],
    ['nothing when the end is before the beginning', 1_000, 0, []],
    ['everything for a range beyond the life of the layout', -1e12, 8.64e15 - SECOND, [...EDGES.keys()]],
  ])('finds %s', async (_, from, to, expected) => {
    const id = SnowflakeBetween<string>(new Date(SECOND + from), SECOND + to);
    const books = dataSource.getRepository(Book);
    expect(names(await books.find({ where: { id } }))).toEqual([...expected].sort());
    // The same operator again: it is not used up.
    expect(await books.countBy({ id })).toBe(expected.length);
    expect(names(await books.createQueryBuilder('b').where({ id }).getMany())).toEqual([...expected].sort());
    expect(names(await dataSource.getRepository(TypedBook).findBy({ id }))).toEqual([...expected].sort());
  });

  it('works inside Not, And and Or, in brackets, on a foreign key and across a relation', async () => {
    const books = dataSource.getRepository(Book);
    const within = SnowflakeBetween<string>(SECOND, SECOND + 999);
    const past = MoreThan(String(layout.idFloor(SECOND)));
    expect(await books.countBy({ id: Not(within) })).toBe(4);
    expect(names(await books.findBy({ id: And(within, past) }))).toEqual(['last of 0']);
    expect(await books.countBy({ id: Or(within, SnowflakeBetween(SECOND + 1_000, SECOND + 1_000)) })).toBe(4);
    expect(await books.countBy({ shelfId: within })).toBe(6);
    expect(await books.countBy({ shelf: { id: within } })).toBe(6);
    const query = books.createQueryBuilder('b').where('b.name LIKE :name', { name: 'last%' });
    expect(await query.andWhere(new Brackets((qb) => qb.where({ id: within }))).getCount()).toBe(1);
    const { affected } = await books.update({ id: within }, { name: 'seen' });
    expect(affected).toBe(2);
    await books.update({ id: String(layout.idFloor(SECOND)) }, { name: 'first of 0' });
    await books.update({ id: String(layout.idCeil(SECOND)) }, { name: 'last of 0' });
  });

  it('is told apart on a column that holds no IDs', async () => {
    const books = dataSource.getRepository(Book);
    await expect(books.findBy({ name: SnowflakeBetween(0, 1) })).rejects.toThrow(UnresolvedRangeError);
  });

  it('is told apart while no service is attached', async () => {
    const options = { ...database.options, entities: [Shelf, Book, TypedBook] };
    const other = await new DataSource(options).initialize();
    const search = other.getRepository(Book).findBy({ id: SnowflakeBetween(0, 1) });
    await expect(search).rejects.toThrow(UnresolvedRangeError);
    await other.destroy();
  });
});

it.each([new Date(Number.NaN), Number.NaN, '2026-01-01', undefined])('SnowflakeBetween() refuses %p', (date) => {
  expect(() => SnowflakeBetween(date as never, new Date())).toThrow(InvalidPartError);
  expect(() => SnowflakeBetween(0, date as never)).toThrow(/to = /);
});
