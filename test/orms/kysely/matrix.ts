/**
 * Every way of writing and reading keys through Kysely on one database, in each form of the key. Prints for each path
 * and form what became of it: `filled`, `exact`, `refused: CODE`, `wrong: WHY`, or `-` where the database's SQL lacks it.
 */
import type { Expression, RawBuilder } from 'kysely';
import {
  codeOf,
  type Form,
  given,
  jsonArrayFrom,
  type Key,
  openShop,
  type OpenShop,
  shown,
  sql,
  title,
  type,
  type Upsert,
} from './shop.js';

type Path = (shop: OpenShop, form: Form) => Promise<string | void>;

/** All keys of the orders, as the database itself writes them. */
async function keysIn({ db }: OpenShop): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`select ${textOf('id')} as ${sql.ref('key')} from orders`.execute(db);
  return rows.map(({ key }) => key);
}

/** Runs inserts of so many orders; 0: of some that have to be refused. */
function inserting(count: number, work: Path): Path {
  return async (shop, form) => {
    const before = new Set(await keysIn(shop));
    const answer = await work(shop, form);
    if (answer !== undefined) return answer;
    if (count === 0) return 'wrong: not refused';
    const added = (await keysIn(shop)).filter((key) => !before.has(key));
    if (added.length !== count) return `wrong: ${added.length} rows of ${count}`;
    const foreign = added.filter((key) => !shop.issued.has(key));
    return foreign.length === 0 ? 'filled' : `wrong: ${foreign[0]} is none of ours`;
  };
}

