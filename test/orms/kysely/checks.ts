/** What the dialect does beside filling keys, and controls that go without it. Prints what each of them came to. */
import { openIdService } from '@raindrop/node';
import { checkPrecision, withSnowflakes } from '@raindrop/orm/kysely';
import Sqlite from 'better-sqlite3';
import type * as kysely from 'kysely';
import mysql from 'mysql2/promise';
import pg from 'pg';
import {
  CamelCasePlugin,
  closeAll,
  countedIds,
  database,
  dbConfig,
  jsonArrayFrom,
  type Key,
  kyselyOn,
  openShop,
  outcome,
  ParseJSONResultsPlugin,
  plainDialect,
  type Shop,
  sql,
  title,
  type,
} from './shop.js';

const { db, issued, close } = await openShop('text');
const orders = { columns: { orders: ['id'] } };

/** Of an order with that title: whether its key is one of ours. */
async function keyOf(name: string): Promise<string> {
  const row = await db.selectFrom('orders').select('id').where('title', '=', name).executeTakeFirst();
  return row === undefined ? 'no row' : issued.has(String(row.id)) ? 'filled' : 'foreign';
}

async function filled(insert: (name: string) => Promise<unknown>): Promise<unknown> {
  const name = title();
  return outcome(async () => {
    await insert(name);
    return keyOf(name);
  });
}

/** A plugin runs when a query is compiled, which is once. */
const plugin: kysely.KyselyPlugin = {
  transformQuery: ({ node }) => {
    if (node.kind !== 'InsertQueryNode') return node;
    const insert = node as unknown as { columns: kysely.OperationNode[]; values: { values: { values: unknown[] }[] } };
    const id = { kind: 'ColumnNode', column: { kind: 'IdentifierNode', name: 'id' } };
    const key = String(pluginIds.nextId());
    const values = insert.values.values.map((row) => ({ ...row, values: [...row.values, key] }));
    return { ...node, columns: [...insert.columns, id], values: { ...insert.values, values } } as never;
  },
  transformResult: ({ result }) => Promise.resolve(result),
};
const pluginIds = countedIds();

/** Runs a query of which every title is another one, so that only keys can be the same. */
async function twice(shop: kysely.Kysely<Shop>): Promise<unknown> {
  const compiled = shop.insertInto('orders').values({ title: 'the title' }).compile();
  return outcome(async () => {
    for (let run = 0; run < 2; run++) {
      const parameters = compiled.parameters.map((each) => (each === 'the title' ? title() : each));
      await shop.executeQuery({ ...compiled, parameters });
    }
    return 'two rows';
  });
}

const schema = { mariadb: database.database, postgres: 'public', 'better-sqlite3': 'main' }[type];

interface Account {
  tenant_id: string;
  id: string;
  uses: number;
}

interface Accounts {
  accounts: { tenant_id: kysely.Generated<string>; id: kysely.Generated<string>; uses: number };
  entries: { id: kysely.Generated<string>; tenant_id: string; account_id: string };
}

type Condition = (eb: kysely.ExpressionBuilder<Accounts, 'accounts'>) => kysely.Expression<kysely.SqlBool>;

async function openAccounts(): Promise<kysely.Kysely<Accounts>> {
  const id = sql.raw(
    type === 'mariadb' ? 'varchar(40) character set ascii collate ascii_bin not null' : 'text not null',
  );
  await sql`drop table if exists entries`.execute(db);
  await sql`drop table if exists accounts`.execute(db);
  await sql`create table accounts (tenant_id ${id}, id ${id}, uses integer not null, primary key (tenant_id, id))`.execute(
    db,
  );
  await sql`create table entries (id ${id} primary key, tenant_id ${id}, account_id ${id},
    foreign key (tenant_id, account_id) references accounts (tenant_id, id))`.execute(db);
  const accounts = { tenant_id: { prefix: 'tenant' }, id: { prefix: 'account' } };
  const columns = { accounts, entries: { id: { prefix: 'entry' } } };
  return kyselyOn<Accounts>({
    dialect: withSnowflakes(plainDialect('text'), { ids: countedIds(), columns }),
    plugins: type === 'postgres' ? [] : [new ParseJSONResultsPlugin()],
  });
}

