import 'reflect-metadata';
import { createLayout, InvalidIdError } from '@raindrop/core';
import { SnowflakeGenerator } from '@raindrop/core/internal';
import {
  Between,
  Column,
  DataSource,
  Entity,
  Equal,
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
  RelationId,
  type FindOperator,
  type Relation,
} from 'typeorm';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { systemPorts } from '@raindrop/node/internal';
import { StaticTenure } from '../../../core/src/generator/tenure.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';

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
