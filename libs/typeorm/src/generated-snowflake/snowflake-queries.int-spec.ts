import 'reflect-metadata';
import {
  And,
  Between,
  Brackets,
  Column,
  DataSource,
  Entity,
  Equal,
  type FindOperator,
  In,
  IsNull,
  JoinTable,
  LessThan,
  Like,
  ManyToMany,
  ManyToOne,
  MoreThan,
  MoreThanOrEqual,
  Not,
  OneToMany,
  Or,
  Raw,
  type Relation,
  RelationId,
} from 'typeorm';
import { createLayout, InvalidIdError, InvalidPartError } from '@raindrop/core';
import { SnowflakeGenerator } from '@raindrop/core/internal';
import { systemPorts } from '@raindrop/node/internal';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { StaticTenure } from '../../../core/src/generator/tenure.js';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';
import { SnowflakeBetween } from './snowflake-between.js';
import { UnresolvedRangeError } from './snowflake-errors.js';

@Entity()
class Author {
  @GeneratedSnowflake()
  id!: string;

  @Column({ type: 'int' })
  rank!: number;

  @OneToMany(() => Book, (book) => book.author)
  books!: Relation<Book>[];
}

@Entity()
class Genre {
  @GeneratedSnowflake()
  id!: string;
}

@Entity()
class Book {
  @GeneratedSnowflake()
  id!: string;

  @GeneratedSnowflake({ primary: false, nullable: true })
  shelf!: bigint | null;

  @ManyToOne(() => Author, (author) => author.books, { nullable: true })
  author!: Relation<Author> | null;

  @RelationId((book: Book) => book.author)
  authorId!: string | null;

  @ManyToMany(() => Genre)
  @JoinTable()
  genres!: Relation<Genre>[];

  @RelationId((book: Book) => book.genres)
  genreIds!: string[];
}

const wide = createLayout(
  { timeUnit: 'millisecond', startTimeStamp: '2024-01-01', timeStampLength: 41, workIdLength: 10, endBitsLength: 1 },
  Date.now(),
);

