/** Which settings the look before the first query finds, and which it leaves alone. Prints what each came to. */
import { openIdService } from '@raindrop/node';
import { checkPrecision, RoundedIdsError, withSnowflakes } from '@raindrop/orm/kysely';
import Sqlite from 'better-sqlite3';
import type * as kysely from 'kysely';
import mysql from 'mysql2';
import pg from 'pg';
import {
  database,
  dbConfig,
  Kysely,
  MysqlDialect,
  plainDialect,
  PostgresDialect,
  type Shop,
  sql,
  SqliteDialect,
  type,
} from './shop.js';

const ids = await openIdService({ dbConfig });
const results: Record<string, unknown> = {};
const columns = { columns: { orders: ['id'], missing: ['id'] } };
const { host, port, username: user, password, database: name } = database;
const address = { host, port, user, password, database: name };
let count = 0;

const seen = (error: unknown): unknown => {
  if (!(error instanceof RoundedIdsError)) {
    const { errorCode, code } = error as { errorCode?: string; code?: string };
    return errorCode ?? code ?? String(error);
  }
  const { errorCode, column, path, sent, received, cure } = error;
  return { errorCode, column, path, sent, received, cure };
};

async function using<T>(
  dialect: kysely.Dialect,
  work: (db: kysely.Kysely<Shop>) => Promise<T>,
  given: object = { ids },
): Promise<unknown> {
  const db = new Kysely<Shop>({ dialect: withSnowflakes(dialect, { ...columns, ...given }) });
  try {
    return await work(db);
  } catch (error) {
    return seen(error);
  } finally {
    await db.destroy();
  }
}

const look = async (db: kysely.Kysely<Shop>): Promise<unknown> => {
  const { exact, warnings } = await checkPrecision(db);
  return warnings.length === 0 ? exact : { exact, warnings };
};
const insert = async (db: kysely.Kysely<Shop>): Promise<unknown> => {
  const { id } = await db
    .insertInto('orders')
    .values({ title: `p${++count}` })
    .executeTakeFirstOrThrow()
    .then(({ insertId }) => ({ id: insertId }));
  return id === undefined ? 'inserted' : 'inserted, with its ID';
};

/** A dialect whose driver rounds. */
const rounding = (): kysely.Dialect => plainDialect(type === 'postgres' ? 'number' : undefined);
const plain = new Kysely<Shop>({ dialect: plainDialect('text') });
const created = async (key: string, table = 'orders'): Promise<void> => {
  await sql`drop table if exists ${sql.table(table)}`.execute(plain);
  await sql`create table ${sql.table(table)} (id ${sql.raw(key)} not null primary key, title varchar(50))`.execute(
    plain,
  );
};

await sql`drop table if exists missing`.execute(plain);
await created('bigint');
results['exact'] = await using(plainDialect(type === 'better-sqlite3' ? 'bigint' : 'text'), look);
results['bigint'] = await using(plainDialect('bigint'), look);
results['rounding'] = await using(rounding(), look);
results['rounding, first query and the next'] = await using(rounding(), async (db) => [
  await insert(db).catch((error: unknown) => (error as RoundedIdsError).errorCode),
  await insert(db).catch((error: unknown) => (error as RoundedIdsError).errorCode),
  await db
    .transaction()
    .execute(insert)
    .catch((error: unknown) => (error as RoundedIdsError).errorCode),
]);
const { rows } = await sql<{ n: unknown }>`select count(*) as n from orders`.execute(plain);
results['rows of it'] = Number(rows[0]!.n);
results['exact, first query and the next'] = await using(
  plainDialect(type === 'better-sqlite3' ? 'bigint' : 'text'),
  async (db) => [await insert(db), await db.transaction().execute(insert)],
);
results['many at once'] = await using(rounding(), async (db) => {
  const all = await Promise.allSettled(Array.from({ length: 5 }, () => insert(db)));
  return [
    ...new Set(
      all.map((each) => (each.status === 'rejected' ? (each.reason as RoundedIdsError).errorCode : each.status)),
    ),
  ];
});

const small = { ids: { nextId: () => 1n, nextString: () => '1', layout: { bits: 53 } } };
results['rounding, IDs that numbers hold'] = await using(rounding(), look, small);
results['rounding, keys of text'] = await (async () => {
  await created('varchar(30)');
  return using(rounding(), async (db) => [await look(db), await insert(db)]);
})();
const codeOfInsert = (db: kysely.Kysely<Shop>): Promise<unknown> =>
  insert(db).catch((error: unknown) => (seen(error) as Partial<RoundedIdsError>).errorCode ?? seen(error));
results['rounding, tables that migrations make and change'] = await (async () => {
  await sql`drop table orders`.execute(plain);
  return using(rounding(), async (db) => {
    await db.schema
      .createTable('orders')
      .addColumn('id', 'bigint', (column) => column.primaryKey())
      .addColumn('title', 'varchar(50)')
      .execute();
    const first = await codeOfInsert(db);
    await created('bigint', 'missing');
    await created('varchar(30)');
    const second = await codeOfInsert(db);
    await created('bigint');
    return [
      first,
      second,
      await db
        .selectFrom('missing' as 'orders')
        .select('id')
        .execute()
        .catch((error: unknown) => (error as RoundedIdsError).errorCode),
    ];
  });
})();
results['a service that is opened later'] = await using(
  rounding(),
  async (db) => {
    await db.selectFrom('orders').select('title').execute();
    const later = await openIdService({ dbConfig, name: 'later' });
    try {
      return await insert(db).catch((error: unknown) => (error as RoundedIdsError).errorCode);
    } finally {
      await later.close();
    }
  },
  { service: 'later' },
);
results['rounding, in a join and a subquery'] = await using(rounding(), async (db) => {
  const joined = db
    .selectFrom('customers as c' as 'orders')
    .innerJoin('orders', 'orders.id', 'orders.id')
    .select('title');
  const inner = db.selectFrom((build) => build.selectFrom('orders').select('title').as('inner_orders')).selectAll();
  return [
    await joined.execute().catch((error: unknown) => (error as RoundedIdsError).errorCode),
    await inner.execute().catch((error: unknown) => (error as RoundedIdsError).errorCode),
  ];
});
results['no service'] = await using(rounding(), look, { service: 'never' });
results['another dialect'] = await checkPrecision(plain).catch(seen);

