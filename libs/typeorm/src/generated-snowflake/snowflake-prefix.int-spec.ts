import { InvalidIdError, typedId } from '@raindrop/core';
import {
  Between,
  Column,
  DataSource,
  Entity,
  In,
  JoinTable,
  ManyToMany,
  ManyToOne,
  MoreThan,
  Not,
  OneToMany,
  RelationId,
  type Relation,
} from 'typeorm';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';

@Entity()
class Author {
  @GeneratedSnowflake({ prefix: 'author' })
  id!: string;

  @Column({ type: 'varchar', length: 40, default: '' })
  name!: string;

  @OneToMany(() => Book, (book) => book.author, { cascade: true })
  books!: Relation<Book>[];

  @OneToMany(() => Letter, (letter) => letter.author)
  letters!: Promise<Letter[]>;
}

@Entity()
class Book {
  @GeneratedSnowflake({ prefix: 'book' })
  id!: string;

  @Column({ type: 'bigint', nullable: true })
  authorId!: string | null;

  @ManyToOne(() => Author, (author) => author.books)
  author!: Relation<Author> | null;

  @ManyToMany(() => Genre, { cascade: true })
  @JoinTable()
  genres!: Relation<Genre>[];

  @RelationId((book: Book) => book.genres)
  genreIds!: string[];
}

@Entity()
class Genre {
  @GeneratedSnowflake({ prefix: 'genre' })
  id!: string;
}

@Entity()
class Letter {
  @GeneratedSnowflake({ prefix: 'letter' })
  id!: string;

  @ManyToOne(() => Author, (author) => author.letters, { lazy: true })
  author!: Promise<Author>;

  /** Typed text that is meant as text. */
  @Column({ type: 'varchar', length: 60, nullable: true })
  about!: string;
}