describe.each(databaseKinds)('queries by generated IDs on %s', (kind) => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let authors: Author[];
  let books: Book[];

  beforeAll(async () => {
    database = await testDatabase(kind);
    const entities = [Author, Genre, Book];
    dataSource = await new DataSource({
      ...database.options,
      entities,
      synchronize: true,
    }).initialize();
    const generator = new SnowflakeGenerator({ layout: wide, tenure: new StaticTenure(1) }, systemPorts('exact'));
    const nextId = (): bigint => generator.nextId();
    attachSnowflakes(dataSource, { name: 'default', layout: wide, nextId, nextIdAsync: () => generator.nextIdAsync() });
    let last = 1_000n;
    const small = { name: 'small', layout: { ...wide, safeUntil: null } as typeof wide, nextId: () => ++last };
    attachSnowflakes(dataSource, { ...small, nextIdAsync: () => Promise.resolve(small.nextId()) });

    const genres = await dataSource.manager.save([new Genre(), new Genre()]);
    authors = await dataSource.getRepository(Author).save([{ rank: 1 }, { rank: 2 }, { rank: 3 }] as Author[]);
    const rows = authors.flatMap((author) => [
      { author, genres },
      { author, genres: [genres[0]!] },
    ]);
    books = await dataSource.getRepository(Book).save(rows as Book[]);
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const idsBy = async (id: string | FindOperator<string>): Promise<string[]> =>
    (await dataSource.getRepository(Author).find({ where: { id }, order: { id: 'ASC' } })).map((each) => each.id);

  it('holds IDs that no JavaScript number can hold, exactly', () => {
    expect(authors.every(({ id }) => BigInt(id) > 2n ** 53n)).toBe(true);
    expect(new Set(books.map(({ id }) => id)).size).toBe(6);
  });

  it.each<[string, (id: string) => string | FindOperator<string>, number[]]>([
    ['the ID', (id) => id, [1]],
    ['Equal', (id) => Equal(id), [1]],
    ['In', (id) => In([id, '1']), [1]],
    ['In of nothing', () => In([]), []],
    ['Not', (id) => Not(id), [0, 2]],
    ['Not(In)', (id) => Not(In([id])), [0, 2]],
    ['MoreThan', (id) => MoreThan(id), [2]],
    ['MoreThanOrEqual', (id) => MoreThanOrEqual(id), [1, 2]],
    ['LessThan', (id) => LessThan(id), [0]],
    ['Between', (id) => Between(id, id), [1]],
    ['Or', (id) => Or(LessThan(id), MoreThan(id)), [0, 2]],
    ['IsNull', () => IsNull(), []],
    ['Not(IsNull)', () => Not(IsNull()), [0, 1, 2]],
  ])('finds by %s', async (_, where, expected) => {
    expect(await idsBy(where(authors[1]!.id))).toEqual(expected.map((index) => authors[index]!.id));
  });

  it.each([['find options'], ['where objects']])('takes SQL from a function in %s, and no pattern', async (place) => {
    const countBy = (id: FindOperator<string>): Promise<number> =>
      place === 'find options'
        ? dataSource.getRepository(Author).countBy({ id })
        : dataSource.createQueryBuilder(Author, 'author').where({ id }).getCount();
    expect(await countBy(Raw((id) => `${id} > 0`) as FindOperator<string>)).toBe(3);
    expect(await countBy(Raw((id) => `${id} = :wanted`, { wanted: authors[0]!.id }) as FindOperator<string>)).toBe(1);
    const refused = async (): Promise<number> => countBy(Like('1%'));
    await expect(refused()).rejects.toThrow(InvalidIdError);
  });

  it('uses a find operator twice', async () => {
    const operator = In([authors[0]!.id]);
    expect(await idsBy(operator)).toEqual(await idsBy(operator));
  });

  it('finds by a bigint column, also when it is null', async () => {
    const repository = dataSource.getRepository(Book);
    const { shelf, id } = books[0]!;
    expect((await repository.findOneByOrFail({ shelf: shelf! })).id).toBe(id);
    expect(await repository.countBy({ shelf: In([shelf!, books[1]!.shelf!]) })).toBe(2);
    expect(await repository.countBy({ shelf: IsNull() })).toBe(0);
  });

  it('updates and removes what it found, and nothing else', async () => {
    const repository = dataSource.getRepository(Author);
    // Two neighbours: as numbers they are one.
    const twins = await repository.save([
      { id: '9007199254740992', rank: 10 },
      { id: '9007199254740993', rank: 11 },
    ]);
    const found = await repository.findOneByOrFail({ id: twins[1]!.id });
    expect(found.rank).toBe(11);
    await repository.save({ ...found, rank: 12 });
    await repository.update(twins[0]!.id, { rank: 13 });
    await repository.increment({ id: twins[0]!.id }, 'rank', 1);
    expect(await repository.findBy({ id: In(twins.map(({ id }) => id)) })).toEqual(
      expect.arrayContaining([
        { id: '9007199254740992', rank: 14 },
        { id: '9007199254740993', rank: 12 },
      ]),
    );
    await repository.remove(await repository.findOneByOrFail({ id: twins[1]!.id }));
    expect(await repository.existsBy({ id: twins[0]!.id })).toBe(true);
    await repository.delete(twins[0]!.id);
    expect(await repository.count()).toBe(3);
  });

  it('changes relations of what it found', async () => {
    const repository = dataSource.getRepository(Book);
    const created = await repository.save({ author: authors[0], genres: books[0]!.genres } as Book);
    const book = await repository.findOneOrFail({
      where: { id: created.id },
      relations: { author: true, genres: true },
    });
    book.author = null;
    book.genres = book.genres.slice(0, 1);
    await repository.save(book);
    const changed = await repository.findOneOrFail({
      where: { id: book.id },
      relations: { author: true, genres: true },
    });
    expect([changed.author, changed.authorId, changed.genreIds]).toEqual([null, null, [book.genres[0]!.id]]);
    await repository.remove(changed);
    expect(await repository.count()).toBe(6);
  });
});

@Entity()
class Shelf {
  @GeneratedSnowflake()
  id!: string;
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

describe('The IDs of a span of time', () => {
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
});