const WRITES: Readonly<Record<string, Path>> = {
  single: inserting(3, async ({ db }) => {
    await db.insertInto('orders').values({ title: title() }).execute();
    await db.insertInto('orders').values({ id: undefined, title: title() }).execute();
    await db
      .insertInto('orders')
      .values({ id: null as never, title: title() })
      .execute();
  }),
  bulk: inserting(4, async ({ db, issued }, form) => {
    const own = '4611686018427387904'.slice(0, form === 'number' ? 15 : undefined);
    (issued as Set<string>).add(own);
    await db
      .insertInto('orders')
      .values([
        { title: title() },
        { id: shown[form](own), title: title() },
        { title: title(), id: null as never },
        { id: undefined, title: title() },
      ])
      .execute();
  }),
  'default values': inserting(2, async ({ db }) => {
    await db.insertInto('orders').defaultValues().execute();
    await db.updateTable('orders').set({ title: title() }).where('title', '=', 'untitled').execute();
    await db.insertInto('orders').values({}).execute();
    await db.updateTable('orders').set({ title: title() }).where('title', '=', 'untitled').execute();
  }),
  insertId: async ({ db }, form) => {
    const name = title();
    const { insertId } = await db.insertInto('orders').values({ title: name }).executeTakeFirstOrThrow();
    const { id } = await db.selectFrom('orders').select('id').where('title', '=', name).executeTakeFirstOrThrow();
    return String(insertId) === String(id) && form !== undefined ? 'filled' : `wrong: ${insertId} for ${id}`;
  },
  returning: inserting(2, async ({ db }, form) => {
    if (type === 'mariadb') return '-'; // Kysely's dialect of MySQL answers with an InsertResult.
    const rows = await db
      .insertInto('orders')
      .values([{ title: title() }, { title: title() }])
      .returning('id')
      .execute();
    const wrong = rows.find(({ id }) => typeof id !== typeof shown[form]('1'));
    return wrong === undefined ? undefined : `wrong: a ${typeof wrong.id}`;
  }),
  upsert: inserting(1, async (shop) => {
    const row = { title: title() };
    const insert = shop.db.insertInto('orders');
    const upsert = (): Promise<unknown> =>
      type === 'mariadb'
        ? insert.values(row).onDuplicateKeyUpdate({ customer_id: null }).execute()
        : insert
            .values(row)
            .onConflict((conflict) => conflict.column('title').doUpdateSet({ customer_id: null }))
            .execute();
    const keyOf = async (): Promise<Key> =>
      (await shop.db.selectFrom('orders').select('id').where('title', '=', row.title).executeTakeFirstOrThrow()).id;
    await upsert();
    const first = await keyOf();
    await upsert();
    const second = await keyOf();
    return first === second ? undefined : `wrong: ${first} became ${second}`;
  }),
  'upsert of the key': inserting(0, async ({ db }) => {
    const row = { title: title() };
    const insert = db.insertInto('orders').values(row);
    await (type === 'mariadb'
      ? insert.onDuplicateKeyUpdate((eb) => ({ id: eb.fn<Key>('values', ['id']) })).execute()
      : insert.onConflict((c) => c.column('title').doUpdateSet((eb) => ({ id: eb.ref('excluded.id') }))).execute());
  }),
  nested: inserting(1, async ({ db }) => {
    if (type !== 'postgres') return '-';
    await db
      .with('added', (shop) => shop.insertInto('orders').values({ title: title() }).returning('id'))
      .selectFrom('added')
      .select('id')
      .execute();
    return;
  }),
  'in a sql template': inserting(1, async ({ db }) => {
    await sql`${db.insertInto('orders').values({ title: title() })}`.execute(db);
  }),
  prepared: inserting(3, async ({ db }) => {
    const query = db.insertInto('orders').values({ title: sql<string>`${PLACE}` });
    const compiled = query.compile();
    for (let run = 0; run < 3; run++) {
      const parameters = compiled.parameters.map((each) => (each === PLACE ? title() : each));
      await db.executeQuery({ ...compiled, parameters });
    }
  }),
  transaction: inserting(1, async ({ db }) => {
    await db.transaction().execute((own) => own.insertInto('orders').values({ title: title() }).execute());
  }),
  'from select': inserting(0, async ({ db }) => {
    await db
      .insertInto('orders')
      .columns(['title'])
      .expression(db.selectFrom('orders').select(sql<string>`concat('copy of ', title)`.as('title')))
      .execute();
  }),
  'from select, with the key': inserting(1, async ({ db, issued }, form) => {
    const own = '4611686018427387905'.slice(0, form === 'number' ? 16 : undefined);
    (issued as Set<string>).add(own);
    await db
      .insertInto('orders')
      .columns(['id', 'title'])
      .expression(
        db
          .selectFrom('orders')
          .select([sql<Key>`${sql.lit(own)}`.as('id'), sql<string>`${title()}`.as('title')])
          .limit(1),
      )
      .execute();
  }),
  merge: inserting(0, async ({ db }) => {
    await db
      .mergeInto('orders')
      .using('customers', 'customers.name', 'orders.title')
      .whenNotMatched()
      .thenInsertValues({ title: title() })
      .execute();
  }),
  replace: inserting(0, async ({ db }) => {
    await db.replaceInto('orders').values({ title: title() }).execute();
  }),
  raw: async (shop) => {
    const name = title();
    await sql`insert into orders (title) values (${name})`.execute(shop.db);
    const { rows } = await sql<{ key: string }>`select ${textOf('id')} as ${sql.ref('key')} from orders
      where title = ${name}`.execute(shop.db);
    const isByDatabase = given.databaseDefault === true && rows.length === 1 && !shop.issued.has(rows[0]!.key);
    return isByDatabase ? 'by the database' : 'wrong: not refused';
  },
};

/** Kysely's helper for MySQL casts to json, which MariaDB does not have. */
async function ordersAsJson<T>({ db }: OpenShop, customer: Key, id: RawBuilder<unknown>): Promise<T[]> {
  const orders = db
    .selectFrom('orders')
    .select(sql<T>`${id}`.as('id'))
    .where('customer_id', '=', sql<Key>`customers.id`)
    .orderBy('orders.id');
  const json: Expression<{ id: T }[]> =
    type === 'mariadb'
      ? sql`(select json_arrayagg(json_object('id', ${id}) order by orders.id) from orders
          where customer_id = customers.id)`
      : (jsonArrayFrom(orders) as RawBuilder<{ id: T }[]>);
  const rows = await db
    .selectFrom('customers')
    .select(sql<{ id: T }[]>`${json}`.as('orders'))
    .where('id', '=', customer)
    .execute();
  return rows[0]!.orders.map((order) => order.id);
}

