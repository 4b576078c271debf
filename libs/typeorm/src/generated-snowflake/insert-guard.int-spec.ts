import {
  ChildEntity,
  Column,
  DataSource,
  Entity,
  EntitySchema,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  Not,
  PrimaryGeneratedColumn,
  TableInheritance,
} from 'typeorm';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { GeneratedSnowflake, snowflakeColumn } from './generated-snowflake.decorator.js';
import { SnowflakeNotAssignedError } from './snowflake-errors.js';

@Entity()
class Order {
  @GeneratedSnowflake({ name: 'order_id' })
  id!: string;

  @Column({ type: 'varchar', length: 40 })
  title!: string;
}

@Entity()
class Ticket {
  @PrimaryGeneratedColumn()
  id!: number;

  @GeneratedSnowflake({ primary: false, nullable: true })
  number!: string;

  @Column({ type: 'varchar', length: 40 })
  title!: string;
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

@Entity()
class Tag {
  @GeneratedSnowflake()
  id!: string;
}

@Entity()
class Post {
  @GeneratedSnowflake()
  id!: string;

  @ManyToMany(() => Tag)
  @JoinTable({
    name: 'tagging',
    synchronize: false,
    joinColumn: { name: 'post_id' },
    inverseJoinColumn: { name: 'tag_id' },
  })
  tags?: Tag[];
}

@Entity()
class Tagging {
  @GeneratedSnowflake()
  id!: string;

  @ManyToOne(() => Post)
  @JoinColumn({ name: 'post_id' })
  post!: Post;

  @ManyToOne(() => Tag)
  @JoinColumn({ name: 'tag_id' })
  tag!: Tag;
}

const noteSchema = new EntitySchema<{ id: string; title: string }>({
  name: 'note',
  columns: { id: snowflakeColumn(), title: { type: 'varchar', length: 40 } },
});

describe.each(databaseKinds)('A list of columns without the ID on %s', (kind) => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await testDatabase(kind);
    const entities = [Order, Ticket, Payment, CardPayment, Tag, Post, Tagging, noteSchema];
    // One connection: a refusal that kept it would stop every test that follows.
    const pool = { extra: kind === 'postgres' ? { max: 1 } : { connectionLimit: 1 } };
    const options = { ...database.options, ...(kind === 'sqlite' ? {} : pool), entities, synchronize: true };
    dataSource = await new DataSource(options).initialize();
    attachSnowflakes(dataSource, snowflakeSource());
    if (kind !== 'postgres' && kind !== 'sqlite') await dataSource.query(`SET sql_mode = ''`);
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const q = (name: string): string => dataSource.driver.escape(name);

  it.each<[string, () => Promise<unknown>]>([
    [
      'into(Order, [columns])',
      () => dataSource.createQueryBuilder().insert().into(Order, ['title']).values({ title: 'x' }).execute(),
    ],
    [
      'into(schema, [columns]) with orIgnore()',
      () => {
        const insert = dataSource.createQueryBuilder().insert().into(noteSchema, ['title']).values({ title: 'x' });
        // PostgreSQL says ON CONFLICT at the end, the others say it at the beginning.
        return insert.orIgnore().execute();
      },
    ],
    ['SQL written by hand', () => dataSource.query(`INSERT INTO ${q('order')} (${q('title')}) VALUES ('x')`)],
    [
      'SQL that selects',
      () => dataSource.query(`insert into ${q('order')}\n(${q('title')}) select ${q('title')} from ${q('note')}`),
    ],
  ])('is refused, and nothing is written: %s', async (_, insert) => {
    const failure: unknown = await insert().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SnowflakeNotAssignedError);
    expect(failure).toMatchObject({
      errorCode: 'SNOWFLAKE_NOT_ASSIGNED',
      why: 'column-list',
      column: expect.stringMatching(/^(order|note)\.id$/) as string,
      message: expect.stringContaining('lists its columns') as string,
    });
    expect(await dataSource.getRepository(Order).count()).toBe(0);
    expect(await dataSource.getRepository(noteSchema).count()).toBe(0);
  });

