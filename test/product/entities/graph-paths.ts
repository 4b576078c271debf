import { links, pathsOf, rows } from './entity-path.js';
import { graphEntities } from './graph-entities.js';

/** Whole graphs saved by one call. */
export const graphPaths = pathsOf(graphEntities, {
  'cascade one-to-many, instances': async ({ manager, entities: { Author, Book } }) => {
    const author = new Author();
    author.books = [new Book(), new Book()];
    await manager.save(author);
    return [
      rows(Author, [author]),
      rows(Book, author.books),
      links(
        Book,
        'author',
        author.books.map((book) => [book, author]),
      ),
    ];
  },
  'cascade one-to-many, plain objects': async ({ manager, entities: { Author, Book } }) => {
    const author = await manager.save(Author, { title: 'plain', books: [{ title: 'a' }, { title: 'b' }] });
    return [
      rows(Author, [author]),
      rows(Book, author.books),
      links(
        Book,
        'author',
        author.books.map((book) => [book, author]),
      ),
    ];
  },
  'cascade many-to-one': async ({ manager, entities: { Author, Book } }) => {
    const author = { title: 'shared' };
    const books = await manager.save(Book, [{ author }, { author }, { author: null }]);
    const written = books[0]!.author!;
    return [
      rows(Author, [written]),
      rows(Book, books),
      links(Book, 'author', [
        [books[0]!, written],
        [books[1]!, written],
        [books[2]!, null],
      ]),
    ];
  },
  'cascade one-to-one, from both sides': async ({ manager, entities: { Author, Profile } }) => {
    const author = await manager.save(Author, { profile: { title: 'inverse side' } });
    const profile = await manager.save(Profile, { author: { title: 'owning side' } });
    return [
      rows(Author, [author, profile.author]),
      rows(Profile, [author.profile, profile]),
      links(Profile, 'author', [
        [author.profile, author],
        [profile, profile.author],
      ]),
    ];
  },
  'a foreign key given as an object, as a bare ID, as its own column': async ({ manager, statements, entities }) => {
    const { Author, Book, Profile } = entities;
    const [author] = await manager.save(Author, [{}]);
    const { id } = author!;
    const values = [{ author }, { author: { id } }, { author: id }] as InstanceType<typeof Book>[];
    await statements.only(() => manager.insert(Book, values));
    const saved = await manager.save(Book, { author: { id } });
    const profile = await manager.save(Profile, { authorId: id });
    expect((await manager.findOneByOrFail(Profile, { authorId: id })).authorId).toBe(id);
    const pairs = [...values, saved].map((book) => [book, author!] as const);
    return [
      rows(Author, [author!]),
      rows(Book, [...values, saved]),
      rows(Profile, [profile]),
      links(Book, 'author', pairs),
      links(Profile, 'author', [[profile, author!]]),
    ];
  },
  'cascade many-to-many': async ({ manager, entities: { Book, Genre } }) => {
    const genre = { title: 'shared' };
    const books = await manager.save(Book, [{ genres: [genre, {}] }, { genres: [genre] }]);
    const [first, second] = books;
    return [
      rows(Book, books),
      rows(Genre, first!.genres),
      links(Book, 'genres', [...first!.genres.map((each) => [first!, each] as const), [second!, first!.genres[0]!]]),
    ];
  },
  'cascade to its own table, to new children': async ({ manager, entities: { Person } }) => {
    const boss = await manager.save(Person, { reports: [{ reports: [{}] }, {}] });
    const [deputy, other] = boss.reports;
    const intern = deputy!.reports[0]!;
    return [
      rows(Person, [boss, deputy!, other!, intern]),
      links(Person, 'boss', [
        [boss, null],
        [deputy!, boss],
        [other!, boss],
        [intern, deputy!],
      ]),
    ];
  },
  // TypeORM writes both rows by one statement, the child first. InnoDB checks foreign keys row by row.
  'cascade to its own table, to a new parent': async ({ manager, entities: { Person } }) => {
    const intern = await manager.save(Person, { boss: { title: 'new' } });
    return [rows(Person, [intern, intern.boss]), links(Person, 'boss', [[intern, intern.boss]])];
  },
  'an entity for the join table, whose key is two foreign keys': async ({
    manager,
    statements,
    entities: { Club, Membership, Person },
  }) => {
    const [ada, bob] = await manager.save(Person, [{}, {}]);
    const club = await statements.only(() => manager.save(Club, { title: 'chess' }));
    await manager.save(Membership, { person: ada!, club, since: 2025 });
    await manager.save(Membership, { personId: bob!.id, clubId: club.id });
    const found = await manager.find(Membership, { where: { clubId: club.id }, relations: { person: true } });
    expect(new Set(found.map(({ person }) => person.id))).toEqual(new Set([ada!.id, bob!.id]));
    await manager.remove(found.find(({ personId }) => personId === bob!.id)!);
    expect(await manager.findOneByOrFail(Membership, { personId: ada!.id, clubId: club.id })).toMatchObject({
      since: 2025,
    });
    await manager.delete(Membership, { personId: ada!.id });
    return [rows(Person, [ada!, bob!]), rows(Club, [club])];
  },
  '100 parents with children, join rows and one-to-ones': async ({
    manager,
    entities: { Author, Book, Genre, Page, Profile },
  }) => {
    const genre = { title: 'shared' };
    const authors = await manager.save(
      Author,
      Array.from({ length: 100 }, () => ({
        profile: {},
        books: [{ genres: [genre, {}], pages: [{}] }, { genres: [genre] }],
      })),
    );
    const books = authors.flatMap((author) => author.books);
    const pages = books.flatMap((book) => book.pages ?? []);
    return [
      rows(Author, authors),
      rows(
        Profile,
        authors.map(({ profile }) => profile),
      ),
      rows(Book, books),
      rows(Genre, [...new Set(books.flatMap(({ genres }) => genres))]),
      rows(Page, pages),
      links(
        Book,
        'author',
        authors.flatMap((author) => author.books.map((book) => [book, author] as const)),
      ),
      links(
        Profile,
        'author',
        authors.map((author) => [author.profile, author]),
      ),
      links(
        Page,
        'book',
        pages.map((page, index) => [page, books[index * 2]!]),
      ),
      links(
        Book,
        'genres',
        books.flatMap((book) => book.genres.map((each) => [book, each] as const)),
      ),
    ];
  },
  '100 parents with children in chunks of 50': async ({ manager, statements, entities: { Author, Book } }) => {
    const authors = await manager.save(
      Author,
      Array.from({ length: 100 }, () => ({ books: [{}, {}] })),
      { chunk: 50 },
    );
    expect(statements.count('INSERT')).toBe(4);
    return [
      rows(Author, authors),
      rows(
        Book,
        authors.flatMap(({ books }) => books),
      ),
      links(
        Book,
        'author',
        authors.flatMap((author) => author.books.map((book) => [book, author] as const)),
      ),
    ];
  },
  'a graph of new and existing objects': async ({ manager, statements, entities: { Author, Book, Genre } }) => {
    const author = await manager.save(Author, { books: [{ genres: [{}] }] });
    const found = await manager.findOneOrFail(Author, {
      where: { id: author.id },
      relations: { books: { genres: true } },
    });
    const [old] = found.books;
    const fresh = manager.create(Book, { title: 'new', genres: [old!.genres[0]!, { title: 'new' }] });
    old!.title = 'changed';
    found.books.push(fresh);
    await statements.only(() => manager.save(found));
    expect((await manager.findOneByOrFail(Book, { id: old!.id })).title).toBe('changed');
    return [
      rows(Author, [found]),
      rows(Book, found.books),
      rows(Genre, fresh.genres),
      links(
        Book,
        'author',
        found.books.map((book) => [book, found]),
      ),
      links(Book, 'genres', [[old!, fresh.genres[0]!], ...fresh.genres.map((each) => [fresh, each] as const)]),
    ];
  },
  'children that are taken away: nulled, deleted, unlinked': async ({
    manager,
    statements,
    entities: { Author, Book, Genre, Page },
  }) => {
    const author = await manager.save(Author, { books: [{ pages: [{}, {}], genres: [{}, {}] }, {}] });
    const [book, other] = author.books;
    const [kept] = book!.pages;
    const genres = book!.genres;
    await statements.only(async () => {
      await manager.save(Author, { id: author.id, books: [{ id: book!.id }] });
      await manager.save(Book, { id: book!.id, pages: [{ id: kept!.id }], genres: [{ id: genres[1]!.id }] });
    });
    return [
      rows(Author, [author]),
      rows(Book, [book!, other!]),
      rows(Page, [kept!]),
      rows(Genre, genres),
      links(Book, 'author', [
        [book!, author],
        [other!, null],
      ]),
      links(Page, 'book', [[kept!, book!]]),
      links(Book, 'genres', [[book!, genres[1]!]]),
    ];
  },
  '`remove` of a graph; `softRemove` and `recover` with their children': async ({
    manager,
    statements,
    entities: { Line, Order },
  }) => {
    const [kept, gone] = await manager.save(Order, [{ lines: [{}, {}] }, { lines: [{}] }]);
    const find = (id: unknown): Promise<InstanceType<typeof Order>> =>
      manager.findOneOrFail(Order, { where: { id: id as never }, relations: { lines: true }, withDeleted: true });
    await manager.remove(await find(gone!.id));
    const order = await find(kept!.id);
    await statements.only(() => manager.softRemove(order));
    expect(await manager.countBy(Line, { order: { id: kept!.id } })).toBe(0);
    await statements.only(() => manager.recover(order));
    expect(await manager.countBy(Line, { order: { id: kept!.id } })).toBe(2);
    return [rows(Order, [kept!]), rows(Line, kept!.lines)];
  },
  'eager relations': async ({ manager, statements, entities: { Article, Author } }) => {
    const article = await statements.only(() => manager.save(Article, { author: { title: 'eager' } }));
    const found = await manager.findOneByOrFail(Article, { id: article.id });
    expect(found.author!.id).toBe(article.author.id);
    return [
      rows(Article, [article]),
      rows(Author, [article.author]),
      links(Article, 'author', [[article, article.author]]),
    ];
  },
  'lazy relations': async ({ manager, statements, entities: { Article, Comment, Genre } }) => {
    const article = manager.create(Article);
    const comments = [new Comment(), new Comment()];
    const genres = [new Genre(), new Genre()];
    article.comments = Promise.resolve(comments);
    article.genres = Promise.resolve(genres);
    await statements.only(() => manager.save(article));
    const found = await manager.findOneByOrFail(Article, { id: article.id });
    expect(new Set((await found.comments).map(({ id }) => id))).toEqual(new Set(comments.map(({ id }) => id)));
    expect(new Set((await found.genres).map(({ id }) => id))).toEqual(new Set(genres.map(({ id }) => id)));
    const comment = await manager.findOneByOrFail(Comment, { id: comments[0]!.id });
    expect((await comment.article)!.id).toBe(article.id);
    return [
      rows(Article, [article]),
      rows(Comment, comments),
      rows(Genre, genres),
      links(
        Comment,
        'article',
        comments.map((each) => [each, article]),
      ),
      links(
        Article,
        'genres',
        genres.map((each) => [article, each]),
      ),
    ];
  },
  'a relation to a generated column that is no key': async ({ manager, statements, entities: { City, Country } }) => {
    const country = manager.create(Country, { name: 'Utopia', cities: [{ title: 'a' }, { title: 'b' }] });
    await manager.insert(Country, country);
    const cities = await statements.only(() =>
      manager.save(
        City,
        country.cities.map((city) => ({ ...city, country })),
      ),
    );
    const found = await manager.findOneOrFail(Country, { where: { name: 'Utopia' }, relations: { cities: true } });
    expect(new Set(found.cities.map(({ id }) => id))).toEqual(new Set(cities.map(({ id }) => id)));
    return [
      rows(Country, [country], 'number'),
      rows(City, cities),
      links(
        City,
        'country',
        cities.map((city) => [city, country]),
      ),
    ];
  },
  'single-table inheritance with relations': async ({
    manager,
    form,
    statements,
    entities: { Album, Media, Person, Photo, Video },
  }) => {
    const photo = manager.create(Photo, { of: { title: 'sitter' } });
    const video = new Video();
    const album = await statements.only(() => manager.save(Album, { media: [photo, video] }));
    expect(form.isForm(video.channel)).toBe(true);
    const found = await manager.findOneOrFail(Album, { where: { id: album.id }, relations: { media: true } });
    expect(new Map(found.media.map((each) => [each.id, each.constructor]))).toEqual(
      new Map<unknown, unknown>([
        [photo.id, Photo],
        [video.id, Video],
      ]),
    );
    return [
      rows(Album, [album]),
      rows(Media, [photo, video]),
      rows(Person, [photo.of!]),
      links(
        Media,
        'album',
        [photo, video].map((each) => [each, album]),
      ),
      links(Photo, 'of', [[photo, photo.of!]]),
    ];
  },
});
