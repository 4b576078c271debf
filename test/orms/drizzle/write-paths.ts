import assert from 'node:assert/strict';
import Sqlite from 'better-sqlite3';
import { eq, type SQLWrapper, sql } from 'drizzle-orm';
import { mysqlTable, primaryKey, varchar } from 'drizzle-orm/mysql-core';
import { drizzle as mysqlProxy } from 'drizzle-orm/mysql-proxy';
import { drizzle as pgProxy } from 'drizzle-orm/pg-proxy';
import { snowflake } from '@raindrop/orm/drizzle';
import { release, remoteSqlite } from '#release';
import type { DatabaseKind, Db, Id, Shop } from './shop.js';

/** What a path has written. */
export interface Written {
  /** How many orders with IDs of ours. */
  readonly rows: number;
  /** The IDs, where the path tells them. */
  readonly ids?: readonly unknown[];
}

export interface WritePath {
  /** of the table in docs/write-paths.md; several paths may share one. */
  readonly row: string;
  readonly name: string;
  /** Where Drizzle has this path; everywhere unless given. */
  readonly on?: readonly DatabaseKind[] | undefined;
  /** What makes it wrong, where that is not ours: an issue of Drizzle. */
  readonly wrongBy?: string;
  run(shop: Shop): Promise<Written>;
}

/** Of the builders of MySQL, what those of PostgreSQL do not have. */
interface MysqlInsert extends PromiseLike<unknown> {
  onDuplicateKeyUpdate(config: { set: Partial<Values> }): MysqlInsert;
  ignore(): MysqlInsert;
  prepare(): { execute(values: object): Promise<{ id: unknown }[]> };
  values(values: Values | Values[]): MysqlInsert;
  $returningId(): MysqlInsert & Promise<{ id: unknown }[]>;
}

interface Values {
  id?: Id | undefined;
  number: string;
  customer?: string;
}

let numbers = 0;
const fresh = (): string => `A-${++numbers}`;
const some = (count: number): Values[] => Array.from({ length: count }, () => ({ number: fresh() }));
const idsOf = (rows: readonly { id: unknown }[]): unknown[] => rows.map(({ id }) => id);
const isMysql = ({ kind }: Shop): boolean => kind === 'mariadb' || kind === 'mysql';

function insert({ db, schema }: Shop, values: unknown, over: Pick<Db, 'insert'> = db) {
  return over.insert(schema.orders).values(values as never);
}

function mysqlInsert(shop: Shop, values: Values | Values[]): MysqlInsert {
  return insert(shop, values) as unknown as MysqlInsert;
}

/** Inserts, and has the statement tell the IDs as the dialect does. */
async function inserted(shop: Shop, values: Values[]): Promise<unknown[]> {
  return idsOf(await (isMysql(shop) ? mysqlInsert(shop, values).$returningId() : insert(shop, values).returning()));
}

function upsert(shop: Shop, values: Values) {
  const set = { customer: 'Ada' };
  if (isMysql(shop)) return mysqlInsert(shop, values).onDuplicateKeyUpdate({ set });
  return insert(shop, values).onConflictDoUpdate({ target: shop.schema.orders.number, set });
}

/** Runs the transaction as the driver wants it: better-sqlite3 knows none that waits. */
async function transact(shop: Shop, steps: (over: Db) => PromiseLike<unknown>[], fails = false): Promise<void> {
  const body = (over: Db): unknown => {
    const statements = steps(over);
    if (shop.kind === 'sqlite') for (const each of statements) (each as unknown as { run(): void }).run();
    const done = fails ? new Error('rolled back') : undefined;
    if (shop.kind !== 'sqlite') return inOrder(statements).then(() => done && Promise.reject(done));
    if (done) throw done;
    return undefined;
  };
  await shop.db.transaction(body as never);
}

async function execute({ db, kind }: Shop, statement: SQLWrapper): Promise<void> {
  if (kind === 'sqlite') (db as unknown as { run(query: unknown): void }).run(statement);
  else await db.execute(statement);
}

async function inOrder(statements: PromiseLike<unknown>[]): Promise<void> {
  for (const each of statements) await each;
}

const prepared = (shop: Shop, values: object) => {
  const builder = insert(shop, values) as unknown as {
    prepare(name: string): { execute(values: object): Promise<unknown> };
  };
  return builder.prepare(`insert_${fresh()}`);
};

