/**
 * Every way of writing and reading keys through Prisma 8 on one database, in each form of the key. Prints for each path and
 * form what became of all ways that belong to it: `filled`, `exact`, `refused: CODE`, `wrong: WHY`, or `-` where there is no
 * such way.
 */
import { AssertionError, deepStrictEqual as same } from 'node:assert/strict';
import {
  codeOf,
  type Client,
  type Form,
  fresh,
  given as givenToSuite,
  isPostgres,
  type Key,
  modelsOf,
  openShop,
  type OpenShop,
  tablesOf,
  type Upsert,
} from './shop.js';

/** Returns the IDs of the new orders, where the way tells them. */
type Write = (shop: OpenShop) => Promise<readonly unknown[] | void>;
/** Returns the IDs of the orders of a customer. */
type Read = (shop: OpenShop, customer: bigint) => Promise<readonly unknown[]>;

const idsOf = (rows: readonly { readonly id: unknown }[]): unknown[] => rows.map(({ id }) => id);
type Tx = Pick<Client, 'sql'> & Pick<ReturnType<Client['runtime']>, 'query' | 'execute'>;
const session = (db: Client): Tx => ({
  sql: db.sql,
  query: (plan: never) => db.runtime().query(plan),
  execute: (plan: never) => db.runtime().execute(plan),
});

/** Compares what was given with what it was before, so that no path changes it. */
async function keeping<T extends object, R>(args: T, use: (args: T) => PromiseLike<R>): Promise<R> {
  const before = structuredClone(args);
  const result = await use(args);
  same(args, before);
  return result;
}

/** The IDs of the service, and only these, in the rows of a table. */
async function allOurs({ ids, stored }: OpenShop, ...tables: [table: string, column?: string][]): Promise<void> {
  for (const [table, column] of tables) {
    const found = await stored(table, column);
    same(found.length > 0, true);
    for (const digits of found) if (!ids.issued.has(digits)) throw new Error(`wrong: ${table} ${digits}`);
  }
}

/** Inserts by the SQL builder, and returns the IDs. */
async function inserted(tx: Tx, rows: number): Promise<readonly unknown[]> {
  const values = Array.from({ length: rows }, () => ({ number: fresh() }));
  return idsOf(
    await keeping(values, (each) => tx.query(tablesOf(tx).Order.insert(each).returning('id').build()).toArray()),
  );
}

/** The codec of a text, as raw SQL names the types of its columns. */
const TEXT = isPostgres ? 'pg/text@1' : 'sqlite/text@1';

async function insertRaw({ db }: OpenShop, id?: string): Promise<void> {
  const { raw } = db;
  const number = fresh();
  const statement =
    id === undefined
      ? raw.sql`insert into "Order" (number) values (${number}) returning number`
      : isPostgres
        ? raw.sql`insert into "Order" (id, number) values (cast(${id} as bigint), ${number}) returning number`
        : raw.sql`insert into "Order" (id, number) values (${id}, ${number}) returning number`;
  await db
    .runtime()
    .query(statement.returnsRow({ number: TEXT } as never).build())
    .toArray();
}

