import {
  Column,
  DataSource,
  Entity,
  EntitySchema,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  type Relation,
} from 'typeorm';
import { openIdService } from '@raindrop/node';
import { callOf } from '@raindrop/node/internal';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { onOwnDatabase } from '../../../../test/support/servers/data-sources.js';
import { idFunctionSql, isOfDatabase } from '../../../../test/support/servers/id-function.js';
import { databaseKinds, testDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachIdService } from './attached-snowflakes.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { checkPrecision } from './check-precision.js';
import { GeneratedSnowflake, snowflakeColumn } from './generated-snowflake.decorator.js';

@Entity('orders')
class Order {
  @GeneratedSnowflake({ databaseDefault: true })
  id!: string;

  @Column({ type: 'varchar', length: 40, unique: true })
  title!: string;

  @Column({ type: 'int', default: 7 })
  rank!: number;

  @OneToMany(() => Line, (line) => line.order, { cascade: true })
  lines?: Relation<Line>[];

  @ManyToMany(() => Label, { cascade: true })
  @JoinTable({ name: 'order_label' })
  labels?: Relation<Label>[];
}

@Entity('line')
class Line {
  @GeneratedSnowflake({ databaseDefault: true, prefix: 'line' })
  id!: string;

  @ManyToOne(() => Order, (order) => order.lines)
  order!: Relation<Order>;
}

@Entity('label')
class Label {
  @GeneratedSnowflake({ databaseDefault: true })
  id!: number;

  @GeneratedSnowflake({ primary: false, nullable: true, databaseDefault: true })
  code?: bigint;
}

@Entity('bigs')
class Big {
  @GeneratedSnowflake({ databaseDefault: true })
  id!: bigint;

  @Column({ type: 'varchar', length: 40, nullable: true })
  title?: string;
}

@Entity('post')
class Post {
  @GeneratedSnowflake()
  id!: string;

  @ManyToMany(() => Label)
  @JoinTable({
    name: 'tagging',
    synchronize: false,
    joinColumn: { name: 'post_id' },
    inverseJoinColumn: { name: 'label_id' },
  })
  labels?: Label[];
}

@Entity('tagging')
class Tagging {
  @GeneratedSnowflake({ databaseDefault: true })
  id!: string;

  @ManyToOne(() => Post)
  @JoinColumn({ name: 'post_id' })
  post!: Post;

  @ManyToOne(() => Label)
  @JoinColumn({ name: 'label_id' })
  label!: Label;
}

const ENTITIES = [Order, Line, Label, Big, Post, Tagging];

/** The table `orders`, with a key of these options. */
const orders = (options: Parameters<typeof snowflakeColumn>[0]): EntitySchema =>
  new EntitySchema({ name: 'orders', columns: { id: snowflakeColumn(options), title: { type: 'text' } } });

/** Small IDs, so that a number can hold them. */
const layout = { bits: 53 } as never;