const single: readonly WritePath[] = [
  {
    row: 'single',
    name: '`insert().values()`',
    run: async (shop) => {
      await insert(shop, { number: fresh() });
      return { rows: 1 };
    },
  },
  {
    row: 'returning',
    name: '`returning()`; on MySQL `$returningId()`',
    run: async (shop) => ({ rows: 1, ids: await inserted(shop, some(1)) }),
  },
  {
    row: 'returning',
    name: '`$returningId()` of a table with `primaryKey({ columns })`',
    on: ['mariadb', 'mysql'],
    run: async (shop) => {
      const ids: unknown[] = [];
      for (const names of [['id', 'number'], ['number', 'id'], ['id'], ['trace', 'id']] as const) {
        const orders = mysqlTable(
          'orders',
          { id: snowflake(shop.form.key), number: varchar({ length: 40 }).notNull(), trace: snowflake('customer') },
          (table) => [primaryKey({ columns: names.map((name) => table[name]) as never })],
        );
        const insert = shop.db.insert(orders as never) as unknown as { values(rows: object): MysqlInsert };
        ids.push(...idsOf(await insert.values(some(2)).$returningId()));
        const given = { id: shop.form.of(String(shop.ids.nextId())), number: fresh() };
        const prepared = (shop.db.insert(orders as never).values(given as never) as unknown as MysqlInsert)
          .$returningId()
          .prepare();
        ids.push(...idsOf(await prepared.execute({})));
      }
      return { rows: 12, ids };
    },
  },
  {
    row: 'columns by name',
    name: '`insert(orders, "number")`, one row and two',
    on: release === '1.0' ? undefined : [],
    run: async ({ db, schema }) => {
      const into = (...names: string[]) =>
        (db as unknown as { insert(table: unknown, ...columns: string[]): MysqlInsert }).insert(
          schema.orders,
          ...names,
        );
      await into('number').values(some(1));
      await into('customer', 'number').values(some(2));
      await into('number', 'id').values(some(1));
      return { rows: 4 };
    },
  },
  {
    row: 'single',
    name: '`values({ id: undefined })`',
    run: async (shop) => ({ rows: 1, ids: await inserted(shop, [{ id: undefined, number: fresh() }]) }),
  },
  {
    row: 'single, null',
    name: '`values({ id: null })`, which the types refuse',
    run: async (shop) => {
      await insert(shop, { id: null, number: fresh() });
      return { rows: 1 };
    },
  },
  {
    row: 'single',
    name: 'an ID that the application gives',
    run: async (shop) => {
      const id = shop.form.of(String(shop.ids.nextId()));
      return { rows: 1, ids: await inserted(shop, [{ id, number: fresh() }]) };
    },
  },
  {
    row: 'single',
    name: 'the same builder awaited twice',
    run: async (shop) => {
      const builder = insert(shop, { number: sql`cast((select count(*) from ${shop.schema.orders}) as char(20))` });
      await builder;
      await builder.execute();
      return { rows: 2 };
    },
  },
  {
    row: 'single',
    name: 'the same builder again, after it failed',
    run: async (shop) => {
      const { orders } = shop.schema;
      const values = { number: fresh() };
      await insert(shop, values);
      const again = insert(shop, values);
      await assert.rejects(async () => await again);
      await shop.db.delete(orders).where(eq(orders.number, values.number));
      await again;
      return { rows: 1 };
    },
  },
  {
    row: 'single',
    name: 'one object in two statements',
    run: async (shop) => {
      const values = {
        get number() {
          return fresh();
        },
      };
      const ids = await Promise.all([inserted(shop, [values]), inserted(shop, [values, values])]);
      return { rows: 3, ids: ids.flat() };
    },
  },
  {
    row: 'single',
    name: '50 at once',
    run: async (shop) => {
      const made = await Promise.all(some(50).map((values) => inserted(shop, [values])));
      return { rows: 50, ids: made.flat() };
    },
  },
];

const bulk: readonly WritePath[] = [
  {
    row: 'bulk',
    name: '`values([...])`, 1,000 rows',
    run: async (shop) => ({ rows: 1_000, ids: await inserted(shop, some(1_000)) }),
  },
  {
    row: 'bulk',
    name: '`values([...])`, some with their IDs',
    run: async (shop) => {
      const id = shop.form.of(String(shop.ids.nextId()));
      return { rows: 3, ids: await inserted(shop, [...some(1), { id, number: fresh() }, ...some(1)]) };
    },
  },
];

