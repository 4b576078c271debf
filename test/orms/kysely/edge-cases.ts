/** Inserts and schedules that lie in wait for a wrong ID: prints what each of them came to. */
import { withSnowflakes, type KeyIds, type SnowflakeColumns } from '@raindrop/orm/kysely';
import type * as kysely from 'kysely';
import mysql from 'mysql2/promise';
import {
  closeAll,
  codeOf,
  countedIds,
  database,
  given,
  type Key,
  Kysely,
  kyselyOn,
  openShop,
  outcome,
  plainDialect,
  type Shop,
  sql,
  title,
  type,
} from './shop.js';

type Orders = kysely.Kysely<Shop>;
type Insert = kysely.InsertQueryBuilder<Shop, 'orders', kysely.InsertResult>;
type UpdateOf = (eb: kysely.ExpressionBuilder<never, never>) => unknown;

const { db, issued, close } = await openShop('text');
const counter = countedIds();
/** Of a layout whose IDs no driver rounds, so that the check of precision lets a rounding driver pass. */
const small: KeyIds = { ...counter, layout: { bits: 53 } };
const isMysql = type === 'mariadb';
const isSqlite = type === 'better-sqlite3';
const own = (() => {
  let last = 4611686018427387904n;
  return () => String(++last);
})();

async function idOf(name: string): Promise<string> {
  const rows = await db.selectFrom('orders').select('id').where('title', '=', name).execute();
  return rows.length === 0 ? 'no row' : String(rows[0]!.id);
}

async function keyOf(name: string): Promise<string> {
  const id = await idOf(name);
  return id === 'no row' ? id : issued.has(id) ? 'filled' : 'foreign';
}

/** A dialect of the application's own around the table of orders. */
function ordersOn(ids: KeyIds, options?: Partial<SnowflakeColumns>): Orders {
  return kyselyOn({
    dialect: withSnowflakes(plainDialect('text'), { ids, columns: { orders: ['id'] }, ...options }),
  });
}

async function tableOf(name: string, columns: string): Promise<kysely.Kysely<Record<string, Record<string, unknown>>>> {
  await sql`drop table if exists ${sql.table(name)}`.execute(db);
  await sql`create table ${sql.table(name)} (${sql.raw(columns)})`.execute(db);
  return db as never;
}

/** Inserts an order, then upserts it with this expression as its key: whether the order has kept its key. */
async function upserted(keyBy: UpdateOf): Promise<unknown> {
  const name = title();
  const insert = db.insertInto('orders').values({ title: name });
  await insert.execute();
  const before = await idOf(name);
  const set = (eb: unknown): never => ({ id: keyBy(eb as never) }) as never;
  const answer = await outcome(() =>
    isMysql
      ? insert.onDuplicateKeyUpdate(set).execute()
      : insert.onConflict((on) => on.column('title').doUpdateSet(set)).execute(),
  );
  return (await idOf(name)) !== before ? 'another key' : typeof answer === 'string' ? answer : 'kept';
}

const NEW_KEYS: Readonly<Record<string, UpdateOf>> = isMysql
  ? {
      function: (eb) => eb.fn('values', ['id' as never]),
      'upper case': (eb) => eb.fn('VALUES', ['id' as never]),
      sql: () => sql`values(id)`,
      'in a function': (eb) => eb.fn.coalesce(eb.fn('values', ['id' as never]), sql`id`),
      'in sql': (eb) => sql`if(true, ${eb.fn('values', ['id' as never])}, id)`,
    }
  : {
      reference: (eb) => eb.ref('excluded.id' as never),
      sql: () => sql`excluded.id`,
      'reference in sql': () => sql`${sql.ref('excluded.id')}`,
      'identifiers in sql': () => sql`${sql.id('excluded', 'id')}`,
      'in a function': (eb) => eb.fn.coalesce(eb.ref('excluded.id' as never), eb.ref('orders.id' as never)),
      'in a cast': (eb) => eb.cast(eb.ref('excluded.id' as never), isSqlite ? 'text' : 'bigint'),
      'in a case': (eb) =>
        eb
          .case()
          .when(sql<boolean>`1 = 1`)
          .then(eb.ref('excluded.id' as never))
          .else(eb.ref('orders.id' as never))
          .end(),
    };

