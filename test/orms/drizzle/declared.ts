/** What a declaration makes of itself, without a database. Stops at what is not so. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { inspect } from 'node:util';
import { eq, inArray, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { getTableConfig as mysqlConfig, mysqlTable } from 'drizzle-orm/mysql-core';
import { drizzle as drizzleOnPostgres } from 'drizzle-orm/node-postgres';
import { getTableConfig as pgConfig, index, pgSchema, pgTable, pgTableCreator, pgView } from 'drizzle-orm/pg-core';
import * as pgCore from 'drizzle-orm/pg-core';
import { singlestoreTable } from 'drizzle-orm/singlestore-core';
import * as sqliteCore from 'drizzle-orm/sqlite-core';
import {
  alias,
  type AnySQLiteColumn,
  getTableConfig as sqliteConfig,
  sqliteTable,
  sqliteView,
} from 'drizzle-orm/sqlite-core';
import { text as sqliteText } from 'drizzle-orm/sqlite-core';
import { z } from 'zod';
import { openIdService } from '@raindrop/node';
import { exactJson, snowflake, snowflakeReference } from '@raindrop/orm/drizzle';
import { nullRefused, snakeCased, zod } from '#release';

const customers = pgTable('customers', { id: snowflake().primaryKey() });
const key = { id: snowflake().primaryKey() };

const tests: Readonly<Record<string, () => unknown>> = {
  'columns, keys and constraints are those of Drizzle': () => {
    const orders = pgTable(
      'orders',
      {
        id: snowflake('order_id').primaryKey(),
        customerId: snowflakeReference()
          .notNull()
          .references(() => customers.id, { onDelete: 'cascade' }),
        trace: snowflake().unique('one_trace'),
      },
      (table) => [index('by_customer').on(table.customerId.desc())],
    );
    const { columns, foreignKeys, indexes } = pgConfig(orders);
    assert.deepEqual(
      columns.map((each) => [
        each.name,
        each.getSQLType(),
        each.primary,
        each.notNull,
        each.isUnique && each.uniqueName,
      ]),
      [
        ['order_id', 'bigint', true, true, false],
        ['customerId', 'bigint', false, true, false],
        ['trace', 'bigint', false, true, 'one_trace'],
      ],
    );
    assert.equal(foreignKeys[0]!.onDelete, 'cascade');
    assert.equal(foreignKeys[0]!.reference().foreignColumns[0], customers.id);
    assert.equal(indexes.length, 1);
  },
  'SQLite has texts, and no row ids for numbers': () => {
    const table = (as: 'string' | 'bigint' | 'number') => sqliteTable('orders', { id: snowflake({ as }).primaryKey() });
    const types = (['string', 'bigint', 'number'] as const).map((as) =>
      sqliteConfig(table(as)).columns[0]!.getSQLType(),
    );
    assert.deepEqual(types, ['text', 'text', 'bigint']);
  },
  'a column may stand in tables of several dialects': () => {
    const tables = [pgTable('a', { ...key, other: key.id }), mysqlTable('b', key), sqliteTable('c', key)] as const;
    assert.deepEqual(
      [pgConfig(tables[0]).columns, mysqlConfig(tables[1]).columns, sqliteConfig(tables[2]).columns].map((columns) =>
        columns.map(({ name }) => name),
      ),
      [['id', 'other'], ['id'], ['id']],
    );
  },
  'schemas, creators and views have their columns': () => {
    const places = [
      pgSchema('shop').table('orders', key).id,
      pgTableCreator((name) => `shop_${name}`)('orders', key).id,
      pgView('seen', { id: snowflakeReference().notNull() }).existing().id,
    ];
    for (const id of places) {
      assert.equal(id.mapFromDriverValue('30586178364244026'), '30586178364244026');
      assert.throws(() => id.mapFromDriverValue(30586178364244026), { errorCode: 'UNSAFE_SNOWFLAKE' });
    }
    assert.throws(() => places[1]!.mapToDriverValue('12abc'), { message: /^shop_orders\.id: / });
  },
  'the casing of the database is followed': () => {
    const { makeTable, options } = snakeCased(pgTable, pgCore);
    const lines = makeTable('lines', { ...key, orderId: snowflakeReference() });
    const db = drizzleOnPostgres('postgres://127.0.0.1:1', options);
    assert.match(db.select().from(lines).toSQL().sql, /"order_id"/);
  },
  'options that cannot work are named with the column': () => {
    assert.throws(() => pgTable('orders', { id: snowflake({ as: 'bigint', prefix: 'order' }) }), {
      errorCode: 'CONFIGURATION',
      message: /orders\.id: prefix/,
    });
    assert.throws(() => singlestoreTable('orders', { id: snowflake() }), { message: /orders\.id = SingleStoreTable/ });
  },
  'the default of the database is for PostgreSQL, and no insert asks for it': () => {
    const id = snowflake({ ids: { nextId: () => 7n, nextString: () => '7' }, databaseDefault: true });
    const orders = pgTable('orders', { id, other: snowflakeReference() });
    const { sql: statement } = drizzleOnPostgres('postgres://127.0.0.1:1').insert(orders).values({}).toSQL();
    assert.equal(statement, 'insert into "orders" ("id", "other") values ($1, default)');
    assert.equal(orders.other.default, undefined);
    const refused = {
      errorCode: 'CONFIGURATION',
      message: /orders\.id: databaseDefault = raindrop_id\(\): is for PostgreSQL/,
    };
    assert.throws(() => mysqlTable('orders', { id }), refused);
    assert.throws(() => sqliteTable('orders', { id }), refused);
    const noName = { message: /orders\.id: databaseDefault = "next_id\(\)": must be true, false, or the name/ };
    assert.throws(() => pgTable('orders', { id: snowflake({ databaseDefault: 'next_id()' }) }), noName);
  },
  'what is no ID is refused before it is sent': () => {
    const orders = sqliteTable('orders', {
      id: snowflake().primaryKey(),
      order: snowflakeReference({ prefix: 'order' }),
    });
    const insert = (values: object) => () =>
      drizzle(':memory:')
        .insert(orders)
        .values(values as never)
        .toSQL();
    assert.throws(insert({ id: 2 ** 53 }), { errorCode: 'UNSAFE_SNOWFLAKE', message: /^orders\.id: / });
    assert.throws(insert({ id: '12abc' }), { errorCode: 'INVALID_ID', message: /orders\.id/ });
    assert.throws(insert({ id: '1', order: 'customer_0Cc4kqJ3WmY' }), { errorCode: 'INVALID_ID' });
    // mysql2 would write an object as SQL: `id` = 1.
    for (const none of [{ id: 1 }, ['1', '2'], true, new Date(0), new String('5')]) {
      assert.throws(insert({ id: none }), { errorCode: 'INVALID_ID', message: /^orders\.id: / });
      assert.throws(insert({ id: '1', order: none }), { errorCode: 'INVALID_ID', message: /^orders\.order: / });
      const where = eq(orders.id, none as never);
      assert.throws(() => drizzle(':memory:').select().from(orders).where(where).toSQL(), { errorCode: 'INVALID_ID' });
    }
    assert.throws(
      () =>
        drizzle(':memory:')
          .delete(orders)
          .where(inArray(orders.id, [undefined as never]))
          .toSQL(),
      {
        errorCode: 'INVALID_ID',
      },
    );
  },
  'what is no ID is refused when it is read': () => {
    const { id } = sqliteTable('orders', key);
    for (const none of ['12abc', '3.0586178364244026e16', '1,2', '', [5n], { id: 1n }, true, 2 ** 53, NaN]) {
      assert.throws(() => id.mapFromDriverValue(none), {
        errorCode: 'UNSAFE_SNOWFLAKE',
        message: /^orders\.id: /,
      });
    }
    assert.deepEqual(
      ['-7', 7, 2n ** 63n - 1n].map((each) => id.mapFromDriverValue(each as never)),
      ['-7', '7', '9223372036854775807'],
    );
  },
  'the schemas of zod refuse what is no ID once the column has its schema, as docs/drizzle.md says': () => {
    const lines = pgTable('lines', { id: snowflake().primaryKey(), orderId: snowflakeReference().notNull() });
    const id = z.string();
    const insert = zod.createInsertSchema(lines, { id: id.optional(), orderId: id });
    const line: typeof lines.$inferInsert = insert.parse({ orderId: '1' });
    assert.deepEqual(line, { orderId: '1' });
    assert.deepEqual(insert.parse({ id: '2', orderId: '1' }), { id: '2', orderId: '1' });
    for (const none of [null, 2, { id: '2' }]) {
      assert.ok(!insert.safeParse({ id: none, orderId: '1' }).success);
      assert.ok(!insert.safeParse({ orderId: none }).success);
    }
    assert.ok(!insert.safeParse({}).success);
    const update = zod.createUpdateSchema(lines, { id: id.optional(), orderId: id.optional() });
    assert.deepEqual(update.parse({}), {});
    assert.ok(!zod.createSelectSchema(lines, { id }).safeParse({ id: null, orderId: '1' }).success);
    // Without it, a value of any type passes.
    assert.deepEqual(zod.createInsertSchema(lines).parse({ id: null, orderId: 2 }), { id: null, orderId: 2 });
  },
  'the service is looked up when a row is inserted': async () => {
    const orders = sqliteTable('orders', { id: snowflake().primaryKey(), customer: sqliteText() });
    const db = drizzle(':memory:');
    db.run(sql`create table orders (id text primary key not null, customer text)`);
    const insert = (): unknown => db.insert(orders).values({ customer: 'Ada' }).returning().get();
    assert.throws(insert, { errorCode: 'NO_OPEN_SERVICE' });
    const silent = { log: () => {}, warn: () => {}, error: () => {} };
    const ids = await openIdService({ workerIdAssigner: 'static', workerId: 1, restartWaitMs: false, logger: silent });
    insert();
    const prepared = db
      .insert(orders)
      .values({ customer: sql.placeholder('customer') })
      .prepare();
    // Nor does an object from outside choose the ID.
    const fromOutside = JSON.parse('{ "customer": "Eve", "constructor": "5", "id": "5", "__proto__": "5" }') as object;
    prepared.run(fromOutside as never);
    assert.equal(db.select().from(orders).where(eq(orders.id, '5')).all().length, 0);
    await ids.close();
    assert.throws(() => prepared.run(), { errorCode: 'NO_OPEN_SERVICE' });
    assert.equal(db.select().from(orders).all().length, 2);
  },
  'loggers see the IDs, and what stands for them is never written': async () => {
    const orders = sqliteTable('orders', {
      id: snowflake().primaryKey(),
      replaces: snowflakeReference().references((): AnySQLiteColumn => orders.id),
    });
    const logged: unknown[] = [];
    const db = drizzle(':memory:', { logger: { logQuery: (_, parameters) => void logged.push(...parameters) } });
    db.run(sql`create table orders (id text primary key not null, replaces text)`);
    db.run(sql`create view seen as select id from orders`);
    const silent = { log: () => {}, warn: () => {}, error: () => {} };
    const ids = await openIdService({ workerIdAssigner: 'static', workerId: 1, restartWaitMs: false, logger: silent });
    const first = db.insert(orders).values({}).returning();
    const { params } = first.toSQL();
    assert.match(inspect(params), /Param/);
    for (const write of [JSON.stringify, String]) assert.throws(() => write(params), { errorCode: 'INSERT_REFUSED' });
    const { id } = first.get();
    assert.deepEqual(logged, [id]);
    const { id: second } = db.insert(orders).values({ replaces: id }).returning().get();

    const other = alias(orders, 'other');
    const replaced = db
      .select({ id: orders.id, other: other.id })
      .from(orders)
      .innerJoin(other, eq(other.id, orders.replaces));
    assert.deepEqual(replaced.all(), [{ id: second, other: id }]);
    const seen = sqliteView('seen', { id: snowflakeReference().notNull() }).existing();
    assert.deepEqual(db.select().from(seen).orderBy(seen.id).all(), [{ id }, { id: second }]);
    assert.equal(await db.$count(orders, eq(orders.id, id)), 1);

    const given = db
      .insert(orders)
      .values({ id: sql.placeholder('id') })
      .prepare();
    for (const none of [undefined, {}]) assert.throws(() => given.run({ id: none }), { errorCode: 'INVALID_ID' });
    assert.throws(() => given.run({ id: null }), nullRefused);
    const reference = db
      .insert(orders)
      .values({ replaces: sql.placeholder('replaces') })
      .prepare();
    reference.run({ replaces: null });
    await ids.close();
  },
  'an upsert may set a key to itself: in a module of ESM, and in one of CommonJS': () => {
    const require = createRequire(import.meta.url);
    const commonJs = {
      ...(require('drizzle-orm') as { sql: typeof sql }),
      ...(require('drizzle-orm/better-sqlite3') as { drizzle: typeof drizzle }),
      ...(require('drizzle-orm/sqlite-core') as { sqliteTable: typeof sqliteTable; text: typeof sqliteText }),
      core: require('drizzle-orm/sqlite-core') as object,
      ...(require('@raindrop/orm/drizzle') as { snowflake: typeof snowflake }),
    };
    assert.notEqual(commonJs.sqliteTable, sqliteTable);
    for (const copy of [{ sql, drizzle, sqliteTable, text: sqliteText, snowflake, core: sqliteCore }, commonJs]) {
      const { makeTable, options } = snakeCased(copy.sqliteTable, copy.core);
      const columns = { orderId: copy.snowflake().primaryKey(), email: copy.text().unique() };
      const orders = makeTable('orders', columns);
      const db = copy.drizzle(':memory:', options);
      db.run(copy.sql`create table orders (order_id text primary key not null, email text unique)`);
      const row = { orderId: '1', email: 'a' };
      const insert = (target: AnySQLiteColumn, orderId: unknown): void =>
        void db
          .insert(orders)
          .values(row)
          .onConflictDoUpdate({ target, set: { orderId: orderId as never } })
          .run();
      for (const own of [
        orders.orderId,
        copy.sql`${orders.orderId}`,
        copy.sql`order_id`,
        copy.sql`"orders"."order_id"`,
      ]) {
        insert(orders.email, own);
      }
      for (const same of ['1', copy.sql`excluded.order_id`]) insert(orders.orderId, same);
      const others = ['1', '2', copy.sql`excluded.order_id`, copy.sql`coalesce(order_id, ${'3'})`, copy.sql`${'1'}`];
      for (const other of others) {
        assert.throws(() => insert(orders.email, other), { errorCode: 'INSERT_REFUSED', why: 'key-update' });
      }
      assert.deepEqual(db.select().from(orders).all(), [row]);
    }
  },
  'control: what Drizzle makes once, a prepared insert repeats': () => {
    let last = 0;
    const id = sqliteText()
      .primaryKey()
      .$defaultFn(() => String(++last));
    const db = drizzle(':memory:');
    db.run(sql`create table orders (id text primary key not null)`);
    const prepared = db.insert(sqliteTable('orders', { id })).values({}).prepare();
    prepared.run();
    assert.throws(
      () => prepared.run(),
      (error) => inspect(error).includes('SQLITE_CONSTRAINT_PRIMARYKEY'),
    );
  },
  'JSON keeps the digits of integers, and nothing else changes': () => {
    const json =
      '[9007199254740993, {"9007199254740993": "9007199254740993 \\" -12345678901234567890"}, 9007199254740991]';
    assert.deepEqual(exactJson(json), [
      '9007199254740993',
      { '9007199254740993': '9007199254740993 " -12345678901234567890' },
      9007199254740991,
    ]);
    for (const same of [
      '0.12345678901234567890',
      '-1234567890123456789e2',
      '[1.5e300, -0, true, null, "\\\\"]',
      '""',
    ]) {
      assert.deepEqual(exactJson(same), JSON.parse(same));
    }
    assert.equal(exactJson('-12345678901234567890'), '-12345678901234567890');
    assert.equal(
      (exactJson(`["${'a\\"1'.repeat(1_000_000)}", 12345678901234567890]`) as unknown[])[1],
      '12345678901234567890',
    );
    assert.throws(() => exactJson('[12345678901234567890'), SyntaxError);
  },
};

for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
  } catch (error) {
    throw new Error(name, { cause: error });
  }
}
console.log(JSON.stringify({ passed: Object.keys(tests).length }));