const upserts: readonly WritePath[] = [
  {
    row: 'upsert',
    name: '`onConflictDoUpdate()`, `onDuplicateKeyUpdate()` of a new row',
    run: async (shop) => {
      await upsert(shop, { number: fresh() });
      return { rows: 1 };
    },
  },
  {
    row: 'upsert',
    name: 'an upsert of an existing row, which keeps its ID',
    run: async (shop) => {
      const [values] = some(1) as [Values];
      const ids = await inserted(shop, [values]);
      await upsert(shop, values);
      const { orders } = shop.schema;
      assert.deepEqual(idsOf(await shop.db.select().from(orders).where(eq(orders.number, values.number))), ids);
      return { rows: 1, ids };
    },
  },
  {
    row: 'upsert, returning',
    name: 'an upsert with `returning()`, `$returningId()`',
    wrongBy: 'drizzle#3912',
    run: async (shop) => {
      const values = { number: fresh(), customer: 'Ada' };
      await inserted(shop, [values]);
      const again = upsert(shop, values) as unknown as MysqlInsert & { returning(): Promise<{ id: unknown }[]> };
      return { rows: 1, ids: idsOf(await (isMysql(shop) ? again.$returningId() : again.returning())) };
    },
  },
  {
    row: 'upsert of a changed row, returning',
    name: 'the same, where the row is changed',
    wrongBy: 'throws after it has written, drizzle#3912',
    run: async (shop) => {
      const values = { number: fresh(), customer: 'Grace' };
      await inserted(shop, [values]);
      const again = upsert(shop, values) as unknown as MysqlInsert & { returning(): Promise<{ id: unknown }[]> };
      const returned = isMysql(shop) ? await again.$returningId().catch(() => []) : await again.returning();
      return { rows: 1, ids: idsOf(returned) };
    },
  },
  {
    row: 'ignored row, returning',
    name: '`onConflictDoNothing()`, `ignore()` of two rows, of which one exists, with `returning()`, `$returningId()`',
    wrongBy: 'drizzle#3912',
    run: async (shop) => {
      const [existing, other] = some(2) as [Values, Values];
      const ids = await inserted(shop, [existing]);
      const into = shop.db.insert(shop.schema.orders);
      const returned = isMysql(shop)
        ? await (into as unknown as MysqlInsert).ignore().values([existing, other]).$returningId()
        : await into
            .values([existing, other] as never)
            .onConflictDoNothing()
            .returning();
      return { rows: 2, ids: [...ids, ...idsOf(returned)] };
    },
  },
  {
    row: 'upsert of the key',
    name: 'an upsert that sets the key to the new ID',
    run: async (shop) => {
      const [values] = some(1) as [Values];
      const ids = await inserted(shop, [values]);
      const set = { id: isMysql(shop) ? sql`values(id)` : sql`excluded.id` } as never;
      if (isMysql(shop)) await mysqlInsert(shop, values).onDuplicateKeyUpdate({ set });
      else await insert(shop, values).onConflictDoUpdate({ target: shop.schema.orders.number, set });
      return { rows: 1, ids };
    },
  },
  {
    row: 'upsert',
    name: '`onConflictDoNothing()`, `ignore()`',
    run: async (shop) => {
      const [values] = some(1) as [Values];
      const { orders } = shop.schema;
      const into = shop.db.insert(orders);
      for (let time = 0; time < 2; time++) {
        if (isMysql(shop)) await (into as unknown as MysqlInsert).ignore().values(values);
        else await into.values(values as never).onConflictDoNothing();
      }
      return { rows: 1 };
    },
  },
];