const OWN_KEYS: Readonly<Record<string, UpdateOf>> = isMysql
  ? {
      last_insert_id: () => sql`last_insert_id(id)`,
      'in a function': (eb) => eb.fn('last_insert_id', ['id' as never]),
      reference: () => sql.ref('id'),
    }
  : {
      reference: (eb) => eb.ref('orders.id' as never),
      sql: () => sql`orders.id`,
      'quoted in sql': () => sql` "orders" . "id" `,
    };

async function eachUpserted(ways: Readonly<Record<string, UpdateOf>>): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const [name, way] of Object.entries(ways)) answers[name] = await upserted(way);
  return answers;
}

const insertIdOf = async (insert: { executeTakeFirstOrThrow(): Promise<{ insertId?: unknown }> }): Promise<string> =>
  String((await insert.executeTakeFirstOrThrow()).insertId);

/** Aborts an insert for whose ID the service makes it wait, and lets the ID come then. */
async function abortedWhileItWaits(isStream: boolean): Promise<unknown> {
  const usedUp = (): never => {
    throw Object.assign(new Error('used up'), { retryable: true });
  };
  let give!: (ids: bigint[]) => void;
  const shop = kyselyOn<Shop>({
    dialect: withSnowflakes(plainDialect('text'), {
      columns: { orders: ['id'] },
      ids: {
        nextId: usedUp,
        nextString: usedUp,
        nextIdsAsync: () => {
          const later = new Promise<bigint[]>((settle) => (give = settle));
          controller.abort(Object.assign(new Error('aborted'), { errorCode: 'ABORTED' }));
          return later;
        },
      },
    }),
  });
  const name = title();
  const controller = new AbortController();
  const insert = shop.insertInto('orders').values({ title: name });
  const answer = await outcome(async () => {
    if (!isStream) return insert.execute({ signal: controller.signal });
    for await (const row of insert.returning('id').stream({ signal: controller.signal })) return row;
    return 'no row';
  });
  give([BigInt(own())]);
  // One of them waits until the insert has given its connection back.
  await shop.selectFrom('orders').select('id').limit(1).execute();
  await shop.destroy();
  return [answer, await keyOf(name)];
}

async function bothTables(shop: Orders): Promise<unknown> {
  const name = title();
  return outcome(async () => {
    await shop.insertInto('orders').values({ title: name }).execute();
    await shop.insertInto('customers').values({ name }).execute();
    return 'filled';
  });
}

/** What a dialect does with a key that the driver has rounded. */
async function roundedBy(shop: Orders, table: string): Promise<unknown> {
  return outcome(async () => {
    const row = await shop
      .selectFrom(table as never)
      .selectAll()
      .executeTakeFirstOrThrow();
    return `read ${typeof Object.values(row)[0]}`;
  });
}