interface Lines {
  orderLines: { id: kysely.Generated<Key>; lineNumber: number; publicId: kysely.Generated<string> };
}

const checks: Readonly<Record<string, () => Promise<unknown>>> = {
  'control: without the dialect': () =>
    outcome(() =>
      kyselyOn({ dialect: plainDialect('text') })
        .insertInto('orders')
        .values({ title: title() })
        .execute(),
    ),
  'control: a plugin instead': () => twice(kyselyOn({ dialect: plainDialect('text'), plugins: [plugin] })),
  'compiled once, run twice': () => twice(db),
  withoutPlugins: () => filled((name) => db.withoutPlugins().insertInto('orders').values({ title: name }).execute()),
  withSchema: () => filled((name) => db.withSchema(schema).insertInto('orders').values({ title: name }).execute()),
  'another schema': () => {
    const dialect = withSnowflakes(plainDialect('text'), { ids: countedIds(), columns: { 'archive.orders': ['id'] } });
    return outcome(() => kyselyOn({ dialect }).insertInto('orders').values({ title: title() }).execute());
  },
  'names below CamelCasePlugin, two keys, options for each': async () => {
    const ascii = type === 'mariadb' ? sql`character set ascii collate ascii_bin` : sql``;
    await sql`drop table if exists order_lines`.execute(db);
    await sql`create table order_lines (id bigint not null primary key, line_number integer not null,
      public_id varchar(40) ${ascii} not null unique)`.execute(db);
    const ids = countedIds();
    const columns = { order_lines: { id: {}, public_id: { code: 'line', prefix: 'line' } } };
    const lines = kyselyOn<Lines>({
      dialect: withSnowflakes(plainDialect('bigint'), { ids, columns }),
      plugins: [new CamelCasePlugin()],
    });
    const { insertId } = await lines.insertInto('orderLines').values({ lineNumber: 1 }).executeTakeFirstOrThrow();
    await lines
      .insertInto('orderLines')
      .values([{ lineNumber: 2 }, { lineNumber: 3 }])
      .execute();
    const rows = await lines.selectFrom('orderLines').selectAll().orderBy('publicId').execute();
    return {
      insertId: String(insertId),
      codes: ids.codes,
      lines: rows.map(({ lineNumber }) => Number(lineNumber)),
      ids: rows.map(({ id }) => typeof id),
      publicIds: rows.every(({ publicId }) => /^line_[0-9A-Za-z]{11}$/.test(publicId)),
    };
  },
  'typed IDs in a composite key': async () => {
    const shop = await openAccounts();
    const rows = [{ uses: 1 }, { uses: 2 }];
    await shop.insertInto('accounts').values(rows).execute();
    const [one, two] = (await shop.selectFrom('accounts').selectAll().orderBy('uses').execute()) as [Account, Account];
    const entries = [one, one, two].map(({ tenant_id, id }) => ({ tenant_id, account_id: id }));
    await shop.insertInto('entries').values(entries).execute();
    const isOne: Condition = (eb) => eb(eb.refTuple('tenant_id', 'id'), '=', eb.tuple(one.tenant_id, one.id));
    const isEither: Condition = (eb) =>
      eb(
        eb.refTuple('tenant_id', 'id'),
        'in',
        [one, two].map((each) => eb.tuple(each.tenant_id, each.id)),
      );
    const found = async (where: Condition): Promise<number> =>
      (await shop.selectFrom('accounts').selectAll().where(where).execute()).length;
    // Kysely writes a cast to a type that MariaDB does not have.
    const nested = shop
      .selectFrom('accounts')
      .select((eb) => [
        'id',
        jsonArrayFrom(
          eb
            .selectFrom('entries')
            .select(['entries.id', 'entries.account_id'])
            .whereRef('entries.tenant_id', '=', 'accounts.tenant_id')
            .whereRef('entries.account_id', '=', 'accounts.id'),
        ).as('entries'),
      ])
      .orderBy('uses');
    const lists = type === 'mariadb' ? [] : await nested.execute();
    const joined = shop
      .selectFrom('entries')
      .innerJoin('accounts', (join) =>
        join.onRef('entries.tenant_id', '=', 'accounts.tenant_id').onRef('entries.account_id', '=', 'accounts.id'),
      );
    const updated = await shop.updateTable('accounts').set({ uses: 3 }).where(isOne).executeTakeFirstOrThrow();
    return {
      tuple: await found(isOne),
      'a list of tuples': await outcome(() => found(isEither)),
      jsonArrayFrom: lists.map((each) => each.entries.filter(({ account_id }) => account_id === each.id).length),
      join: (await joined.selectAll('accounts').where('accounts.id', '=', one.id).execute()).length,
      updated: Number(updated.numUpdatedRows),
    };
  },
  'typed IDs in a bigint column': async () => {
    await sql`drop table if exists parcels`.execute(db);
    const dialect = withSnowflakes(plainDialect('text'), {
      ids: countedIds(),
      columns: { parcels: ['id'] },
      prefix: 'parcel',
    });
    const parcels = kyselyOn<{ parcels: { id: kysely.Generated<string>; n: number } }>({ dialect });
    // The table is made by a migration, after the first connection.
    await sql`select 1`.execute(parcels);
    await sql`create table parcels (id bigint not null primary key, n integer)`.execute(parcels);
    return [
      await outcome(() => parcels.insertInto('parcels').values({ n: 1 }).execute()),
      await outcome(() => parcels.selectFrom('parcels').selectAll().execute()),
      await outcome(() => checkPrecision(parcels)),
    ];
  },
  'insertId of several rows, of an upsert, of one that did nothing': async () => {
    const one = title();
    const insert = db.insertInto('orders');
    const several = await insert.values([{ title: one }, { title: title() }]).executeTakeFirstOrThrow();
    const upsert = insert.values({ title: one });
    const upserted = await (
      type === 'mariadb'
        ? upsert.onDuplicateKeyUpdate({ customer_id: '1' })
        : upsert.onConflict((on) => on.column('title').doUpdateSet({ customer_id: '1' }))
    ).executeTakeFirstOrThrow();
    const ignored = await (
      type === 'mariadb' ? upsert.ignore() : upsert.onConflict((on) => on.doNothing())
    ).executeTakeFirstOrThrow();
    return [several, upserted, ignored].map(({ insertId }) => String(insertId));
  },
  'a compiled query run by another driver': () => {
    const { sql: text, parameters } = db.insertInto('orders').values({ title: title() }).compile();
    return outcome(async () => {
      const { host, port, username: user, password, database: name } = database;
      if (type === 'postgres') {
        const pool = new pg.Pool({ host, port, user, password, database: name });
        await pool.query(text, [...parameters]).finally(() => pool.end());
      } else if (type === 'mariadb') {
        const connection = await mysql.createConnection({ host, port, user, password, database: name });
        await connection.query(text, [...parameters]).finally(() => connection.end());
      } else new Sqlite(name).prepare(text).run(...parameters);
    });
  },
  'what a compiled query shows': () => {
    const { parameters } = db.insertInto('orders').values({ title: 'x' }).compile();
    return Promise.resolve(JSON.stringify(parameters));
  },
  'what a log shows': async () => {
    const logged: string[] = [];
    let last = 2n ** 57n;
    const given = { nextId: () => (last += 1n), nextString: () => String((last += 1n)) };
    const shop = kyselyOn({
      dialect: withSnowflakes(plainDialect('text'), { ids: given, ...orders }),
      log: ({ level, query }) => {
        if (/^insert/.test(query.sql)) logged.push(`${level} ${JSON.stringify(query.parameters)}`);
      },
    });
    const name = title();
    const compiled = shop.insertInto('orders').values({ title: name }).compile();
    await shop.executeQuery(compiled);
    const { id } = await db.selectFrom('orders').select('id').where('title', '=', name).executeTakeFirstOrThrow();
    const { insertId } = await shop.insertInto('orders').values({ title: title() }).executeTakeFirstOrThrow();
    await outcome(() =>
      shop
        .insertInto('orders')
        .values({ title: 'x', none: 1 } as never)
        .execute(),
    );
    return [
      logged[0] === `query ${JSON.stringify([name, String(id)])}`,
      logged[1]?.endsWith(`"${insertId}"]`),
      logged[2]?.replace(/\d{10,}/, 'an ID'),
      logged.length,
    ];
  },
  'a driver that rounds': async () => {
    const dialect = () => plainDialect(type === 'postgres' ? 'number' : undefined);
    const rows = (shop: kysely.Kysely<Shop>): Promise<unknown> =>
      outcome(async () => {
        const { id } = await shop
          .selectFrom('rounded' as never)
          .select('id' as never)
          .executeTakeFirstOrThrow();
        return Number.isSafeInteger(id) ? 'exact' : `a ${typeof id} that is rounded`;
      });
    await sql`drop table if exists rounded`.execute(db);
    await sql`create table rounded (id bigint not null primary key)`.execute(db);
    await sql`insert into rounded (id) values (9007199254740993)`.execute(db);
    const plain = kyselyOn({ dialect: dialect() });
    const ours = kyselyOn({ dialect: withSnowflakes(dialect(), { ids: countedIds(), columns: { rounded: ['id'] } }) });
    const streamed = await outcome(async () => {
      for await (const row of ours
        .selectFrom('rounded' as never)
        .selectAll()
        .stream())
        return typeof row;
      return 'no row';
    });
    return { plain: await rows(plain), ours: await rows(ours), streamed };
  },
  'no service': () => {
    const dialect = withSnowflakes(plainDialect('text'), { ...orders, service: 'shop' });
    return outcome(() => kyselyOn({ dialect }).insertInto('orders').values({ title: title() }).execute());
  },
  'a service that is opened later, then closed': async () => {
    const dialect = withSnowflakes(plainDialect('text'), { ...orders, service: 'later' });
    const shop = kyselyOn({ dialect });
    const insert = (): Promise<unknown> =>
      outcome(async () => (await shop.insertInto('orders').values({ title: title() }).execute()).length);
    const ids = await openIdService({ dbConfig, name: 'later' });
    const open = await insert();
    await ids.close();
    const given = kyselyOn({ dialect: withSnowflakes(plainDialect('text'), { ...orders, ids }) });
    const late = await outcome(() => given.insertInto('orders').values({ title: title() }).execute());
    return [open, await insert(), late];
  },
  'wrong options': () => {
    const messageOf = (options: unknown): string => {
      try {
        withSnowflakes(plainDialect('text'), options as never);
        return 'accepted';
      } catch (error) {
        return (error as Error).message.split('\n').slice(1).join('; ').trim();
      }
    };
    const wrong = [
      {},
      { columns: {} },
      { columns: { orders: [] } },
      { columns: { orders: 'id' } },
      { columns: { orders: { id: { as: 'text' } } } },
      { ...orders, prefx: 'order' },
    ];
    return Promise.resolve(wrong.map(messageOf));
  },
  'control: integer primary key of SQLite': async () => {
    if (type !== 'better-sqlite3') return '-';
    await sql`drop table if exists row_numbers`.execute(db);
    await sql`create table row_numbers (id integer primary key, title text)`.execute(db);
    await sql`insert into row_numbers (title) values ('raw')`.execute(db);
    const { rows } = await sql<{ id: number }>`select id from row_numbers`.execute(db);
    return rows[0]?.id;
  },
};

const results: Record<string, unknown> = {};
for (const [name, check] of Object.entries(checks)) results[name] = await check();
await closeAll();
await close();

const numbers = await openShop('number');
/** The layout has 8,192 IDs a second. */
results['more rows than a tick has IDs'] = await outcome(async () => {
  for (let insert = 0; insert < 2; insert++) {
    await numbers.db
      .insertInto('orders')
      .values(Array.from({ length: 10_000 }, () => ({ title: title() })))
      .execute();
  }
  const { rows } = await sql<{ n: number | string }>`select count(*) as n from orders`.execute(numbers.db);
  return Number(rows[0]!.n);
});
await numbers.close();
console.log(JSON.stringify(results));
