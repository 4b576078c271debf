import {
  ChildEntity,
  Column,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  RelationId,
  TableInheritance,
  type Relation,
} from 'typeorm';
import { entityFamily } from './entity-family.js';
import type { Id } from './property-form.js';

/** Every kind of relation between generated keys. */
export const graphEntities = entityFamily('graph', ({ generated, keyType }) => {
  abstract class Titled {
    @generated()
    id!: Id;

    @Column({ type: 'varchar', length: 50, nullable: true })
    title!: string | null;
  }

  @Entity()
  class Author extends Titled {
    @OneToMany(() => Book, (book) => book.author, { cascade: true })
    books!: Relation<Book>[];

    @OneToOne(() => Profile, (profile) => profile.author, { cascade: true })
    profile!: Relation<Profile> | null;
  }

  @Entity()
  class Profile extends Titled {
    @Column({ type: keyType, nullable: true })
    authorId!: Id | null;

    @OneToOne(() => Author, (author) => author.profile, { cascade: ['insert'], nullable: true })
    @JoinColumn({ name: 'authorId' })
    author!: Relation<Author> | null;
  }

  @Entity()
  class Book extends Titled {
    @ManyToOne(() => Author, (author) => author.books, { cascade: ['insert'], nullable: true })
    author!: Relation<Author> | null;

    @RelationId((book: Book) => book.author)
    authorId!: Id | null;

    @ManyToMany(() => Genre, (genre) => genre.books, { cascade: true })
    @JoinTable()
    genres!: Relation<Genre>[];

    @RelationId((book: Book) => book.genres)
    genreIds!: Id[];

    @OneToMany(() => Page, (page) => page.book, { cascade: true })
    pages!: Relation<Page>[];
  }

  @Entity()
  class Genre extends Titled {
    @ManyToMany(() => Book, (book) => book.genres)
    books!: Relation<Book>[];
  }

  @Entity()
  class Page extends Titled {
    @ManyToOne(() => Book, (book) => book.pages, { orphanedRowAction: 'delete', nullable: true })
    book!: Relation<Book> | null;
  }

  @Entity()
  class Person extends Titled {
    @ManyToOne(() => Person, (person) => person.reports, { cascade: ['insert'], nullable: true })
    boss!: Relation<Person> | null;

    @OneToMany(() => Person, (person) => person.boss, { cascade: true })
    reports!: Relation<Person>[];
  }

  /** A join table with a column of its own: two foreign keys are its key. */
  @Entity()
  class Membership {
    @PrimaryColumn({ type: keyType })
    personId!: Id;

    @PrimaryColumn({ type: keyType })
    clubId!: Id;

    @Column({ type: 'int', nullable: true })
    since!: number | null;

    @ManyToOne(() => Person)
    person!: Relation<Person>;

    @ManyToOne(() => Club, (club) => club.members)
    club!: Relation<Club>;
  }

  @Entity()
  class Club extends Titled {
    @OneToMany(() => Membership, (membership) => membership.club, { cascade: true })
    members!: Relation<Membership>[];
  }

  @Entity()
  class Article extends Titled {
    @ManyToOne(() => Author, { eager: true, cascade: true, nullable: true })
    author!: Relation<Author> | null;

    @OneToMany(() => Comment, (comment) => comment.article, { cascade: true })
    comments!: Promise<Comment[]>;

    @ManyToMany(() => Genre, { cascade: true })
    @JoinTable()
    genres!: Promise<Genre[]>;
  }

  @Entity()
  class Comment extends Titled {
    @ManyToOne(() => Article, (article) => article.comments, { nullable: true })
    article!: Promise<Article | null>;
  }

  @Entity()
  class Order extends Titled {
    @DeleteDateColumn()
    deletedAt!: Date | null;

    @OneToMany(() => Line, (line) => line.order, { cascade: true })
    lines!: Relation<Line>[];
  }

  @Entity()
  class Line extends Titled {
    @DeleteDateColumn()
    deletedAt!: Date | null;

    @ManyToOne(() => Order, (order) => order.lines, { onDelete: 'CASCADE' })
    order!: Relation<Order>;
  }

  /** Referred to by a generated column that is not the key. */
  @Entity()
  class Country {
    @PrimaryColumn({ type: 'varchar', length: 20 })
    name!: string;

    @generated({ primary: false, unique: true })
    number!: Id;

    @OneToMany(() => City, (city) => city.country, { cascade: true })
    cities!: Relation<City>[];
  }

  @Entity()
  class City extends Titled {
    @ManyToOne(() => Country, (country) => country.cities)
    @JoinColumn({ referencedColumnName: 'number' })
    country!: Relation<Country>;
  }

  @Entity()
  @TableInheritance({ column: { type: 'varchar', length: 20, name: 'kind' } })
  class Media extends Titled {
    @ManyToOne(() => Album, (album) => album.media, { nullable: true })
    album!: Relation<Album> | null;
  }

  @ChildEntity()
  class Photo extends Media {
    @ManyToOne(() => Person, { cascade: true, nullable: true })
    of!: Relation<Person> | null;
  }

  @ChildEntity()
  class Video extends Media {
    // Rows of the siblings are in the same table.
    @generated({ primary: false, databaseDefault: false })
    channel!: Id;
  }

  @Entity()
  class Album extends Titled {
    @OneToMany(() => Media, (media) => media.album, { cascade: true })
    media!: Relation<Media>[];
  }

  /** A text column of the same name as the generated ones. */
  @Entity()
  class Currency {
    @PrimaryColumn({ type: 'varchar', length: 20 })
    id!: string;
  }

  const books = { Author, Profile, Book, Genre, Page };
  const people = { Person, Membership, Club };
  return { ...books, ...people, Article, Comment, Order, Line, Country, City, Media, Photo, Video, Album, Currency };
});