const cases: Readonly<Record<string, () => Promise<unknown>>> = {
  'an upsert that takes the new key': () => eachUpserted(NEW_KEYS),
  'an upsert that keeps the key': () => eachUpserted(OWN_KEYS),

  'insertId of a given row beside an ignored one': async () => {
    const name = title();
    const insert = db.insertInto('orders');
    await insert.values({ title: name }).execute();
    const both = insert.values([{ id: own(), title: title() }, { title: name }]);
    return insertIdOf(isMysql ? both.ignore() : both.onConflict((on) => on.doNothing()));
  },
  'insertId of an upsert in SQL': async () => {
    const insert: Insert = db.insertInto('orders').values({ title: title() });
    await insert.execute();
    const upsert = isMysql
      ? sql`on duplicate key update title = title`
      : sql`on conflict (title) do update set customer_id = 1`;
    return insertIdOf(insert.modifyEnd(upsert));
  },
  'insertId of a given row after a CTE that inserts': async () => {
    if (type !== 'postgres') return '-';
    const insert = db
      .with('added', (shop) => shop.insertInto('customers').values({ name: title() }).returning('id'))
      .insertInto('orders')
      .values({ id: own(), title: title() });
    return insertIdOf(insert);
  },
  'insertId where another key is ours': async () => {
    const made = isMysql ? 'bigint not null auto_increment' : isSqlite ? 'integer not null' : 'bigserial';
    await tableOf('parcels', `id ${made} primary key, number bigint unique, code varchar(40) unique`);
    const parcels = async (columns: SnowflakeColumns['columns'][string], row: object): Promise<string> => {
      const dialect = withSnowflakes(plainDialect('text'), { ids: small, columns: { parcels: columns } });
      const shop = kyselyOn<{ parcels: object }>({ dialect });
      return insertIdOf(shop.insertInto('parcels').values(row));
    };
    const [number, code] = [{}, { prefix: 'parcel' }];
    return {
      ours: (await parcels({ number }, {})).length > 9 ? 'our number' : "the database's own",
      'of two, one given': await parcels({ id: {}, number }, { id: 77 }),
      'a typed one': await parcels({ code }, {}),
    };
  },
  'several rows into a column that the database counts': async () => {
    if (!isMysql) return '-';
    await tableOf('counted', 'id bigint not null auto_increment primary key, n int');
    const dialect = withSnowflakes(plainDialect(), { ids: small, columns: { counted: ['id'] } });
    const counted = kyselyOn<{ counted: { n: number } }>({ dialect }).insertInto('counted');
    const one = await insertIdOf(counted.values({ n: 1 }));
    return [one.length, await insertIdOf(counted.values([{ n: 2 }, { n: 3 }]))];
  },

  'a dialect that is wrapped twice': async () => {
    await tableOf('rounded', 'id bigint not null primary key, other bigint');
    await sql`insert into rounded (id, other) values (1, 9007199254740993)`.execute(db);
    const twice = (dialect: kysely.Dialect): Orders => {
      const inner = withSnowflakes(dialect, { ids: small, columns: { orders: ['id'], rounded: ['id'] } });
      const columns = { orders: ['id'], customers: ['id'], rounded: ['other'] };
      return kyselyOn({ dialect: withSnowflakes(inner, { ids: small, columns }) });
    };
    const rounding = plainDialect(type === 'postgres' ? 'number' : undefined);
    return [await bothTables(twice(plainDialect('text'))), await roundedBy(twice(rounding), 'rounded')];
  },
  'two dialects that share a driver': async () => {
    const dialect = plainDialect(type === 'postgres' ? 'number' : undefined);
    const driver = dialect.createDriver();
    const shared: kysely.Dialect = {
      createDriver: () => driver,
      createAdapter: () => dialect.createAdapter(),
      createQueryCompiler: () => dialect.createQueryCompiler(),
      createIntrospector: (other) => dialect.createIntrospector(other),
    };
    const first = kyselyOn<Shop>({ dialect: withSnowflakes(shared, { ids: small, columns: { orders: ['id'] } }) });
    await first.insertInto('orders').values({ title: title() }).execute();
    const both = { orders: ['id'], customers: ['id'], rounded: ['other'] };
    const second = new Kysely<Shop>({ dialect: withSnowflakes(shared, { ids: small, columns: both }) });
    return [await bothTables(second), await roundedBy(second, 'rounded')];
  },

  'aborted while it waits for its ID': () =>
    given.release === '0.28' ? Promise.resolve('-') : abortedWhileItWaits(false),
  'a stream, aborted while it waits': () =>
    given.release === '0.28' || type !== 'postgres' ? Promise.resolve('-') : abortedWhileItWaits(true),

  'one compiled query, twenty times at once': async () => {
    const { parameters, ...compiled } = db.insertInto('orders').values({ title: 'T' }).compile();
    const names = Array.from({ length: 20 }, title);
    const runs = names.map((name) =>
      db.executeQuery({ ...compiled, parameters: parameters.map((each) => (each === 'T' ? name : each)) }),
    );
    await Promise.all(runs);
    return new Set(await Promise.all(names.map(idOf))).size;
  },
  'a compiled query, again after an error': async () => {
    const [name, taken] = [title(), own()];
    const shop = ordersOn({
      nextId: () => BigInt(taken),
      nextString: () => (issuedOnce ? counter.nextString() : taken),
    });
    let issuedOnce = false;
    await db.insertInto('orders').values({ id: taken, title: title() }).execute();
    const query = shop.insertInto('orders').values({ title: name }).compile();
    const first = await outcome(() => shop.executeQuery(query));
    issuedOnce = true;
    await shop.executeQuery(query);
    return [first, await keyOf(name)];
  },

  'a transaction that is rolled back, after a refusal': async () => {
    const name = title();
    const refused = await outcome(() =>
      db.transaction().execute(async (shop) => {
        await shop.insertInto('orders').values({ title: name }).execute();
        await shop.replaceInto('orders').values({ title: name }).execute();
      }),
    );
    return [refused, await keyOf(name)];
  },
  'savepoints of a controlled transaction': async () => {
    const [kept, gone, after] = [title(), title(), title()];
    const begun = await db.startTransaction().execute();
    await begun.insertInto('orders').values({ title: kept }).execute();
    const saved = await begun.savepoint('before').execute();
    await saved.insertInto('orders').values({ title: gone }).execute();
    const back = await saved.rollbackToSavepoint('before').execute();
    await back.insertInto('orders').values({ title: after }).execute();
    await begun.commit().execute();
    return Promise.all([kept, gone, after].map(keyOf));
  },
  'one connection': async () => {
    const names = [title(), title()];
    await db.connection().execute(async (shop) => {
      for (const name of names) await shop.insertInto('orders').values({ title: name }).execute();
    });
    return Promise.all(names.map(keyOf));
  },
  'an insert that is streamed': async () => {
    const name = title();
    const answer = await outcome(async () => {
      for await (const { id } of db.insertInto('orders').values({ title: name }).returning('id').stream()) {
        return id === (await idOf(name)) ? 'its ID' : 'another ID';
      }
      return 'no row';
    });
    return [String(answer).includes('only supports streaming') ? 'refused by Kysely' : answer, await keyOf(name)];
  },

  'numbers that cannot hold the ID': async () => {
    const name = title();
    const shop = ordersOn(counter, { as: 'number' });
    return [await outcome(() => shop.insertInto('orders').values({ title: name }).execute()), await keyOf(name)];
  },
  'default values of two keys': async () => {
    await tableOf('pairs', 'id bigint not null primary key, other bigint not null unique');
    const dialect = withSnowflakes(plainDialect('text'), { ids: small, columns: { pairs: ['id', 'other'] } });
    const shop = kyselyOn<{ pairs: { id: Key; other: Key } }>({ dialect });
    await shop.insertInto('pairs').defaultValues().execute();
    const { rows } = await sql<{ gap: unknown }>`select other - id as gap from pairs`.execute(db);
    return Number(rows[0]!.gap) === 3 ? 'filled' : rows;
  },
  'columns named after the values': async () => {
    const name = title();
    await db.insertInto('orders').values({ title: name }).columns(['title', 'id']).execute();
    return keyOf(name);
  },
  'rows of values in SQL': () =>
    outcome(() =>
      db
        .insertInto('orders')
        .columns(['title'])
        .expression(sql`values (${title()})`)
        .execute(),
    ),
  'rows of a union': () =>
    outcome(() => {
      const one = db.selectFrom('customers').select('name');
      return db.insertInto('orders').columns(['title']).expression(one.union(one)).execute();
    }),
  'a key in upper case': async () => {
    const name = title();
    const row = { ID: own(), title: name } as never;
    const answer = await outcome(() => insertIdOf(db.insertInto('orders').values(row)));
    return [issued.has(String(answer)) ? 'an ID of no row' : 'none of ours', await keyOf(name)];
  },
  'a MERGE': async () => {
    if (type !== 'postgres') return '-';
    await db.insertInto('customers').values({ name: title() }).execute();
    const merge = db.mergeInto('orders as o').using('customers as c', 'c.id', 'o.id');
    const update = await outcome(() => merge.whenMatched().thenUpdateSet({ title: 'merged' }).execute());
    const [unfilled, withNull] = [{ title: 'merged' }, { id: null as never, title: 'merged' }].map((row) =>
      outcome(() => merge.whenNotMatched().thenInsertValues(row).execute()),
    );
    const withKey = await outcome(() =>
      merge
        .whenNotMatched()
        .thenInsertValues((eb) => ({ id: eb.ref('c.id'), title: sql<string>`'merged ' || c.name` }))
        .execute(),
    );
    return [typeof update, await unfilled, await withNull, typeof withKey];
  },
  'a prepared statement of mysql2, into a text': async () => {
    if (!isMysql) return '-';
    await tableOf('texts', 'id varchar(60) not null primary key, n int');
    const dialect = withSnowflakes(plainDialect('text'), {
      ids: counter,
      columns: { texts: ['id'] },
      prefix: 'text',
    });
    const { sql: text, parameters } = kyselyOn<{ texts: { n: number } }>({ dialect })
      .insertInto('texts')
      .values({ n: 1 })
      .compile();
    const { host, port, username: user, password, database: name } = database;
    const connection = await mysql.createConnection({ host, port, user, password, database: name });
    const answer = await connection.execute(text, [...parameters] as never).then(() => 'written', codeOf);
    await connection.end();
    return answer === 'written' ? answer : 'refused';
  },
};

const results: Record<string, unknown> = {};
for (const [name, run] of Object.entries(cases)) {
  results[name] = await run().catch((error: unknown) => `failed: ${(error as Error).stack}`);
}
await closeAll();
await close();
console.log(JSON.stringify(results));