/** How many rows a path writes, orders mostly; 0 for one that has to be refused. Then the ways that belong to it. */
const WRITES: Readonly<Record<string, readonly [rows: number, ...ways: readonly Write[]]>> = {
  single: [
    1,
    async ({ db }) => void (await modelsOf(db).Order.select('number').create({ number: fresh() })),
    async ({ db }) => void (await modelsOf(db).Order.create({ id: undefined, number: fresh() })),
    async ({ db }) => same(await modelsOf(db).Order.createAndCount([{ number: fresh() }]), 1),
  ],
  returning: [
    1,
    async ({ db }) => idsOf([await keeping({ number: fresh() }, (row) => modelsOf(db).Order.create(row))]),
    async ({ db }) => idsOf(await modelsOf(db).Order.createAll([{ number: fresh() }])),
    async ({ db }) => idsOf([await modelsOf(db).Order.select('id').create({ number: fresh() })]),
  ],
  'single, null': [0, async ({ db }) => void (await modelsOf(db).Order.create({ id: null as never, number: fresh() }))],
  bulk: [
    3,
    async (shop) => same(await modelsOf(shop.db).Order.createAndCount(someOrders(shop)), 3),
    async (shop) => void (await modelsOf(shop.db).Order.createAll(someOrders(shop))),
    async ({ db }) => {
      for await (const { id } of modelsOf(db).Order.createAll([1, 2, 3].map(() => ({ number: fresh() }))))
        same(!!id, true);
    },
  ],
  'bulk, more rows than a tick has IDs': [
    20_000,
    async ({ db }) => {
      // PostgreSQL takes 65,535 parameters, and SQLite 32,766.
      const rows = Array.from({ length: 20_000 }, () => ({ number: fresh() }));
      for (let at = 0; at < rows.length; at += 10_000)
        await modelsOf(db).Order.createAndCount(rows.slice(at, at + 10_000));
    },
  ],
  'default values': [
    4,
    async ({ db }) => {
      await modelsOf(db).Bare.create({});
      await modelsOf(db).Bare.createAndCount([{}]);
      await modelsOf(db).Bare.createAll([{}, {}]);
    },
  ],
  upsert: [
    1,
    async ({ db }) => {
      const row = { number: fresh() };
      const args = { create: row, update: row, conflictOn: row };
      const first = await keeping(args, (each) => modelsOf(db).Order.upsert(each));
      same((await keeping(args, (each) => modelsOf(db).Order.upsert(each))).id, first.id);
    },
    async ({ db }) => {
      const number = fresh();
      const args = { create: { number }, update: {}, conflictOn: { number } };
      const { id } = await modelsOf(db).Order.upsert(args);
      same((await modelsOf(db).Order.upsert(args)).id, id);
    },
  ],
  'upsert, returning': [
    1,
    async ({ db }) => {
      const number = fresh();
      const upsert = async (): Promise<{ id: unknown }> =>
        modelsOf(db).Order.upsert({ create: { number }, update: { note: 'changed' }, conflictOn: { number } });
      const { id } = await upsert();
      same((await upsert()).id, id);
      return [id];
    },
    async ({ db }) => {
      const { id } = await modelsOf(db).Order.create({ number: fresh() });
      const row = { id, number: fresh() };
      same((await modelsOf(db).Order.upsert({ create: row, update: row })).id, id);
      return [id];
    },
    async ({ db }) => idsOf([await modelsOf(db).Order.upsert({ create: { number: fresh() }, update: { note: 'x' } })]),
  ],
  'upsert of the key': [
    0,
    async ({ db, ids, sent }) => {
      const row = { id: sent(ids.nextString()), number: fresh() };
      await modelsOf(db).Order.upsert({ create: row, update: row, conflictOn: { number: row.number } });
    },
    async ({ db, ids, sent }) => {
      const update = { id: sent(ids.nextString()) };
      await modelsOf(db).Order.upsert({ create: { number: 'fixture' }, update, conflictOn: { number: 'fixture' } });
    },
  ],
  'ignored row, returning': [
    1,
    async ({ db }) => {
      const row = { number: fresh() };
      const Order = modelsOf(db).Order;
      const options = { onConflict: 'skip', conflictOn: ['number'] } as const;
      const first = await keeping([row, row], (rows) => Order.createAll(rows, options));
      same(await Order.createAll([row, row], options), []);
      same(await Order.createAndCount([row], options), 0);
      return idsOf(first);
    },
  ],
  transaction: [
    2,
    async ({ db }) =>
      db.transaction(async (tx) =>
        idsOf([
          await modelsOf(tx).Order.create({ number: fresh() }),
          await modelsOf(tx).Order.create({ number: fresh() }),
        ]),
      ),
    async ({ db }) => db.transaction(async (tx) => [...(await inserted(tx, 1)), ...(await inserted(tx, 1))]),
  ],
  nested: [
    2,
    async (shop) => {
      const { Customer } = modelsOf(shop.db);
      const { id } = await Customer.create({
        email: fresh(),
        boss: (boss) => boss.create({ email: fresh(), boss: (above) => above.create({ email: fresh() }) }),
        staff: (staff) =>
          staff.create([{ email: fresh(), staff: (below) => below.create([{ email: fresh() }]) }, { email: fresh() }]),
        orders: (orders) =>
          orders.create([
            {
              number: fresh(),
              lines: (lines) => lines.create([{ name: 'one' }, { name: 'two' }]),
              tags: (tags) => tags.create([{ name: fresh() }]),
            },
            { number: fresh(), lines: (lines) => lines.create([{ name: 'three' }]) },
          ]),
      });
      await allOurs(shop, ['Customer'], ['Line'], ['Tag'], ['OrderTag', 'serial']);
      return idsOf(await modelsOf(shop.db).Order.where({ customerId: id }).all());
    },
  ],
  'nested in an update': [
    3,
    async (shop) => {
      const { Customer, Order } = modelsOf(shop.db);
      const { id } = await Customer.create({ email: fresh() });
      const { id: order } = await Order.create({ number: fresh(), customerId: id });
      await Customer.where({ id }).update({
        orders: (orders) => orders.create([{ number: fresh() }, { number: fresh() }]),
        staff: (staff) => staff.create([{ email: fresh() }]),
      });
      await Order.where({ id: order }).update({
        lines: (lines) => lines.create([{ name: 'of an update' }]),
        tags: (tags) => tags.create([{ name: fresh() }]),
      });
      await allOurs(shop, ['Customer'], ['Line'], ['Tag'], ['OrderTag', 'serial']);
      return idsOf(await Order.where({ customerId: id }).all());
    },
  ],
  'the same arguments, several times': [
    3,
    async ({ db }) => {
      const rows = [{ number: fresh() }];
      for (let turn = 0; turn < 3; turn++) {
        await keeping(rows, (each) => modelsOf(db).Order.createAndCount(each));
        rows[0]!.number = fresh();
      }
    },
  ],
  'query builder': [
    2,
    async ({ db }) => inserted(session(db), 2),
    async ({ db }) => {
      const plan = tablesOf(db)
        .Order.insert([{ number: fresh() }, { number: fresh() }])
        .build();
      same((await db.runtime().execute(plan)).affectedRows, 2);
    },
  ],
  // Without a unique value, so that nothing but the key could refuse the second time.
  prepared: [
    2,
    async ({ db }) => {
      const plan = tablesOf(db).Bare.insert([{}]).returning('id').build();
      const ids = idsOf([...(await session(db).query(plan).toArray()), ...(await session(db).query(plan).toArray())]);
      same(new Set(ids).size, 2);
    },
    async ({ db }) => {
      const prepared = await db.prepare({}, () => tablesOf(db).Bare.insert([{}]).returning('id').build());
      for (let turn = 0; turn < 2; turn++) await prepared.query(db.runtime(), {}).toArray();
    },
  ],
  'raw, with the key': [1, async (shop) => insertRaw(shop, shop.ids.nextString())],
  raw: [0, async (shop) => insertRaw(shop)],
};