function textOf(column: string): RawBuilder<string> {
  return type === 'mariadb' ? sql`cast(${sql.ref(column)} as char)` : sql`cast(${sql.ref(column)} as text)`;
}

const PLACE = { title: 'the place of a title' };

/** Reads the orders of one customer: their keys have to be those that the database has. */
function reading(read: (shop: OpenShop, customer: Key) => Promise<readonly unknown[] | '-'>): Path {
  return async (shop, form) => {
    const { db } = shop;
    const { insertId } = await db.insertInto('customers').values({ name: title() }).executeTakeFirstOrThrow();
    const customer = shown[form](String(insertId));
    for (let order = 0; order < 3; order++) {
      await db.insertInto('orders').values({ title: title(), customer_id: customer }).execute();
    }
    const { rows } = await sql<{ shown: string }>`select ${textOf('id')} as shown from orders
      where customer_id = ${customer} order by id`.execute(db);
    const expected = rows.map((row) => shown[form](row.shown));
    const found = await read(shop, customer);
    if (found === '-') return found;
    const rounded = found.some((id) => typeof id === 'number' && !Number.isSafeInteger(id));
    if (rounded) return 'wrong: JSON.parse rounds, kysely#1151';
    return found.length === 3 && found.every((id, index) => id === expected[index])
      ? 'exact'
      : `wrong: ${typeof found[0]} ${String(found[0])} for ${typeof expected[0]} ${String(expected[0])}`;
  };
}

const READS: Readonly<Record<string, Path>> = {
  find: reading(async ({ db }, customer) => {
    const orders = await db
      .selectFrom('orders')
      .selectAll()
      .where('customer_id', '=', customer)
      .orderBy('id')
      .execute();
    const again = orders.map(({ id }) => db.selectFrom('orders').select('id').where('id', '=', id).executeTakeFirst());
    return (await Promise.all(again)).map((order) => order?.id);
  }),
  relation: reading(async ({ db }, customer) => {
    const orders = await db
      .selectFrom('orders')
      .selectAll()
      .where('customer_id', '=', customer)
      .orderBy('id')
      .execute();
    return orders.every((order) => order.customer_id === customer) ? orders.map(({ id }) => id) : ['a foreign key'];
  }),
  join: reading(async ({ db }, customer) => {
    const rows = await db
      .selectFrom('customers')
      .innerJoin('orders', 'orders.customer_id', 'customers.id')
      .select(['orders.id as id', 'customers.id as customer'])
      .where('customers.id', '=', customer)
      .orderBy('orders.id')
      .execute();
    return rows.map((row) => (row.customer === customer ? row.id : 'another customer'));
  }),
  'JSON aggregate': reading(async (shop, customer) => ordersAsJson<Key>(shop, customer, sql.ref('orders.id'))),
  'JSON aggregate, key cast to text': reading(async (shop, customer) => {
    const ids = await ordersAsJson<string>(shop, customer, textOf('orders.id'));
    return ids.map((id) => shown[formNow](id));
  }),
  raw: reading(async ({ db }, customer) => {
    const { rows } = await sql<{ id: Key }>`select id from orders where customer_id = ${customer} order by id`.execute(
      db,
    );
    return rows.map(({ id }) => id);
  }),
  stream: reading(async ({ db }, customer) => {
    const ids: Key[] = [];
    for await (const { id } of db
      .selectFrom('orders')
      .select('id')
      .where('customer_id', '=', customer)
      .orderBy('id')
      .stream()) {
      ids.push(id);
    }
    return ids;
  }),
};