describe.each(databaseKinds)('A typed prefix on %s', (kind) => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let author: Author;
  let other: Author;
  let book: Book;
  let updates: string[] = [];

  beforeAll(async () => {
    database = await testDatabase(kind);
    const logger = {
      logQuery: (sql: string) => void (/^UPDATE/i.test(sql) && updates.push(sql)),
      logQueryError: () => undefined,
      logQuerySlow: () => undefined,
      logSchemaBuild: () => undefined,
      logMigration: () => undefined,
      log: () => undefined,
    };
    const more = { entities: [Author, Book, Genre, Letter], synchronize: true, logging: true, logger };
    dataSource = await new DataSource({ ...database.options, ...more }).initialize();
    attachSnowflakes(dataSource, snowflakeSource());
    const authors = dataSource.getRepository(Author);
    author = await authors.save({ name: 'Ada', books: [{ genres: [{}, {}] }, {}] as Book[] } as Author);
    other = await authors.save({ name: 'Bob', books: [{}] as Book[] } as Author);
    book = author.books[0]!;
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  beforeEach(() => {
    updates = [];
  });

  const books = () => dataSource.getRepository(Book);
  const plain = (id: string, prefix = 'book'): string => typedId(prefix).decode(id).toString();

  it('shows the text in code and JSON, and keeps a bigint', async () => {
    expect(author.id).toMatch(/^author_[0-9A-Za-z]{11}$/);
    expect(JSON.parse(JSON.stringify(author))).toMatchObject({ id: author.id, books: [{ id: book.id }, {}] });
    const text = kind === 'postgres' || kind === 'sqlite' ? 'TEXT' : 'CHAR';
    const rows: { id: string }[] = await dataSource.query(`SELECT CAST(id AS ${text}) AS id FROM author ORDER BY name`);
    expect(rows.map(({ id }) => id)).toEqual([plain(author.id, 'author'), plain(other.id, 'author')]);
  });

  it('finds by every kind of condition', async () => {
    const count = (where: object): Promise<number> => books().count({ where });
    expect(await books().findOneByOrFail({ id: book.id })).toMatchObject({ id: book.id, authorId: author.id });
    expect(await count({ id: In([book.id, other.books[0]!.id]) })).toBe(2);
    expect(await count({ id: Not(book.id) })).toBe(2);
    expect(await count({ id: Not(In([book.id])) })).toBe(2);
    expect(await count({ id: MoreThan(book.id) })).toBe(2);
    expect(await count({ id: Between(book.id, book.id) })).toBe(1);
    expect(await count({ authorId: author.id })).toBe(2);
    expect(await count({ author: { id: author.id } })).toBe(2);
    expect(await count({ author: { id: In([author.id, other.id]) } })).toBe(3);
    expect(await count({ author: In([author.id, other.id]) })).toBe(3);
    const query = () => books().createQueryBuilder('book');
    expect(await query().where({ id: book.id }).getCount()).toBe(1);
    expect(await query().where({ author }).getCount()).toBe(2);
    expect(await query().whereInIds([book.id, other.books[0]!.id]).getCount()).toBe(2);
  });

  it('finds by conditions written as SQL', async () => {
    const query = () => books().createQueryBuilder('book');
    expect(await query().where('book.id = :id', { id: book.id }).getCount()).toBe(1);
    expect(
      await query()
        .where('book.id IN (:...ids)', { ids: [book.id, other.books[0]!.id] })
        .getCount(),
    ).toBe(2);
    expect(await query().where('book.id BETWEEN :a AND :b', { a: book.id, b: book.id }).getCount()).toBe(1);
    expect(await query().where('book.authorId = :id', { id: author.id }).getCount()).toBe(2);
    const placeholder = kind === 'postgres' ? '$1' : '?';
    const rows: unknown[] = await dataSource.query(`SELECT id FROM book WHERE id = ${placeholder}`, [book.id]);
    expect(rows).toHaveLength(1);
    expect(await query().where(':id = book.authorId', { id: author.id }).getCount()).toBe(2);
  });

  it("leaves the caller's own parameters as they were, also when the statement fails", async () => {
    const placeholder = kind === 'postgres' ? '$1' : '?';
    // TypeORM 0.3 tells no subscriber that a statement of SQLite has failed.
    const conditions = kind === 'sqlite' ? ['1 = 1'] : ['1 = 1', '(SELECT 1 UNION SELECT 2) = 1'];
    for (const condition of conditions) {
      const own = [book.id];
      const sql = `SELECT id FROM book WHERE id = ${placeholder} AND ${condition}`;
      const failed = await dataSource.query(sql, own).then(
        () => false,
        () => true,
      );
      expect(failed).toBe(condition !== '1 = 1');
      expect(own).toEqual([book.id]);
    }
  });

  it('knows an entity by the key that the driver delivered', () => {
    const [key] = dataSource.getMetadata(Author).primaryColumns;
    expect(key!.compareEntityValue(author, plain(author.id, 'author'))).toBe(true);
    expect(key!.compareEntityValue(author, author.id)).toBe(true);
    expect(key!.compareEntityValue(author, plain(other.id, 'author'))).toBe(false);
  });

  it('leaves typed texts alone that are meant as text', async () => {
    const letters = dataSource.getRepository(Letter);
    const letter = letters.create({ about: author.id });
    letter.author = Promise.resolve(author);
    await letter.author;
    await letters.save(letter);
    expect((await letters.findOneByOrFail({ about: author.id })).id).toBe(letter.id);
    const found = await letters.createQueryBuilder('l').where('l.about = :about', { about: author.id }).getOneOrFail();
    expect(found.about).toBe(author.id);
  });

  it('refuses the text of another entity, and other rubbish', async () => {
    await expect(books().findBy({ id: author.id })).rejects.toThrow(InvalidIdError);
    await expect(books().save({ authorId: book.id } as Book)).rejects.toThrow(InvalidIdError);
    await expect(books().insert({ id: '12' })).rejects.toThrow(InvalidIdError);
    // Older TypeORM throws before it has a promise.
    const update = async () => books().update({ id: 'rubbish' }, { authorId: null });
    await expect(update()).rejects.toThrow(InvalidIdError);
    await expect(books().createQueryBuilder('b').where('b.authorId = :id', { id: book.id }).getCount()).rejects.toThrow(
      InvalidIdError,
    );
  });

  it('loads relations: joined, by strategy query, lazy, as IDs, with skip and take', async () => {
    const authors = dataSource.getRepository(Author);
    const relations = { books: { genres: true } } as const;
    for (const relationLoadStrategy of ['join', 'query'] as const) {
      const [found] = await authors.find({
        where: { id: author.id },
        relations,
        relationLoadStrategy,
        skip: 0,
        take: 1,
      });
      expect(found!.books.map(({ id }) => id).sort()).toEqual(author.books.map(({ id }) => id).sort());
      expect(found!.books.map(({ genres }) => genres.length).sort()).toEqual([0, 2]);
    }
    const loaded = await books().findOneByOrFail({ id: book.id });
    expect(loaded.genreIds.sort()).toEqual(book.genres.map(({ id }) => id).sort());
    const [asIds] = await books().find({ where: { id: book.id }, loadRelationIds: true });
    expect(asIds!.author).toBe(author.id);
    const letter = await dataSource.getRepository(Letter).findOneByOrFail({ about: author.id });
    expect((await letter.author).id).toBe(author.id);
    const lazy = await authors.findOneByOrFail({ id: author.id });
    expect(await lazy.letters).toHaveLength(1);
    const relation = dataSource.createQueryBuilder().relation(Author, 'books').of(author.id);
    expect(await relation.loadMany()).toHaveLength(2);
  });

  it('changes only what has changed, adds and removes relations, and removes rows', async () => {
    const fresh = await books().save({ author, genres: book.genres } as Book);
    const found = await books().findOneOrFail({ where: { id: fresh.id }, relations: { author: true, genres: true } });
    await books().save(found);
    expect(updates).toEqual([]);

    const genres = () => dataSource.createQueryBuilder().relation(Book, 'genres').of(fresh.id);
    await genres().remove(book.genres[0]!.id);
    expect((await books().findOneByOrFail({ id: fresh.id })).genreIds).toEqual([book.genres[1]!.id]);
    await genres().add(book.genres[0]);
    expect((await books().findOneByOrFail({ id: fresh.id })).genreIds).toHaveLength(2);
    await dataSource.createQueryBuilder().relation(Book, 'author').of(fresh).set(other.id);
    expect((await books().findOneByOrFail({ id: fresh.id })).authorId).toBe(other.id);
    await dataSource.createQueryBuilder().relation(Author, 'books').of(other).remove(fresh);
    expect((await books().findOneByOrFail({ id: fresh.id })).authorId).toBeNull();

    const { affected } = await books().delete(fresh.id);
    expect(affected).toBe(1);
    const more = await books().save(Array.from({ length: 3 }, () => ({ author })) as Book[]);
    expect((await books().delete(more.map(({ id }) => id))).affected).toBe(3);
    await books().remove(await books().save({ author } as Book));
    expect(await books().count()).toBe(3);
  });

  it('upserts, and takes bigints', async () => {
    const id = typedId('author').decode(author.id);
    await dataSource.getRepository(Author).upsert({ id: id as unknown as string, name: 'Ada L.' }, ['id']);
    expect(await dataSource.getRepository(Author).findOneByOrFail({ id: author.id })).toMatchObject({ name: 'Ada L.' });
  });
});