let given = 0;
/** Three orders, of which one has a key of the application. */
function someOrders({ ids, sent, form }: OpenShop): { id: bigint; number: string }[] {
  const own = String(4_611_686_018_427_387_904n + BigInt(++given)).slice(form === 'number' ? -16 : 0);
  ids.issued.add(own);
  return [{ number: fresh() }, { number: fresh(), id: sent(own) }, { id: undefined, number: fresh() }] as unknown as {
    id: bigint;
    number: string;
  }[];
}

const BARE = ['default values', 'prepared'];

async function written(shop: OpenShop, path: string, rows: number, write: Write): Promise<string> {
  const table = BARE.includes(path) ? 'Bare' : 'Order';
  const before = new Set(await shop.stored(table));
  const stored = async (): Promise<string[]> => (await shop.stored(table)).filter((digits) => !before.has(digits));
  let told: readonly unknown[] | void;
  try {
    told = await write(shop);
  } catch (error) {
    if (error instanceof AssertionError) throw error;
    const added = await stored();
    return added.length === 0 ? `refused: ${codeOf(error)}` : `wrong: ${codeOf(error)} after it has written`;
  }
  const added = await stored();
  if (rows === 0) return 'wrong: not refused';
  if (added.length !== rows) return `wrong: ${added.length} rows of ${rows}`;
  const foreign = added.find((digits) => !shop.ids.issued.has(digits));
  if (foreign !== undefined) return `wrong: ${foreign} is none of ours`;
  if (told !== undefined) same([...told].sort(byText), added.map(shop.shown).sort(byText));
  return 'filled';
}