/** A database that is down is met as without us. */
const nowhere = (): kysely.Dialect => {
  if (type === 'postgres') return new PostgresDialect({ pool: new pg.Pool({ ...address, port: 1 }) });
  if (type === 'mariadb') return new MysqlDialect({ pool: mysql.createPool({ ...address, port: 1 }) });
  return new SqliteDialect({ database: () => Promise.resolve().then(() => new Sqlite('/nowhere/shop.sqlite')) });
};
const bare = new Kysely<Shop>({ dialect: nowhere() });
results['a database that is down'] =
  (await using(nowhere(), insert)) === seen(await insert(bare).catch((error: unknown) => error));

if (type === 'mariadb') {
  const cast = (field: mysql.TypeCastField, next: mysql.TypeCastNext): unknown =>
    field.type === 'LONGLONG' ? Number(field.string()) : next();
  const pool = mysql.createPool({ ...address, supportBigNumbers: true, typeCast: cast });
  results['typeCast'] = await using(new MysqlDialect({ pool }), look);
}
if (type === 'postgres') {
  const sent: string[] = [];
  /** A pool that shows what it sends, and sends other SQL in place of a look: by the number of the look, from 1. */
  const showing = (inPlaceOf: (look: number) => string | undefined = () => undefined): kysely.Dialect => {
    let looks = 0;
    sent.length = 0;
    const pool = new pg.Pool(address);
    pool.on('error', () => {});
    pool.on('connect', (client) => {
      client.on('error', () => {});
      const query = client.query.bind(client) as (...args: unknown[]) => unknown;
      client.query = ((text: unknown, ...rest: unknown[]) => {
        const replaced = String(text).endsWith('as raindrop') ? inPlaceOf(++looks) : undefined;
        sent.push(replaced ?? String(text));
        return query(replaced ?? text, ...rest);
      }) as never;
    });
    return new PostgresDialect({ pool });
  };
  const looked = (): number => sent.filter((each) => each.endsWith('as raindrop')).length;

  results['statements'] = await using(showing(), async (db) => {
    for (let each = 0; each < 3; each++) await insert(db);
    return [sent.length, looked()];
  });
  results['many at once, on connections of their own'] = await using(showing(), async (db) => {
    const all = await Promise.all(Array.from({ length: 20 }, () => insert(db)));
    await insert(db);
    return [new Set(all).size, looked() > 0 && looked() <= 10];
  });
  results['a look that the server refuses, before transactions'] = await using(
    showing(() => 'select 1 / 0'),
    async (db) => {
      const all = new Set<unknown>();
      for (let each = 0; each < 12; each++) all.add(await db.transaction().execute(codeOfInsert));
      const words = sent.slice(0, 4).map((each) => each.split(' ', 1)[0]);
      return [[...all], words, sent.filter((each) => each === 'select 1 / 0').length];
    },
  );
  results['a look that hangs, beside another query'] = await using(
    showing((look) => (look === 1 ? 'select pg_sleep(600)' : undefined)),
    async (db) => {
      const first = codeOfInsert(db);
      const sleeping = sql`from pg_stat_activity where query = 'select pg_sleep(600)' and datname = current_database()`;
      const until = performance.now() + 30_000;
      for (let seen = 0; seen === 0 && performance.now() < until;) {
        seen = (await sql`select pid ${sleeping}`.execute(plain)).rows.length;
      }
      const second = await codeOfInsert(db);
      await sql`select pg_cancel_backend(pid) ${sleeping}`.execute(plain);
      return [await first, second];
    },
  );
  results['a connection that dies during the look'] = await using(
    showing((look) => (look === 1 ? 'select pg_terminate_backend(pg_backend_pid())' : undefined)),
    async (db) => [
      await insert(db).catch(() => 'fails as without a look'),
      await codeOfInsert(db),
      await codeOfInsert(db),
      looked(),
    ],
  );
}
const { fill } = JSON.parse(process.argv[2]!) as { readonly fill: readonly string[] };
for (const statement of fill) await sql.raw(statement).execute(plain);
results['a key that the database fills'] = await using(plainDialect('bigint'), async (db) => {
  const told: string[] = [];
  const note = (warning: Error): void => void (warning.name === 'RaindropWarning' && told.push(warning.message));
  process.on('warning', note);
  await db.selectFrom('orders').selectAll().execute();
  await db.selectFrom('orders').selectAll().execute();
  // Node tells of a warning in the next tick.
  await new Promise(setImmediate);
  process.off('warning', note);
  return [told, (await checkPrecision(db)).warnings.filter((each) => each.includes('fills'))];
});
await plain.destroy();
await ids.close();
console.log(JSON.stringify(results));
process.exit();
