import type { Layout } from '@raindrop/core';
import type { FieldPacket } from 'mysql2';
import { types } from 'pg';
import { DataSource, Entity, JoinColumn, ManyToOne, type DataSourceOptions, type Relation } from 'typeorm';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import type { EntityLintError } from './entity-lint.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';
import { lookAtColumns } from './real-columns.js';

@Entity('orders')
class Order {
  @GeneratedSnowflake({ name: 'order_id' })
  id!: string;
}

@Entity('items')
class Item {
  @GeneratedSnowflake()
  id!: string;

  @JoinColumn({ name: 'order_id' })
  @ManyToOne(() => Order, { createForeignKeyConstraints: false, nullable: true })
  order!: Relation<Order>;
}

@Entity('counters')
class Counter {
  @GeneratedSnowflake()
  id!: number;
}

describe.each(databaseKinds)('The columns as they are on %s', (kind) => {
  let database: TestDatabase;
  const opened: DataSource[] = [];
  const logged: string[] = [];
  const lint = { mode: 'error' as const, warn: (message: string) => void logged.push(message) };
  const wide = snowflakeSource();

  beforeEach(async () => {
    database = await testDatabase(kind);
    logged.length = 0;
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.destroy()));
    await database.drop();
  });

  const open = async (
    more: object = {},
    entities: (new () => object)[] = [Order, Item],
    source = wide,
  ): Promise<DataSource> => {
    const options = { ...database.options, entities, ...more } as DataSourceOptions;
    const dataSource = await new DataSource(options).initialize();
    opened.push(dataSource);
    attachSnowflakes(dataSource, source);
    return dataSource;
  };

  const look = async (dataSource: DataSource, source = wide): Promise<EntityLintError | undefined> =>
    lookAtColumns(dataSource, source, lint).then(
      () => undefined,
      (error: unknown) => error as EntityLintError,
    );

  const tables = async (dataSource: DataSource, order: string, item: string, reference: string): Promise<void> => {
    await dataSource.query(`CREATE TABLE orders (order_id ${order} PRIMARY KEY)`);
    await dataSource.query(`CREATE TABLE items (id ${item} PRIMARY KEY, order_id ${reference})`);
  };

  it('is content with what it makes itself, and with tables that are not there yet', async () => {
    const dataSource = await open();
    expect(await look(dataSource)).toBeUndefined();
    await dataSource.synchronize();
    expect(await look(dataSource)).toBeUndefined();
    expect(logged).toEqual([]);
  });

  it('asks once', async () => {
    const dataSource = await open();
    const asked: string[] = [];
    await lookAtColumns(dataSource, wide, lint, (sql, parameters) => {
      asked.push(sql);
      return dataSource.query(sql, parameters);
    });
    expect(asked).toHaveLength(1);
  });

  const narrow: Record<string, [string, string, string]> = {
    mariadb: ['int unsigned', 'smallint', 'varchar(12)'],
    mysql: ['int unsigned', 'smallint', 'varchar(12)'],
    postgres: ['integer', 'smallint', 'varchar(12)'],
    sqlite: ['real', 'double', 'float'],
  };

  it('refuses columns that were never migrated: keys, and those that point at them', async () => {
    const dataSource = await open();
    await tables(dataSource, ...narrow[kind]!);
    const failure = await look(dataSource);
    expect(failure).toMatchObject({ errorCode: 'ENTITY_LINT', retryable: false });
    expect(failure!.problems.map(({ table, property }) => `${table}.${property}`).sort()).toEqual([
      'items.id',
      'items.order.id',
      'orders.id',
    ]);
    const [order] = failure!.problems.filter(({ entity }) => entity === 'Order');
    expect(order!.problem).toMatch(/^its column orders\.order_id is (int|real)/i);
    expect(order!.cure).toMatch(
      kind === 'sqlite' ? /recreate the table "orders"/ : /ALTER TABLE [`"]orders[`"] .*[`"]order_id[`"] .*bigint/,
    );
    expect(failure!.message).toMatch(/raindrop adopt/);
  });

  it('takes other types that hold every ID, and warns of texts', async () => {
    const dataSource = await open();
    await tables(dataSource, 'decimal(20,0)', 'bigint', 'varchar(19)');
    expect(await look(dataSource)).toBeUndefined();
    expect(logged).toEqual([expect.stringContaining('compares IDs as text')]);
  });

  it('warns of a narrow column whose numbers are small', async () => {
    const dataSource = await open();
    await tables(dataSource, narrow[kind]![0], 'bigint', 'bigint');
    expect(await look(dataSource, snowflakeSource('default', { layout: undefined }))).toBeUndefined();
    expect(logged).toEqual([expect.stringContaining('orders.order_id is')]);
  });

  it('warns, and starts, where it may not look', async () => {
    const dataSource = await open();
    await lookAtColumns(dataSource, wide, lint, () => Promise.reject(new Error('permission denied')));
    expect(logged).toEqual([expect.stringContaining('permission denied')]);
  });

  const filled: Record<string, [what: string, made: string[], cure: string[]][]> = {
    postgres: [
      [
        'a serial',
        ['CREATE TABLE orders (order_id bigserial PRIMARY KEY)'],
        ['ALTER TABLE "orders" ALTER COLUMN "order_id" DROP DEFAULT'],
      ],
      [
        'an identity',
        ['CREATE TABLE orders (order_id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY)'],
        ['ALTER TABLE "orders" ALTER COLUMN "order_id" DROP IDENTITY'],
      ],
      [
        'an expression',
        [`CREATE TABLE orders (order_id bigint DEFAULT (extract(epoch FROM now()))::bigint PRIMARY KEY)`],
        ['ALTER TABLE "orders" ALTER COLUMN "order_id" DROP DEFAULT'],
      ],
      ...[
        'NEW.order_id := 7;',
        'new."order_id" = 7;',
        'IF true THEN NEW.order_id = 7; END IF;',
        'SELECT 7 INTO NEW.order_id;',
      ].map((body): [string, string[], string[]] => [
        `a trigger: ${body}`,
        [
          'CREATE TABLE orders (order_id bigint PRIMARY KEY)',
          `CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NEW; END $$`,
          'CREATE TRIGGER filling BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION fill()',
        ],
        ['DROP TRIGGER "filling" ON "orders"'],
      ]),
    ],
    mariadb: [
      [
        'auto_increment',
        ['CREATE TABLE orders (order_id bigint unsigned AUTO_INCREMENT PRIMARY KEY)'],
        ['ALTER TABLE `orders` MODIFY `order_id` bigint(20) unsigned NOT NULL'],
      ],
      [
        'a default',
        ['CREATE TABLE orders (order_id bigint NOT NULL DEFAULT 0 PRIMARY KEY)'],
        ['ALTER TABLE `orders` ALTER COLUMN `order_id` DROP DEFAULT'],
      ],
      ...['SET NEW.order_id = 7', 'BEGIN SET @a = 1, NEW.`order_id`\t:= 7; END'].map(
        (body): [string, string[], string[]] => [
          `a trigger: ${body}`,
          [
            'CREATE TABLE orders (order_id bigint NOT NULL PRIMARY KEY)',
            `CREATE TRIGGER filling BEFORE INSERT ON orders FOR EACH ROW ${body}`,
          ],
          ['DROP TRIGGER `filling`'],
        ],
      ),
    ],
    sqlite: [
      ['a row number', ['CREATE TABLE orders (order_id integer PRIMARY KEY)'], []],
      ['a default', ['CREATE TABLE orders (order_id bigint NOT NULL DEFAULT (random()) PRIMARY KEY)'], []],
      [
        'a trigger',
        [
          'CREATE TABLE orders (order_id bigint PRIMARY KEY)',
          'CREATE TRIGGER filling AFTER\n  INSERT ON orders BEGIN UPDATE orders SET "order_id" = 7 WHERE rowid = new.rowid; END',
        ],
        ['DROP TRIGGER "filling"'],
      ],
    ],
  };
  filled['mysql'] = filled['mariadb']!.map(([what, made, cure]) => [
    what,
    made,
    cure.map((sql) => sql.replace('(20)', '')),
  ]);

  it.each(filled[kind]!)('warns of a key that the database still fills: %s', async (_, made, [cure]) => {
    const dataSource = await open({}, [Order]);
    for (const sql of made) await dataSource.query(sql);
    expect(await look(dataSource)).toBeUndefined();
    expect(logged).toHaveLength(1);
    expect(logged[0]).toMatch(
      /^orders\.id \(.*\): the database still fills orders\.order_id \(.*\): an insert that bypasses Raindrop/,
    );
    if (cure === undefined) {
      expect(logged[0]).toMatch(/make the table anew with "order_id" bigint NOT NULL/);
      return;
    }
    expect(logged[0]).toContain(`. ${cure}`);
    await dataSource.query(cure);
    logged.length = 0;
    expect(await look(dataSource)).toBeUndefined();
    expect(logged).toEqual([]);
  });

  it('says nothing of keys that nothing fills', async () => {
    const dataSource = await open();
    const plain = {
      postgres: [
        'CREATE TABLE orders (order_id bigint PRIMARY KEY, at timestamp DEFAULT now())',
        `CREATE FUNCTION told() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.order_id = 5 THEN RAISE 'no'; END IF;
         NEW.at := now(); PERFORM NEW.order_id; RETURN NEW; END $$`,
        'CREATE TRIGGER telling BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION told()',
        'CREATE TABLE items (id bigint PRIMARY KEY, order_id bigserial)',
      ],
      mariadb: [
        'CREATE TABLE orders (order_id bigint NOT NULL PRIMARY KEY, n int DEFAULT 1)',
        'CREATE TRIGGER telling BEFORE INSERT ON orders FOR EACH ROW SET @last = NEW.order_id, NEW.n = 2',
        'CREATE TABLE items (id bigint NOT NULL PRIMARY KEY, order_id bigint DEFAULT NULL)',
      ],
      sqlite: [
        'CREATE TABLE orders (order_id integer PRIMARY KEY, n int DEFAULT 1) WITHOUT ROWID',
        'CREATE TRIGGER telling AFTER INSERT ON orders BEGIN UPDATE orders SET n = new.order_id WHERE order_id = new.order_id; END',
        'CREATE TABLE items (id integer, order_id integer DEFAULT 3, PRIMARY KEY (id, order_id))',
      ],
    };
    for (const sql of plain[kind === 'mysql' ? 'mariadb' : kind]) await dataSource.query(sql);
    expect(await look(dataSource)).toBeUndefined();
    expect(logged).toEqual([]);
  });

  it('takes numbers where all IDs are exact', async () => {
    const narrow = snowflakeSource('default', { layout: { bits: 53, safeUntil: null } as Layout });
    expect(await look(await open({}, [Counter], narrow), narrow)).toBeUndefined();
  });

  it('refuses a connection of the application that changes an ID', async () => {
    let failure: EntityLintError | undefined;
    if (kind === 'postgres') {
      const parse = types.getTypeParser(20) as (text: string) => unknown;
      types.setTypeParser(20, (text) => ({ text }));
      failure = await look(await open());
      types.setTypeParser(20, parse);
    } else if (kind === 'sqlite') {
      const dataSource = await open();
      failure = (await lookAtColumns(dataSource, wide, lint, async (sql, parameters) =>
        (await dataSource.query<{ id: unknown }[]>(sql, parameters)).map((row) => ({ ...row, id: Number(row.id) })),
      ).catch((error: unknown) => error as EntityLintError)) as EntityLintError;
    } else {
      const typeCast = (field: FieldPacket & { string(): string }, next: () => unknown): unknown =>
        (field.type as unknown) === 'LONGLONG' ? Number(field.string()) : next();
      failure = await look(await open({ extra: { typeCast } }));
    }
    expect(failure).toMatchObject({ errorCode: 'ENTITY_LINT' });
    expect(failure!.problems[0]!.problem).toMatch(/connection returns .* for the ID 9223372036854775807$/);
    expect(failure!.problems[0]!.cure).toMatch(/typeCast|int8|prepareDatabase/);
  });
});