function byText(one: unknown, other: unknown): number {
  return String(one) < String(other) ? -1 : 1;
}

const READS: Readonly<Record<string, Read>> = {
  find: async ({ db }, customer) => {
    const { Order } = modelsOf(db);
    const ids = idsOf(
      await Order.where({ customerId: customer })
        .orderBy((order) => order.id.asc())
        .all(),
    ) as bigint[];
    same(
      idsOf(
        await Order.where((order) => order.id.in(ids))
          .orderBy((order) => order.id.asc())
          .all(),
      ),
      ids,
    );
    const found = await Promise.all(ids.map(async (id) => Order.first({ id })));
    same(
      (
        await Order.where((order) => order.id.gt(ids[0]!))
          .where({ customerId: customer })
          .all()
      ).length,
      2,
    );
    return found.map((order) => order!.id);
  },
  relation: async ({ db }, customer) => {
    const row = await modelsOf(db)
      .Customer.include('orders', (orders) => orders.include('customer').orderBy((order) => order.id.asc()))
      .first({ id: customer });
    same(row!.id, customer);
    for (const order of row!.orders) same(order.customer!.id, customer);
    return idsOf(row!.orders);
  },
  join: async ({ db }, customer) => {
    const { Customer, Order } = tablesOf(db);
    const rows = await db
      .runtime()
      .query(
        Order.innerJoin(Customer, (field, fns) => fns.eq(field.Order.customerId, field.Customer.id))
          .select('id', (field) => field.Order.id)
          .where((field, fns) => fns.eq(field.Customer.id, customer))
          .build(),
      )
      .toArray();
    return idsOf(rows).sort(byText);
  },
  cursor: async ({ db }, customer) => {
    const found: { id: bigint }[] = [];
    for (;;) {
      const last = found.at(-1)?.id;
      const all = modelsOf(db)
        .Order.where({ customerId: customer })
        .orderBy((order) => order.id.asc());
      const page = await (last === undefined ? all : all.cursor({ id: last })).limit(1).all();
      if (page.length === 0) return idsOf(found);
      found.push(...page);
    }
  },
  aggregate: async ({ db }, customer) => {
    const own = modelsOf(db).Order.where({ customerId: customer });
    const ids = idsOf(await own.orderBy((order) => order.id.asc()).all());
    const { least, most } = await own.aggregate((of) => ({ least: of.min('id'), most: of.max('id') }));
    same([least, most], [ids[0], ids[2]]);
    return ids;
  },
  raw: async ({ db, form }, customer) => {
    const codec = { text: TEXT, bigint: 'pg/int8@1', number: 'pg/int8number@1' }[form];
    const own = String(customer);
    const { raw } = db;
    const statement = raw.sql`select id from "Order" where cast("customerId" as text) = ${own} order by id`;
    return idsOf(
      await db
        .runtime()
        .query(statement.returnsRow({ id: codec } as never).build())
        .toArray(),
    );
  },
  'JSON aggregate, key cast to text': async ({ db, shown }, customer) => {
    const own = String(customer);
    const { raw } = db;
    const statement = isPostgres
      ? raw.sql`select json_agg(cast(id as text) order by id)::text as ids from "Order" where cast("customerId" as text) = ${own}`
      : raw.sql`select json_group_array(cast(id as text)) as ids from (select id from "Order" where cast("customerId" as text) = ${own} order by id)`;
    const rows = await db
      .runtime()
      .query(statement.returnsRow({ ids: TEXT } as never).build())
      .toArray();
    return (JSON.parse((rows as unknown as [{ ids: string }])[0].ids) as string[]).map(shown);
  },
};