const statements: readonly WritePath[] = [
  {
    row: 'transaction',
    name: 'a transaction',
    run: async (shop) => {
      await transact(shop, (over) => [insert(shop, { number: fresh() }, over), insert(shop, some(2), over)]);
      return { rows: 3 };
    },
  },
  {
    row: 'transaction',
    name: 'a transaction that is rolled back',
    run: async (shop) => {
      const failing = transact(shop, (over) => [insert(shop, some(2), over)], true);
      await assert.rejects(failing, /rolled back/);
      return { rows: 0 };
    },
  },
  {
    row: 'after a CTE',
    name: '`with().insert()`',
    on: ['postgres', 'sqlite'],
    run: async (shop) => {
      const { db, schema } = shop;
      const counted = db.$with('counted').as(db.select({ all: sql`count(*)`.as('all') }).from(schema.orders));
      const customer = sql<string>`(select ${sql.identifier('all')} from counted)`;
      return { rows: 1, ids: idsOf(await insert(shop, { number: fresh(), customer }, db.with(counted)).returning()) };
    },
  },
  {
    row: 'nested',
    name: 'an insert in a CTE, `$with().as(insert)`',
    on: ['postgres'],
    run: async (shop) => {
      const made = shop.db.$with('made').as(insert(shop, some(2)).returning());
      return { rows: 2, ids: idsOf(await shop.db.with(made).select().from(made)) };
    },
  },
  {
    row: 'prepared, executed once',
    name: '`prepare()`, executed once',
    run: async (shop) => {
      await prepared(shop, { number: sql.placeholder('number') }).execute({ number: fresh() });
      return { rows: 1 };
    },
  },
  {
    row: 'prepared, executed once',
    name: 'three prepared before one is executed, some with their IDs, in another order',
    run: async (shop) => {
      const id = shop.form.of(String(shop.ids.nextId()));
      const statements = [some(2), [...some(1), { id, number: fresh() }], some(1)].map((values) =>
        isMysql(shop)
          ? mysqlInsert(shop, values).$returningId().prepare()
          : insert(shop, values).returning().prepare(`built_${fresh()}`),
      );
      mysqlInsert(shop, some(2)).prepare();
      const ids: unknown[] = [];
      for (const each of [statements[1]!, statements[2]!, statements[0]!]) ids.push(...idsOf(await each.execute({})));
      return { rows: 5, ids };
    },
  },
  {
    row: 'prepared',
    name: '`prepare()`, executed again after it failed',
    run: async (shop) => {
      const existing = fresh();
      await insert(shop, { number: existing });
      const statement = prepared(shop, { number: sql.placeholder('number') });
      await assert.rejects(async () => await statement.execute({ number: existing }));
      await statement.execute({ number: fresh() });
      return { rows: 2 };
    },
  },
  {
    row: 'fixed by getSQL()',
    name: '`getSQL()`, executed twice',
    run: async (shop) => {
      const number = sql`cast((select count(*) from ${shop.schema.orders}) as char(20))`;
      const fixed = (insert(shop, { number }) as unknown as SQLWrapper).getSQL();
      for (let time = 0; time < 2; time++) await execute(shop, fixed);
      return { rows: 2 };
    },
  },
  {
    row: 'prepared',
    name: '`prepare()`, executed twice',
    run: async (shop) => {
      const statement = prepared(shop, { number: sql.placeholder('number') });
      await statement.execute({ number: fresh() });
      await statement.execute({ number: fresh() });
      return { rows: 2 };
    },
  },
  {
    row: 'prepared',
    name: '`prepare()`, executed 50 times at once',
    run: async (shop) => {
      const statement = prepared(shop, { number: sql.placeholder('number') });
      await Promise.all(some(50).map((values) => statement.execute(values)));
      return { rows: 50 };
    },
  },
  {
    row: 'prepared',
    name: '`prepare()` of an upsert, executed twice',
    run: async (shop) => {
      const builder = upsert(shop, { number: sql.placeholder('number') as never }) as unknown as MysqlInsert;
      const statement = (builder.prepare as (name: string) => ReturnType<MysqlInsert['prepare']>)(`upsert_${fresh()}`);
      await statement.execute({ number: fresh() });
      await statement.execute({ number: fresh() });
      return { rows: 2 };
    },
  },
  {
    row: 'prepared, executed once',
    name: '`prepare()` with `returning()`, `$returningId()`',
    run: async (shop) => {
      const values = { number: sql.placeholder('number') as never };
      const statement = isMysql(shop)
        ? mysqlInsert(shop, values).$returningId().prepare()
        : insert(shop, values).returning().prepare(`returning_${fresh()}`);
      return { rows: 1, ids: idsOf(await statement.execute({ number: fresh() })) };
    },
  },
  {
    row: 'prepared, with the key',
    name: '`prepare()` with `id: sql.placeholder()`, executed twice',
    run: async (shop) => {
      const statement = prepared(shop, { id: sql.placeholder('id'), number: sql.placeholder('number') });
      const ids = [shop.ids.nextId(), shop.ids.nextId()].map((id) => shop.form.of(String(id)));
      for (const id of ids) await statement.execute({ id, number: fresh() });
      return { rows: 2 };
    },
  },
  {
    row: 'from select, with the key',
    name: '`insert().select()` with an ID in the query',
    run: async (shop) => {
      const { orders } = shop.schema;
      const [values] = some(1) as [Values];
      const id = shop.ids.nextString();
      const source = shop.db
        .select({ id: sql`${id}`.as('id'), number: sql`${values.number}`.as('number'), customer: orders.customer })
        .from(orders)
        .limit(1);
      await shop.db.insert(orders).select(source as never);
      return { rows: 1 };
    },
  },
  {
    row: 'from select',
    name: '`insert().select()` without',
    run: async (shop) => {
      const { orders } = shop.schema;
      const [values] = some(1) as [Values];
      const source = shop.db
        .select({ number: sql`${values.number}`.as('number'), customer: orders.customer })
        .from(orders)
        .limit(1);
      await shop.db.insert(orders).select(source as never);
      return { rows: 1 };
    },
  },
  {
    row: 'from select',
    name: '`insert(orders, "number").select()` of raw SQL without',
    on: release === '1.0' ? undefined : [],
    run: async ({ db, schema }) => {
      const into = (
        db as unknown as {
          insert(table: unknown, ...columns: string[]): { select(query: SQLWrapper): Promise<unknown> };
        }
      ).insert(schema.orders, 'number');
      await into.select(sql`select ${fresh()}`);
      return { rows: 1 };
    },
  },
  {
    row: 'raw, with the key',
    name: 'raw SQL with an ID from the service',
    run: async (shop) => {
      const id = shop.ids.nextString();
      await execute(shop, sql`insert into ${shop.schema.orders} (id, number) values (${id}, ${fresh()})`);
      return { rows: 1 };
    },
  },
  {
    row: 'raw',
    name: 'raw SQL without',
    run: async (shop) => {
      await execute(shop, sql`insert into ${shop.schema.orders} (number) values (${fresh()})`);
      return { rows: 1 };
    },
  },
  {
    row: 'toSQL() by the driver',
    name: '`toSQL()`, executed by the driver',
    run: async (shop) => {
      const { sql: statement, params } = insert(shop, { number: fresh() }).toSQL();
      await shop.drive(statement, params);
      return { rows: 1 };
    },
  },
  {
    row: 'by a proxy driver',
    name: '`pg-proxy`, `mysql-proxy`, `sqlite-proxy`, over JSON',
    run: async (shop) => {
      const send = async (statement: string, parameters: unknown[]): Promise<{ rows: unknown[] }> => {
        const result = await shop.drive(statement, JSON.parse(JSON.stringify(parameters)) as unknown[]);
        return { rows: isMysql(shop) ? (result as unknown[]) : [] };
      };
      const makeRemote = { postgres: pgProxy, mariadb: mysqlProxy, mysql: mysqlProxy, sqlite: remoteSqlite }[shop.kind];
      await insert(shop, some(2), (makeRemote as unknown as (send: unknown) => Db)(send));
      return { rows: 2 };
    },
  },
  {
    row: 'batch',
    name: '`batch()`',
    on: ['sqlite'],
    run: async (shop) => {
      const file = new Sqlite(shop.database.options.database);
      type Query = { sql: string; params: unknown[] };
      const send = (queries: Query[]): Promise<{ rows: unknown[] }[]> => {
        // As over HTTP.
        const received = JSON.parse(JSON.stringify(queries)) as Query[];
        return Promise.resolve(received.map((query) => ({ rows: [file.prepare(query.sql).run(...query.params)] })));
      };
      const remote = remoteSqlite(() => Promise.resolve({ rows: [] }), send);
      try {
        await remote.batch([remote.insert(shop.schema.orders as never).values({ number: fresh() } as never)]);
      } finally {
        file.close();
      }
      return { rows: 1 };
    },
  },
];

export function writePaths(): readonly WritePath[] {
  return [...single, ...bulk, ...upserts, ...statements];
}
