import { In } from 'typeorm';
import { links, pathsOf, rows, type Claim, type LinksClaim, type PathSetting } from './entity-path.js';
import { graphEntities } from './graph-entities.js';
import type { Id } from './property-form.js';

type Graph = ReturnType<typeof graphEntities.build>;

/** Three authors with two books each; the first book of each has two genres. */
async function library({ manager, entities: { Author, Book, Genre } }: PathSetting<Graph>) {
  const authors = await manager.save(
    ['a', 'b', 'c'].map((title) => manager.create(Author, { title, books: [{ genres: [{}, {}] }, { genres: [] }] })),
  );
  const books = authors.flatMap((author) => author.books);
  const byAuthor = authors.flatMap((author) => author.books.map((book) => [book, author] as const));
  const claims = (
    authorOf: LinksClaim['pairs'] = byAuthor,
    genresOf = new Map(books.map((book) => [book, book.genres])),
  ): Claim[] => [
    rows(Author, authors),
    rows(Book, books),
    rows(
      Genre,
      books.flatMap(({ genres }) => genres),
    ),
    links(Book, 'author', authorOf),
    links(
      Book,
      'genres',
      [...genresOf].flatMap(([book, genres]) => genres.map((each) => [book, each] as const)),
    ),
  ];
  return { authors, books, claims, mine: In(authors.map(({ id }) => id)) };
}

const idsOf = (objects: readonly { id: Id }[]): Set<Id> => new Set(objects.map(({ id }) => id));

/** Queries that go from one generated key to another. */
export const relationPaths = pathsOf(graphEntities, {
  'find by a relation: its ID, `In`, an object': async (setting) => {
    const { authors, claims, mine } = await library(setting);
    const { manager, statements, entities } = setting;
    const [author] = authors;
    await statements.only(async () => {
      expect(await manager.countBy(entities.Book, { author: { id: author!.id } })).toBe(2);
      expect(await manager.countBy(entities.Book, { author: { id: mine } })).toBe(6);
      const byObject = manager.createQueryBuilder(entities.Book, 'book').where({ author: { id: author!.id } });
      expect(await byObject.getCount()).toBe(2);
      const genre = author!.books[0]!.genres[0]!;
      const byGenre = await manager.findBy(entities.Book, { genres: { id: genre.id } });
      expect(idsOf(byGenre)).toEqual(idsOf([author!.books[0]!]));
    });
    return claims();
  },
  'joins with skip and take': async (setting) => {
    const { authors, claims, mine } = await library(setting);
    const { manager, statements, entities } = setting;
    const [page, total] = await statements.only(() =>
      manager.findAndCount(entities.Author, {
        where: { id: mine },
        relations: { books: { genres: true } },
        order: { id: 'ASC' },
        skip: 1,
        take: 1,
      }),
    );
    expect([idsOf(page), total]).toEqual([idsOf([authors[1]!]), 3]);
    const joined = new Map(page[0]!.books.map(({ id, genres }) => [id, genres.length]));
    expect(joined).toEqual(new Map(authors[1]!.books.map(({ id, genres }) => [id, genres.length])));
    return claims();
  },
  "`relationLoadStrategy: 'query'`": async (setting) => {
    const { authors, claims, mine } = await library(setting);
    const { manager, statements, entities } = setting;
    const found = await statements.only(() =>
      manager.find(entities.Author, {
        where: { id: mine },
        relations: { books: { genres: true, author: true } },
        relationLoadStrategy: 'query',
        order: { id: 'ASC' },
      }),
    );
    expect(found.map(({ books }) => idsOf(books))).toEqual(authors.map(({ books }) => idsOf(books)));
    const genres = found.flatMap(({ books }) => books.flatMap((book) => book.genres));
    expect(idsOf(genres)).toEqual(idsOf(authors.flatMap(({ books }) => books[0]!.genres)));
    expect(found.filter(({ id, books }) => books.some(({ author }) => author?.id !== id))).toEqual([]);
    return claims();
  },
  '`@RelationId`, `loadRelationIds`, `loadRelationIdAndMap`': async (setting) => {
    const { authors, claims } = await library(setting);
    const { manager, statements, entities } = setting;
    const [author] = authors;
    const book = author!.books[0]!;
    await statements.only(async () => {
      const found = await manager.findOneByOrFail(entities.Book, { id: book.id });
      expect([found.authorId, new Set(found.genreIds)]).toEqual([author!.id, idsOf(book.genres)]);
      const loaded = await manager.find(entities.Book, { where: { id: book.id }, loadRelationIds: true });
      expect(loaded[0]!.author).toBe(author!.id);
      const mapped = await manager
        .createQueryBuilder(entities.Author, 'author')
        .loadRelationIdAndMap('author.bookIds', 'author.books')
        .where({ id: author!.id })
        .getOneOrFail();
      expect(new Set((mapped as unknown as { bookIds: Id[] }).bookIds)).toEqual(idsOf(author!.books));
    });
    return claims();
  },
  '`RelationQueryBuilder`: `set`, `add`, `remove`, `loadOne`, `loadMany`': async (setting) => {
    const { authors, books, claims } = await library(setting);
    const { dataSource, statements, entities } = setting;
    const relation = (entity: new () => object, name: string) => dataSource.createQueryBuilder().relation(entity, name);
    const [first, second, third] = authors;
    const [one, two, three] = books;
    await statements.only(async () => {
      await relation(entities.Book, 'author').of(one!).set(second!);
      await relation(entities.Book, 'author').of(two!.id).set(third!.id);
      await relation(entities.Book, 'author').of(three!).set(null);
      await relation(entities.Author, 'books').of(first!).add(three!);
      await relation(entities.Book, 'genres').of(two!).add(one!.genres);
      await relation(entities.Book, 'genres').of(one!).remove(one!.genres[0]!);
      const loaded = await relation(entities.Author, 'books').of(third!).loadMany<{ id: Id }>();
      expect(idsOf(loaded)).toEqual(idsOf([two!, ...third!.books]));
      expect((await relation(entities.Book, 'author').of(one!).loadOne<{ id: Id }>())!.id).toBe(second!.id);
      const genres = await relation(entities.Book, 'genres').of(two!).loadMany<{ id: Id }>();
      expect(idsOf(genres)).toEqual(idsOf(one!.genres));
    });
    const shelves = new Map(books.map((book) => [book, book.genres]));
    shelves.set(one!, one!.genres.slice(1)).set(two!, one!.genres);
    const written = [
      [one!, second!],
      [two!, third!],
      [three!, first!],
    ] as const;
    return claims(written, shelves);
  },
});