/** Reads the orders of one customer: their keys have to be those that the database has. */
async function read(shop: OpenShop, way: Read): Promise<string> {
  const { db, shown, stored } = shop;
  const { Customer, Order } = modelsOf(db);
  const { id: customer } = await Customer.create({ email: fresh() });
  const before = new Set(await stored());
  await Order.createAndCount([1, 2, 3].map(() => ({ number: fresh(), customerId: customer })));
  const expected = (await stored()).filter((digits) => !before.has(digits)).map(shown);
  same(expected.length, 3);
  await Order.create({ number: fresh() });
  try {
    same(await way(shop, customer), expected);
    return 'exact';
  } catch (error) {
    return error instanceof AssertionError ? `wrong: ${error.message}` : `refused: ${codeOf(error)}`;
  }
}

interface UpsertedRow {
  readonly id: bigint;
  readonly number: string;
}

/** The way of an upsert that Prisma has, if it has one: to another key it can set the key to a value alone. */
function upsertOf(
  { db }: OpenShop,
  { statement, by, sets }: Upsert,
  third: Key,
): ((row: UpsertedRow) => Promise<unknown>) | undefined {
  if (statement !== 'single' || sets === 'new key') return undefined;
  return async (row) => {
    const id = sets === 'third value' ? (third as bigint) : row.id;
    const update = { note: 'updated', ...(sets !== 'others' && { id }) };
    const conflictOn = by === 'id' ? { id: row.id } : { number: row.number };
    return (await modelsOf(db).Order.upsert({ create: row, update, conflictOn })).id;
  };
}

/** Upserts an order of which one is there with the same number: what became of the one that is there. */
async function upserted(
  { db, ids, sent }: OpenShop,
  upsert: Upsert,
  way: (row: UpsertedRow) => Promise<unknown>,
): Promise<string> {
  const { Order } = modelsOf(db);
  const number = fresh();
  const kept = sent(ids.nextString());
  await Order.create({ id: kept, number });
  const id = upsert.key === 'same' ? kept : sent(ids.nextString());
  let result = 'kept';
  try {
    same(await way({ id, number }), kept);
  } catch (error) {
    if (error instanceof AssertionError) throw error;
    result = `refused: ${codeOf(error)}`;
  }
  const [order, ...others] = await Order.where({ number }).all();
  same([order?.id, order?.note, others], [kept, result === 'kept' ? 'updated' : null, []]);
  return result;
}

const cells: Record<string, Record<string, string>> = {};
/** All ways of a path have to come out alike. */
function note(path: string, form: Form, results: readonly string[]): void {
  const [first, ...others] = [...new Set(results)];
  (cells[path] ??= {})[form] = others.length === 0 ? first! : `wrong: ${results.join(' / ')}`;
}

const FORMS = ['text', 'bigint', 'number'] as const;
for (const form of isPostgres ? FORMS : FORMS.slice(0, 1)) {
  const shop = await openShop(form);
  await modelsOf(shop.db).Order.create({ number: 'fixture' });
  try {
    for (const [path, [rows, ...ways]] of Object.entries(WRITES)) {
      const results: string[] = [];
      for (const way of ways) results.push(await written(shop, path, rows, way));
      note(`write ${path}`, form, results);
    }
    for (const upsert of givenToSuite.upserts) {
      const way = upsertOf(shop, upsert, shop.sent(shop.ids.nextString()));
      note(`write ${upsert.row}`, form, way === undefined ? ['-'] : [await upserted(shop, upsert, way)]);
    }
    for (const [path, way] of Object.entries(READS)) note(`read ${path}`, form, [await read(shop, way)]);
  } finally {
    await shop.close();
  }
}
console.log(JSON.stringify(cells));