  it.each([
    ['no space', (table: string) => `insert into ${table}(title) values ('x')`],
    ['other quotes and case', (table: string) => `INSERT INTO ${table.toUpperCase()} ("TITLE") VALUES ('x')`],
    ['comments', (table: string) => `/* a */ -- b\n INSERT /* c */ INTO ${table} /* d */ (title) VALUES ('x')`],
    ['REPLACE', (table: string) => `REPLACE INTO ${table} (title) VALUES ('x')`],
  ])('is refused however it is written: %s', async (_, sql) => {
    await expect(dataSource.query(sql(q('order')))).rejects.toBeInstanceOf(SnowflakeNotAssignedError);
  });

  it('is refused for a table without quotes', async () => {
    await expect(dataSource.query(`INSERT INTO note (title) VALUES ('x')`)).rejects.toBeInstanceOf(
      SnowflakeNotAssignedError,
    );
  });

  it.each([
    ['without quotes', `(order_id, title) VALUES (21, 'x')`],
    ['in another case, with comments', `(/* key */ ORDER_ID, -- the key\n title) VALUES (22, 'x')`],
    ['in no list at all', `VALUES (23, '(title)')`],
    ['selected in parentheses', `(SELECT 24, 'x')`],
  ])('is fine when the ID is there %s', async (_, rest) => {
    if (kind === 'sqlite' && rest.startsWith('(SELECT')) return;
    await dataSource.query(`INSERT INTO ${q('order')} ${rest}`);
    expect((await dataSource.getRepository(Order).delete({ title: Not('y') })).affected).toBe(1);
  });

  it('takes no longer for many comments', async () => {
    const comments = '/**/'.repeat(5_000);
    await expect(dataSource.query(`INSERT INTO ${q('order')} ${comments} nonsense`)).rejects.toHaveProperty(
      'message',
      expect.stringContaining('nonsense'),
    );
  });

  it('is fine when the ID is among them, filled or given', async () => {
    const values: Partial<Order>[] = [{ title: 'x' }];
    await dataSource.createQueryBuilder().insert().into(Order, ['id', 'title']).values(values).execute();
    expect(await dataSource.getRepository(Order).findOneByOrFail({ id: values[0]!.id! })).toMatchObject({ title: 'x' });
    await dataSource.query(`INSERT INTO ${q('order')} (${q('title')}, ${q('order_id')}) VALUES ('y', 7)`);
    expect(await dataSource.getRepository(Order).existsBy({ id: '7' })).toBe(true);
  });

  it('is fine for a column that may be empty, and for the parent of a single table', async () => {
    await dataSource.createQueryBuilder().insert().into(Ticket, ['title']).values({ title: 'x' }).execute();
    expect(await dataSource.getRepository(Ticket).findOneByOrFail({})).toMatchObject({ number: null });
    const payment = await dataSource.manager.save(new Payment());
    await dataSource.manager.save(new CardPayment());
    expect(await dataSource.getRepository(Payment).existsBy({ id: payment.id })).toBe(true);
  });

  it('names the entity to save where a many-to-many writes into its table', async () => {
    const tag = await dataSource.manager.save(new Tag());
    const post = await dataSource.manager.save(new Post());
    const failure: unknown = await dataSource.manager
      .save(Object.assign(post, { tags: [tag] }))
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SnowflakeNotAssignedError);
    expect(failure).toMatchObject({ why: 'join-table', column: 'tagging.id', relation: 'post.tags' });
    expect((failure as Error).message).toMatch(/: post\.tags is .* join table tagging is .* save an entity of tagging/);
    const add = dataSource.createQueryBuilder().relation(Post, 'tags').of(post).add(tag);
    await expect(add).rejects.toMatchObject({ why: 'join-table' });
    expect(await dataSource.getRepository(Tagging).count()).toBe(0);

    await dataSource.manager.save(Tagging, { post: { id: post.id }, tag });
    const found = await dataSource.manager.findOneOrFail(Post, { where: { id: post.id }, relations: { tags: true } });
    expect(found.tags).toEqual([tag]);
    await dataSource.manager.save(Object.assign(found, { tags: [] }));
    expect(await dataSource.getRepository(Tagging).count()).toBe(0);
  });

  it('is no concern of other tables', async () => {
    await dataSource.query(`CREATE TABLE other (title varchar(40))`);
    await dataSource.query(`INSERT INTO other (title) VALUES ('x')`);
    expect(await dataSource.query(`SELECT title FROM other`)).toEqual([{ title: 'x' }]);
  });
});