/** The statement of an upsert; undefined where the database's SQL lacks it. */
function upsertOf({ db }: OpenShop, upsert: Upsert, row: UpsertedRow, third: Key): Executed | undefined {
  const { statement, by, sets } = upsert;
  const key = by === 'id' ? 'id' : 'title';
  if (statement === 'merge') {
    if (type !== 'postgres') return undefined;
    const source = sql<UpsertedRow>`(values (${String(row.id)}::bigint, ${row.title}, ${row.customer_id}::bigint))`;
    return db
      .mergeInto('orders')
      .using(source.as<'given'>(sql`given(id, title, customer_id)`), `given.${key}`, `orders.${key}`)
      .whenMatched()
      .thenUpdateSet((eb) => ({ id: eb.ref('given.id'), customer_id: eb.ref('given.customer_id') }));
  }
  if (statement === 'replace') return type === 'postgres' ? undefined : db.replaceInto('orders').values(row);
  const id: unknown = {
    others: undefined,
    'new key': type === 'mariadb' ? sql<Key>`values(id)` : sql<Key>`${sql.ref('excluded.id')}`,
    value: row.id,
    'third value': third,
  }[sets];
  const set = { customer_id: row.customer_id, ...(id !== undefined && { id: id as Key }) };
  const into = db.insertInto('orders');
  const isBigint = type !== 'better-sqlite3' || formNow !== 'text';
  const source = sql<UpsertedRow>`select ${isBigint ? sql.lit(BigInt(row.id)) : sql.lit(String(row.id))}, ${row.title}
    from (select 1 as one) as one where 1 = 1`;
  const insert =
    statement === 'query'
      ? into.columns(['id', 'title']).expression(source)
      : into.values(statement === 'bulk' ? [{ title: title() }, row, { title: title() }] : row);
  return type === 'mariadb'
    ? insert.onDuplicateKeyUpdate(set)
    : insert.onConflict((conflict) => conflict.column(key).doUpdateSet(set));
}

interface UpsertedRow {
  readonly id: Key;
  readonly title: string;
  readonly customer_id: Key;
}

interface Executed {
  execute(): Promise<unknown>;
}

/** Upserts a row of which one is there with the same title: what became of the one that is there. */
async function upserted(shop: OpenShop, form: Form, upsert: Upsert): Promise<string> {
  const row = { title: title(), customer_id: shown[form]('7') };
  const newKey = (): Key => shown[form](shop.ids.nextString());
  const kept = newKey();
  await shop.db.insertInto('orders').values({ id: kept, title: row.title }).execute();
  const statement = upsertOf(shop, upsert, { ...row, id: upsert.key === 'same' ? kept : newKey() }, newKey());
  if (statement === undefined) return '-';
  const refusal = await statement.execute().then(() => undefined, codeOf);
  const found = await shop.db.selectFrom('orders').selectAll().where('title', '=', row.title).execute();
  if (found.length !== 1 || found[0]!.id !== kept) return `wrong: ${kept} became ${found.map(({ id }) => id).join()}`;
  if (found[0]!.customer_id !== (refusal === undefined ? row.customer_id : null)) return `wrong: another update`;
  return refusal === undefined ? 'kept' : `refused: ${refusal}`;
}

let formNow: Form = 'text';
const cells: Record<string, Record<string, string>> = {};
for (const form of ['text', 'bigint', 'number'] as const) {
  formNow = form;
  const shop = await openShop(form);
  try {
    for (const [kind, paths] of Object.entries({ write: WRITES, read: READS })) {
      for (const [name, path] of Object.entries(paths)) {
        const answer = await path(shop, form).catch((error: unknown) => `refused: ${codeOf(error)}`);
        (cells[`${kind} ${name}`] ??= {})[form] = answer ?? 'filled';
      }
    }
    for (const upsert of given.upserts)
      (cells[`write ${upsert.row}`] ??= {})[form] = await upserted(shop, form, upsert);
  } finally {
    await shop.close();
  }
}
console.log(JSON.stringify(cells));