describe('A column with databaseDefault on PostgreSQL', () => {
  const database = onOwnDatabase(() => testDatabase('postgres'));
  const { open } = database;

  /** A DataSource with the function and the tables. */
  const openShop = async (attached = true): Promise<DataSource> => {
    const outside = await open([]);
    for (const sql of idFunctionSql()) await outside.query(sql);
    const dataSource = await open(ENTITIES, { synchronize: true });
    let next = 2n ** 50n;
    const small = { nextId: () => next++, nextIdAsync: () => Promise.resolve(next++), layout };
    if (attached) attachSnowflakes(dataSource, snowflakeSource('default', small));
    return dataSource;
  };

  /** What `typeorm migration:generate` would write. */
  const changes = async (dataSource: DataSource): Promise<{ up: string[]; down: string[] }> => {
    const { upQueries, downQueries } = await dataSource.driver.createSchemaBuilder().log();
    return { up: upQueries.map(({ query }) => query), down: downQueries.map(({ query }) => query) };
  };

  const ids = async (dataSource: DataSource, table: string, column = 'id'): Promise<string[]> =>
    (await dataSource.query<{ id: string }[]>(`SELECT ${column} AS id FROM ${table} ORDER BY 1`)).map(({ id }) => id);

  const defaultOf = async (dataSource: DataSource, table: string, column = 'id'): Promise<string | null> => {
    const sql =
      'SELECT column_default AS text FROM information_schema.columns WHERE table_name = $1 AND column_name = $2';
    return (await dataSource.query<{ text: string | null }[]>(sql, [table, column]))[0]!.text;
  };

  describe('gives rows that no application inserts an ID of the database', () => {
    it.each<[string, (dataSource: DataSource) => Promise<unknown>]>([
      ['INSERT', (sql) => sql.query(`INSERT INTO orders (title) VALUES ('a'), ('b'), ('c')`)],
      [
        'INSERT ... SELECT',
        (sql) => sql.query(`INSERT INTO orders (title) SELECT i::text FROM generate_series(1, 3) i`),
      ],
      ['COPY', (sql) => sql.query(`COPY orders (title) FROM PROGRAM 'printf "a\\nb\\nc\\n"'`)],
      [
        'a trigger',
        async (sql) => {
          await sql.query(`CREATE FUNCTION copied() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN INSERT INTO orders (title) VALUES (NEW.title); RETURN NEW; END $$`);
          await sql.query('CREATE TRIGGER copied AFTER INSERT ON bigs FOR EACH ROW EXECUTE FUNCTION copied()');
          await sql.manager.insert(Big, [{ title: 'a' }, { title: 'b' }, { title: 'c' }]);
          expect((await ids(sql, 'bigs')).filter(isOfDatabase)).toEqual([]);
        },
      ],
      [
        'a query runner in a transaction',
        (sql) => sql.transaction((manager) => manager.query(`INSERT INTO orders (title) VALUES ('a'), ('b'), ('c')`)),
      ],
    ])('%s', async (_, insert) => {
      const dataSource = await openShop();
      await insert(dataSource);
      const found = await ids(dataSource, 'orders');
      expect(found).toHaveLength(3);
      expect(found.filter((id) => !isOfDatabase(id))).toEqual([]);
      expect(new Set((await dataSource.manager.find(Order)).map(({ id }) => id))).toEqual(new Set(found));
    });
  });

  it('is filled in the process on every way of TypeORM, and tells objects the IDs of their rows', async () => {
    const dataSource = await openShop();
    const { manager } = dataSource;
    await manager.insert(Order, [{ title: 'inserted' }, { title: 'too' }]);
    await manager.save(Order, { title: 'saved', lines: [{}, {}], labels: [{}] });
    await dataSource.createQueryBuilder().insert().into(Order).values({ title: 'built' }).execute();
    await dataSource.createQueryBuilder().insert().into(Order, ['id', 'title']).values({ title: 'listed' }).execute();
    await manager.upsert(Order, [{ title: 'saved', rank: 1 }, { title: 'upserted' }], ['title']);
    await dataSource.createQueryBuilder().insert().into(Big).values({}).execute();
    await manager.save(Big, [{}, {}]);
    const objects = [{ title: 'saved' }, { title: 'ignored' }] as Order[];
    await dataSource.createQueryBuilder().insert().into(Order).values(objects).orIgnore().execute();

    for (const [table, count] of [
      ['orders', 7],
      ['line', 2],
      ['label', 1],
      ['bigs', 3],
    ] as const) {
      const found = await ids(dataSource, table);
      expect(found).toHaveLength(count);
      expect(found.filter(isOfDatabase)).toEqual([]);
    }
    const [label] = await manager.find(Label);
    expect([typeof label!.id, typeof label!.code, isOfDatabase(label!.code)]).toEqual(['number', 'bigint', false]);
    expect((await manager.find(Line)).every(({ id }) => id.startsWith('line_'))).toBe(true);
    expect((await manager.findOneByOrFail(Order, { title: 'ignored' })).id).toBe(objects[1]!.id);
  });

  it('tells objects of orIgnore() the IDs of other rows where TypeORM reads defaults back (control)', async () => {
    const dataSource = await openShop();
    await dataSource.manager.insert(Order, { title: 'there' });
    delete (dataSource.getMetadata(Order) as { getInsertionReturningColumns?: unknown }).getInsertionReturningColumns;
    const objects = [{ title: 'there' }, { title: 'ignored' }] as Order[];
    await dataSource.createQueryBuilder().insert().into(Order).values(objects).orIgnore().execute();
    const row = await dataSource.manager.findOneByOrFail(Order, { title: 'ignored' });
    expect(objects[0]!.id).toBe(row.id);
  });

  it('asks the database for no key that the process has made', async () => {
    const dataSource = await openShop();
    const sent: string[] = [];
    dataSource.subscribers.push({ beforeQuery: ({ query }: { query: string }) => void sent.push(query) } as never);
    await dataSource.manager.insert(Order, { title: 'a' });
    await dataSource.manager.insert(Big, {});
    expect(sent).toHaveLength(2);
    expect(sent[0]).toMatch(/VALUES \(\$1, .* RETURNING "rank"$/);
    expect(sent[1]).toMatch(/VALUES \(\$1, DEFAULT\)$/);
  });

  describe('is not left to the database where a builder leaves it out', () => {
    it.each<[string, string, (dataSource: DataSource) => Promise<unknown>]>([
      [
        'a list of columns',
        'column-list',
        (source) => source.createQueryBuilder().insert().into(Order, ['title']).values({ title: 'x' }).execute(),
      ],
      [
        'a list of columns, with orIgnore()',
        'column-list',
        (source) =>
          source.createQueryBuilder().insert().into(Order, ['title']).values({ title: 'x' }).orIgnore().execute(),
      ],
      [
        'no listeners',
        'silent',
        (source) =>
          source.createQueryBuilder().insert().into(Order).values({ title: 'x' }).callListeners(false).execute(),
      ],
      ['no listeners of save', 'silent', (source) => source.manager.save(Order, { title: 'x' }, { listeners: false })],
    ])('%s', async (_, why, insert) => {
      const dataSource = await openShop();
      await expect(insert(dataSource)).rejects.toMatchObject({ errorCode: 'SNOWFLAKE_NOT_ASSIGNED', why });
      expect(await ids(dataSource, 'orders')).toEqual([]);
    });

    it('without a service', async () => {
      const dataSource = await openShop(false);
      await expect(dataSource.manager.insert(Order, { title: 'x' })).rejects.toMatchObject({ why: 'unattached' });
      await expect(dataSource.manager.save(Order, { title: 'x' })).rejects.toMatchObject({ why: 'unattached' });
      expect(await ids(dataSource, 'orders')).toEqual([]);
      const given = { id: 'line_00000000001' };
      await dataSource.manager.insert(Line, given);
      expect(given).toEqual({ id: 'line_00000000001' });
    });

    it('the link of a many-to-many relation', async () => {
      const dataSource = await openShop();
      const label = await dataSource.manager.save(new Label());
      const post = await dataSource.manager.save(new Post());
      const linked = dataSource.manager.save(Object.assign(post, { labels: [label] }));
      await expect(linked).rejects.toMatchObject({ why: 'join-table' });
      expect(await ids(dataSource, 'tagging')).toEqual([]);
    });
  });

  it('has a default in its table, and columns that refer to it have none', async () => {
    const dataSource = await openShop();
    const found = await dataSource.query<{ place: string }[]>(
      `SELECT table_name || '.' || column_name AS place FROM information_schema.columns ` +
        `WHERE column_default = 'raindrop_id()' ORDER BY 1`,
    );
    expect(found.map(({ place }) => place)).toEqual([
      'bigs.id',
      'label.code',
      'label.id',
      'line.id',
      'orders.id',
      'tagging.id',
    ]);
    expect((await checkPrecision(dataSource)).warnings.join()).not.toMatch(/default|database/);
  });

  it('is not changed by a second synchronize, and migration:generate finds nothing to do', async () => {
    const dataSource = await openShop();
    expect(await changes(dataSource)).toEqual({ up: [], down: [] });
    await dataSource.synchronize();
    expect(await changes(await open(ENTITIES, { synchronize: true }))).toEqual({ up: [], down: [] });
  });

  it('gets its default by one ALTER, and loses it by one', async () => {
    const outside = await open([]);
    for (const sql of idFunctionSql()) await outside.query(sql);
    const without = await open([orders({})], { synchronize: true });
    await without.query(`INSERT INTO orders VALUES (1, 'kept')`);
    const set = 'ALTER TABLE "orders" ALTER COLUMN "id" SET DEFAULT raindrop_id()';
    const dropped = 'ALTER TABLE "orders" ALTER COLUMN "id" DROP DEFAULT';
    expect(await changes(await open([orders({ databaseDefault: true })]))).toEqual({ up: [set], down: [dropped] });
    await open([orders({ databaseDefault: true })], { synchronize: true });
    expect(await defaultOf(outside, 'orders')).toBe('raindrop_id()');

    expect(await changes(await open([orders({ databaseDefault: false })]))).toEqual({ up: [dropped], down: [set] });
    await open([orders({})], { synchronize: true });
    expect(await defaultOf(outside, 'orders')).toBeNull();
    expect(await ids(outside, 'orders')).toEqual(['1']);
  });

  it.each([
    ['shop.next_id', 'shop.next_id()', 'shop.next_id()', {}],
    ['Shop.nextId', '"Shop"."nextId"()', '"Shop"."nextId"()', {}],
    ['order.user', '"order"."user"()', '"order"."user"()', {}],
    ['raindrop_id', 'raindrop_id()', 'raindrop_id()', {}],
    // PostgreSQL leaves out the schema that the connection has as its own.
    ['shop.next_id', 'shop.next_id()', 'next_id()', { extra: { options: '-c search_path=shop,public' } }],
  ])('names the function %s, which PostgreSQL may write in another way', async (name, declared, reported, settings) => {
    const outside = await open([]);
    for (const sql of idFunctionSql(name)) await outside.query(sql);
    const entities = [orders({ databaseDefault: name })];
    const dataSource = await open(entities, { synchronize: true, ...settings });
    expect(await defaultOf(dataSource, 'orders')).toBe(reported);
    expect((await changes(dataSource)).up).toEqual([]);
    expect((await checkPrecision(dataSource)).warnings.join()).not.toMatch(/default/);
    await dataSource.query(`INSERT INTO orders (title) VALUES ('a')`);
    expect((await ids(dataSource, 'orders')).every(isOfDatabase)).toBe(true);
    // Control: what TypeORM itself compares differs, and each synchronize would set the default anew.
    const plain = new EntitySchema({
      name: 'orders',
      columns: { id: { type: 'bigint', primary: true, default: () => declared }, title: { type: 'text' } },
    });
    const { up } = await changes(await open([plain], settings));
    const set = `ALTER TABLE "orders" ALTER COLUMN "id" SET DEFAULT ${declared}`;
    expect(up).toEqual(declared === reported ? [] : [set]);
  });

  it('has quotes for every word that PostgreSQL keeps for itself', async () => {
    const sql = `SELECT word FROM pg_get_keywords() WHERE catcode <> 'U'`;
    const words = (await (await open([])).query<{ word: string }[]>(sql)).map(({ word }) => word);
    expect(words.length).toBeGreaterThan(100);
    expect(words.filter((name) => callOf({ schema: undefined, name }) !== `"${name}"()`)).toEqual([]);
  });

  it('gets the default of another function where the schema or the name differs', async () => {
    const outside = await open([]);
    for (const name of ['raindrop_id', 'shop.raindrop_id', 'other_id'])
      for (const sql of idFunctionSql(name)) await outside.query(sql);
    await open([orders({ databaseDefault: true })], { synchronize: true });
    for (const [name, reported] of [
      ['shop.raindrop_id', 'shop.raindrop_id()'],
      ['other_id', 'other_id()'],
      [true, 'raindrop_id()'],
    ] as const) {
      const dataSource = await open([orders({ databaseDefault: name })]);
      expect((await changes(dataSource)).up).toHaveLength(1);
      await dataSource.synchronize();
      expect(await defaultOf(outside, 'orders')).toBe(reported);
      expect((await changes(dataSource)).up).toEqual([]);
    }
  });

  describe('warns', () => {
    const warningsOf = async (entity: EntitySchema, sql: string): Promise<string[]> => {
      const outside = await open([]);
      for (const each of idFunctionSql()) await outside.query(each);
      await outside.query(`CREATE TABLE orders (id bigint NOT NULL PRIMARY KEY ${sql}, title text)`);
      return [...(await checkPrecision(await open([entity]))).warnings];
    };

    it.each([
      [
        'no default',
        '',
        /orders\.id has no default in the database.*\. ALTER TABLE "orders" ALTER COLUMN "id" SET DEFAULT raindrop_id\(\)\.$/,
      ],
      ['another default', 'DEFAULT 5', /the database fills orders\.id by default .*5.* and not by raindrop_id\(\)/],
      [
        'an identity',
        'GENERATED BY DEFAULT AS IDENTITY',
        /by identity, and.*ALTER TABLE "orders" ALTER COLUMN "id" DROP IDENTITY; then ALTER TABLE .* SET DEFAULT raindrop_id\(\)\.$/,
      ],
    ])('of %s', async (_, sql, expected) => {
      expect(await warningsOf(orders({ databaseDefault: true }), sql)).toEqual([expect.stringMatching(expected)]);
    });

    it('of the default without the option, and names it', async () => {
      expect(await warningsOf(orders({}), 'DEFAULT raindrop_id()')).toEqual([
        expect.stringMatching(/the database still fills orders\.id .* DROP DEFAULT, or declare databaseDefault\.?$/),
      ]);
    });
  });

  it('is refused for a service whose numbers come from segments', async () => {
    const dataSource = await open([orders({ databaseDefault: true })]);
    const service = await openIdService({ dbConfig: database.options, idMode: 'numberSection' });
    try {
      expect(() => attachIdService(dataSource, service as never)).toThrow(
        /numbers from segments.* Remove databaseDefault/,
      );
    } finally {
      await service.close();
    }
  });
});

describe.each(databaseKinds.filter((kind) => kind !== 'postgres'))('A column with databaseDefault on %s', (kind) => {
  it('is refused when the DataSource is initialised, before a table is made', async () => {
    const database = await testDatabase(kind);
    const outside = await new DataSource(database.options).initialize();
    try {
      const dataSource = new DataSource({ ...database.options, entities: [Order, Line, Label], synchronize: true });
      const failure: unknown = await dataSource.initialize().catch((error: unknown) => error);
      expect(failure).toMatchObject({ errorCode: 'UNSUPPORTED_COLUMN', retryable: false });
      const { message } = failure as Error;
      expect(message).toContain('on Order.id, Line.id, Label.id, Label.code: databaseDefault is for PostgreSQL');
      expect(message).toContain(`the DataSource's type is '${database.options.type}'. Remove it`);
      expect(dataSource.isInitialized).toBe(false);
      expect(await outside.createQueryRunner().hasTable('orders')).toBe(false);
    } finally {
      await outside.destroy();
      await database.drop();
    }
  });
});
