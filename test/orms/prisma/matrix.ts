/**
 * Every way of writing and reading keys through Prisma on one database, in each form of the key. Prints for each path
 * and form what became of all ways that belong to it: `filled`, `exact`, `refused: CODE`, `wrong: WHY`, or `-` where the
 * database has no such way.
 */
import { AssertionError, deepStrictEqual as same } from 'node:assert/strict';
import {
  type Client,
  codeOf,
  connect,
  extended,
  type Form,
  fresh,
  given as givenToSuite,
  type Key,
  openShop,
  type OpenShop,
  quoted,
  skip,
  type,
  type Upsert,
} from './shop.js';

/** Returns the IDs of the new orders, where the way tells them. */
type Write = (shop: OpenShop) => Promise<readonly unknown[] | void>;
/** Returns the IDs of the orders of a customer. */
type Read = (shop: OpenShop, customer: Key) => Promise<readonly unknown[]>;

const [isPostgres, isMariadb, isSqlite] = [type === 'postgres', type === 'mariadb', type === 'better-sqlite3'];
const idsOf = (rows: readonly { readonly id: unknown }[]): unknown[] => rows.map(({ id }) => id);

/** Compares what was given with what it was before, so that no path changes it. */
async function keeping<T extends object, R>(args: T, use: (args: T) => Promise<R>): Promise<R> {
  const before = structuredClone(args);
  const result = await use(args);
  same(args, before);
  return result;
}

/** The IDs of the service, and only these, in the rows of a table. */
async function allOurs({ ids, stored }: OpenShop, ...tables: string[]): Promise<void> {
  for (const table of tables) {
    for (const digits of await stored(table)) if (!ids.issued.has(digits)) throw new Error(`wrong: ${table} ${digits}`);
  }
}

/** How many rows a path writes, orders mostly; 0 for one that has to be refused. Then the ways that belong to it. */
const WRITES: Readonly<Record<string, readonly [rows: number, ...ways: readonly Write[]]>> = {
  single: [
    1,
    async ({ db }) => void (await db.order.create({ data: { number: fresh() }, select: { number: true } })),
    async ({ db }) => void (await db.order.create({ data: { id: undefined, number: fresh() } })),
    async ({ db }) => void (await db.order.create({ data: { id: skip, number: fresh() } })),
  ],
  returning: [
    1,
    async ({ db }) => idsOf([await keeping({ data: { number: fresh() } }, (args) => db.order.create(args))]),
    async ({ db }) => {
      if (isMariadb) return idsOf([await db.order.create({ data: { number: fresh() }, select: { id: true } })]);
      return idsOf(await db.order.createManyAndReturn({ data: [{ number: fresh() }] }));
    },
  ],
  'single, null': [0, async ({ db }) => void (await db.order.create({ data: { id: null!, number: fresh() } }))],
  bulk: [
    3,
    async ({ db, ids, shown, sent, form }) => {
      const own = String(4_611_686_018_427_387_904n + BigInt(++given)).slice(form === 'number' ? -16 : 0);
      ids.issued.add(own);
      const data = [{ number: fresh() }, { number: fresh(), id: sent(shown(own)) }, { id: undefined, number: fresh() }];
      same(await keeping({ data }, (args) => db.order.createMany(args)), { count: 3 });
    },
    async ({ db }) => {
      for (let turn = 0; turn < 3; turn++) await db.order.createMany({ data: { number: fresh() } });
    },
  ],
  'bulk, more rows than a tick has IDs': [
    20_000,
    async ({ db }) => void (await db.order.createMany({ data: many(20_000) })),
  ],
  'default values': [
    4,
    async (shop) => {
      const { db } = shop;
      await db.bare.create(undefined as never);
      await db.bare.create({});
      await db.bare.createMany({ data: [{}, {}] });
    },
  ],
  upsert: [
    1,
    async ({ db }) => {
      const row = { number: fresh() };
      const args = { where: row, create: row, update: row };
      const first = await keeping(args, (each) => db.order.upsert(each));
      same((await keeping(args, (each) => db.order.upsert(each))).id, first.id);
    },
  ],
  'upsert, returning': [
    1,
    async ({ db }) => {
      const number = fresh();
      const upsert = (): Promise<{ id: unknown }> =>
        db.order.upsert({ where: { number }, create: { number }, update: { data: { changed: true } } });
      const { id } = await upsert();
      same((await upsert()).id, id);
      return [id];
    },
    async ({ db }) => {
      const number = fresh();
      // With what is nested, Prisma reads before it writes.
      const upsert = (): Promise<{ id: unknown }> =>
        db.order.upsert({
          where: { number },
          create: { number, lines: { create: { name: 'of the new one' } } },
          update: { lines: { create: { name: 'of the old one' } } },
          include: { lines: true },
        });
      const { id } = await upsert();
      same((await upsert()).id, id);
      return [id];
    },
    async ({ db, sent }) => {
      const { id } = await db.order.create({ data: { number: fresh() } });
      const row = { id: sent(id), number: fresh() };
      same((await db.order.upsert({ where: { id: sent(id) }, create: row, update: row })).id, id);
      return [id];
    },
  ],
  'upsert of the key': [
    0,
    async ({ db, ids, sent, shown }) => {
      const row = { id: sent(shown(ids.nextString())), number: fresh() };
      await db.order.upsert({ where: { number: row.number }, create: row, update: row });
    },
    async ({ db, ids, sent, shown }) => {
      const update = { id: { set: sent(shown(ids.nextString())) } };
      const upsert = { where: { number: 'fixture' }, create: { number: 'fixture' }, update };
      await db.customer.update({ where: { email: 'fixture' }, data: { orders: { upsert } } });
    },
    async ({ db }) => {
      const update = { id: { increment: 1 } };
      await db.order.upsert({ where: { number: 'fixture' }, create: { number: 'fixture' }, update });
    },
  ],
  'ignored row, returning': [
    1,
    async ({ db }) => {
      if (isSqlite) throw NONE;
      const row = { number: fresh() };
      const args = { data: [row, row], skipDuplicates: true };
      if (isMariadb) return void (await keeping(args, (each) => db.order.createMany(each)));
      const first = await keeping(args, (each) => db.order.createManyAndReturn(each));
      same(await keeping(args, (each) => db.order.createManyAndReturn(each)), []);
      return idsOf(first);
    },
  ],
  transaction: [
    2,
    async ({ db }) =>
      idsOf(
        await db.$transaction(async (own) => [
          await own.order.create({ data: { number: fresh() } }),
          await own.order.create({ data: { number: fresh() } }),
        ]),
      ),
    async ({ db }) => idsOf(await db.$transaction([1, 2].map(() => db.order.create({ data: { number: fresh() } })))),
    async ({ db }) => {
      const many = db.order.createMany({ data: [{ number: fresh() }, { number: fresh() }] });
      await db.$transaction([db.customer.create({ data: { email: fresh() } }), many, db.tag.count()]);
    },
  ],
  nested: [
    2,
    async (shop) => {
      const data = {
        email: fresh(),
        boss: { create: { email: fresh(), boss: { create: { email: fresh() } } } },
        staff: { create: [{ email: fresh(), staff: { create: { email: fresh() } } }, { email: fresh() }] },
        profile: { create: { data: fresh() } },
        orders: {
          create: [
            {
              number: fresh(),
              lines: { createMany: { data: [{ name: 'one' }, { name: 'two' }] } },
              tags: { create: [{ name: fresh() }] },
            },
            { number: fresh(), lines: { create: { name: 'three' } } },
          ],
        },
      };
      const include = { orders: { orderBy: { id: 'asc' } } } as const;
      const { orders } = await keeping({ data, include }, (args) => shop.db.customer.create(args));
      await allOurs(shop, 'Customer', 'Profile', 'Line', 'Tag');
      return idsOf(orders);
    },
  ],
  'nested in an update': [
    3,
    async (shop) => {
      const { db } = shop;
      const [email, number, tag] = [fresh(), fresh(), fresh()];
      await db.customer.create({
        data: { email, orders: { create: { number } }, profile: { create: { data: fresh() } } },
      });
      const orders = {
        update: {
          where: { number },
          data: { lines: { create: { name: 'of an update' } }, tags: { create: { name: tag } } },
        },
        create: { number: fresh() },
        upsert: {
          where: { number: fresh() },
          create: { number: fresh(), lines: { create: { name: 'x' } } },
          update: {},
        },
      };
      await keeping({ where: { email }, data: { orders, staff: { create: { email: fresh() } } } }, (args) =>
        db.customer.update(args),
      );
      const { id } = await db.profile.findFirstOrThrow({ where: { customer: { email } }, select: { id: true } });
      // The update of a single row has its data in `data`, or not.
      for (const update of [
        { staff: { create: { email: fresh() } } },
        { data: { staff: { create: { email: fresh() } } } },
      ]) {
        await db.profile.update({ where: { id }, data: { customer: { update } } });
      }
      same(await db.customer.count({ where: { boss: { email } } }), 3);
      await allOurs(shop, 'Customer', 'Profile', 'Line', 'Tag');
    },
  ],
  connectOrCreate: [
    2,
    async (shop) => {
      const { db } = shop;
      const tags = [fresh(), fresh()].map((name) => ({ where: { name }, create: { name } }));
      const customer = { connectOrCreate: { where: { email: fresh() }, create: { email: fresh() } } };
      const before = await db.tag.count();
      for (let turn = 0; turn < 2; turn++) {
        await keeping({ data: { number: fresh(), customer, tags: { connectOrCreate: tags } } }, (args) =>
          db.order.create(args),
        );
        customer.connectOrCreate.where = { email: customer.connectOrCreate.create.email };
      }
      same(await db.tag.count(), before + 2);
      await allOurs(shop, 'Customer', 'Tag');
    },
  ],
  'the same arguments, several times': [
    3,
    async ({ db }) => {
      const args = { data: [{ number: fresh() }] };
      for (let turn = 0; turn < 3; turn++) {
        await keeping(args, (each) => db.order.createMany(each));
        args.data[0]!.number = fresh();
      }
    },
    async ({ db }) => {
      const data = { number: fresh() };
      const promise = db.order.create({ data });
      same(await promise, await promise);
      // A transaction runs its promises again.
      for (let turn = 0; turn < 2; turn++) {
        data.number = fresh();
        await db.$transaction([promise]);
      }
    },
  ],
  'with two extensions': [
    2,
    async ({ db, ids, form }) => {
      const twice = extended(db, ids, form === 'number' ? 'bigint' : form);
      await twice.order.createMany({ data: [{ number: fresh() }, { number: fresh() }] });
    },
    async ({ plain, ids, form }) => {
      const repeating = plain.$extends({
        query: {
          order: {
            create: async ({ args, query }) => {
              await query(args);
              return query({ ...args, data: { ...args.data, number: fresh() } });
            },
          },
        },
      });
      await extended(repeating as unknown as Client, ids, form).order.create({ data: { number: fresh() } });
    },
  ],
  'raw, with the key': [
    1,
    async ({ db, ids }) => {
      const statement = `insert into "Order" (id, number) values (${ids.nextString()}, '${fresh()}')`;
      await db.$executeRawUnsafe(quoted(statement));
    },
  ],
  raw: [
    0,
    async ({ db }) => void (await db.$executeRawUnsafe(quoted(`insert into "Order" (number) values ('${fresh()}')`))),
  ],
};

let given = 0;
const NONE = new Error('-');

function many(count: number): { number: string }[] {
  return Array.from({ length: count }, () => ({ number: fresh() }));
}

async function written(shop: OpenShop, path: string, rows: number, write: Write): Promise<string> {
  const table = path === 'default values' ? 'Bare' : 'Order';
  const before = new Set(await shop.stored(table));
  const stored = async (): Promise<string[]> => (await shop.stored(table)).filter((digits) => !before.has(digits));
  let told: readonly unknown[] | void;
  try {
    told = await write(shop);
  } catch (error) {
    if (error === NONE) return '-';
    const added = await stored();
    return added.length === 0 ? `refused: ${codeOf(error)}` : `wrong: ${codeOf(error)} after it has written`;
  }
  const added = await stored();
  const isOurs = added.some((digits) => shop.ids.issued.has(digits));
  if (path === 'raw' && added.length === 1 && givenToSuite.databaseDefault === true && !isOurs)
    return 'by the database';
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

const AS_TEXT = isMariadb ? 'char' : 'text';
const JSON_OF = isPostgres ? 'json_agg' : isMariadb ? 'json_arrayagg' : 'json_group_array';

function fromJson(json: unknown): readonly unknown[] {
  return (typeof json === 'string' ? JSON.parse(json) : json) as readonly unknown[];
}

async function aggregated({ db, form }: OpenShop, customer: Key, id: string): Promise<readonly unknown[]> {
  const own = `"customerId" = ${form === 'text' && isSqlite ? `'${customer}'` : customer}`;
  const statement = `select ${JSON_OF}(${id}) as ids from (select id from "Order" where ${own} order by id) as o`;
  const rows = await db.$queryRawUnsafe<{ ids: unknown }[]>(quoted(statement));
  return fromJson(rows[0]!.ids);
}

const READS: Readonly<Record<string, Read>> = {
  find: async ({ db, sent }, customer) => {
    const orders = await db.order.findMany({ where: { customerId: sent(customer) }, orderBy: { id: 'asc' } });
    const ids = orders.map(({ id }) => sent(id));
    same(idsOf(await db.order.findMany({ where: { id: { in: ids } }, orderBy: { id: 'asc' } })), idsOf(orders));
    const found = await Promise.all(ids.map((id) => db.order.findUniqueOrThrow({ where: { id } })));
    same(idsOf(await db.order.findMany({ where: { id: { gt: ids[0]! }, customerId: sent(customer) } })).length, 2);
    return idsOf(found);
  },
  relation: async ({ db, sent }, customer) => {
    const { id, orders } = await db.customer.findUniqueOrThrow({
      where: { id: sent(customer) },
      include: { orders: { include: { customer: true }, orderBy: { id: 'asc' } } },
    });
    same(id, customer);
    for (const order of orders) same(order.customer!.id, customer);
    return idsOf(orders);
  },
  join: async ({ ids, form, sent }, customer) => {
    if (!isPostgres) throw NONE;
    const joining = await connect(form, 'joins');
    try {
      const find = { where: { id: sent(customer) }, include: { orders: { orderBy: { id: 'asc' } } } } as const;
      const { orders } = await extended(joining, ids, form).customer.findUniqueOrThrow(find);
      return idsOf(orders);
    } finally {
      await joining.$disconnect();
    }
  },
  cursor: async ({ db, sent }, customer) => {
    const found: { id: unknown }[] = [];
    const where = { customerId: sent(customer) };
    for (;;) {
      const last = found.at(-1)?.id as Key | undefined;
      const page = { take: 1, ...(last !== undefined && { cursor: { id: sent(last) }, skip: 1 }) };
      const orders = await db.order.findMany({ where, orderBy: { id: 'asc' }, ...page });
      if (orders.length === 0) return idsOf(found);
      found.push(...orders);
    }
  },
  aggregate: async ({ db, sent, shown }, customer) => {
    const where = { customerId: sent(customer) };
    const { _min, _max } = await db.order.aggregate({ where, _min: { id: true }, _max: { id: true } });
    const groups = await db.order.groupBy({ by: ['id'], where, orderBy: { id: 'asc' } });
    const ids = groups.map(({ id }) => shown(String(id)));
    same([_min.id, _max.id].map(String), [ids[0], ids[2]].map(String));
    return ids;
  },
  raw: async ({ db, form, sent, shown }, customer) => {
    const sql = quoted('select id from "Order" where "customerId" = ? order by id').replace(
      '?',
      isPostgres ? '$1' : '?',
    );
    const value = form === 'text' && isPostgres ? BigInt(customer) : sent(customer);
    const rows = await db.$queryRawUnsafe<{ id: Key }[]>(sql, value);
    return rows.map(({ id }) => (typeof id === 'number' && !Number.isSafeInteger(id) ? id : shown(String(id))));
  },
  'JSON aggregate': async (shop, customer) => {
    const ids = await aggregated(shop, customer, 'id');
    return ids.map((id) => (typeof id === 'number' && !Number.isSafeInteger(id) ? id : shop.shown(String(id))));
  },
  'JSON aggregate, key cast to text': async (shop, customer) => {
    const ids = await aggregated(shop, customer, `cast(id as ${AS_TEXT})`);
    return ids.map((id) => shop.shown(String(id)));
  },
};

/** Reads the orders of one customer: their keys have to be those that the database has. */
async function read(shop: OpenShop, way: Read): Promise<string> {
  const { db, plain, sent, shown, stored } = shop;
  const { id: customer } = await db.customer.create({
    data: { email: fresh(), orders: { create: [1, 2, 3].map(() => ({ number: fresh() })) } },
  });
  await db.order.create({ data: { number: fresh() } });
  const own = await plain.order.findMany({ where: { customerId: sent(customer) }, orderBy: { id: 'asc' } });
  const expected = own.map(({ id }) => shown(String(id)));
  same(new Set(expected.map(String)).size, 3);
  same((await stored()).filter((digits) => expected.map(String).includes(digits)).length, 3);
  try {
    const found = await way(shop, customer);
    if (found.some((id) => typeof id === 'number' && !Number.isSafeInteger(id))) {
      return 'wrong: JSON.parse rounds, prisma#29010';
    }
    same(found, expected);
    return 'exact';
  } catch (error) {
    return error === NONE ? '-' : `refused: ${codeOf(error)}`;
  }
}

/** The ways of an upsert that Prisma has: to another key it can set the key to a value alone. */
function upsertsOf({ db, sent }: OpenShop, { statement, by, sets }: Upsert, third: Key): UpsertWay[] {
  if (statement !== 'single' || sets === 'new key') return [];
  const args = (row: UpsertedRow, id: unknown): Parameters<typeof db.order.upsert>[0] => ({
    where: by === 'id' ? { id: row.id } : { number: row.number },
    create: row,
    update: { data: { updated: true }, ...(sets !== 'others' && { id: id as bigint }) },
  });
  const idOf = (row: UpsertedRow): bigint => (sets === 'third value' ? sent(third) : row.id);
  return [
    (row) => db.order.upsert(args(row, idOf(row))),
    (row) => db.order.upsert(args(row, { set: idOf(row) })),
    async (row, customerId) => {
      const upsert = { ...args(row, idOf(row)), create: { id: row.id, number: row.number } };
      const data = { orders: { upsert } };
      const { orders } = await db.customer.update({ where: { id: customerId }, data, include: { orders: true } });
      return orders[0]!;
    },
  ];
}

interface UpsertedRow {
  readonly id: bigint;
  readonly number: string;
  readonly customerId: bigint;
}

type UpsertWay = (row: UpsertedRow, customerId: bigint) => Promise<{ readonly id: unknown }>;

/** Upserts an order of which one is there with the same number: what became of the one that is there. */
async function upserted({ db, plain, ids, sent, shown }: OpenShop, upsert: Upsert, way: UpsertWay): Promise<string> {
  const number = fresh();
  const kept = shown(ids.nextString());
  const customerId = sent((await db.customer.create({ data: { email: fresh() } })).id);
  await db.order.create({ data: { id: sent(kept), number, customerId } });
  const id = upsert.key === 'same' ? kept : shown(ids.nextString());
  let result = 'kept';
  try {
    const told = await way({ id: sent(id), number, customerId }, customerId);
    same(shown(String(told.id)), kept);
  } catch (error) {
    if (error instanceof AssertionError) throw error;
    result = `refused: ${codeOf(error)}`;
  }
  const [order, ...others] = await plain.order.findMany({ where: { number } });
  same([shown(String(order?.id)), order?.data, others], [kept, result === 'kept' ? { updated: true } : null, []]);
  return result;
}

const cells: Record<string, Record<string, string>> = {};
/** All ways of a path have to come out alike. */
function note(path: string, form: Form, results: readonly string[]): void {
  const [first, ...others] = [...new Set(results)];
  (cells[path] ??= {})[form] = others.length === 0 ? first! : `wrong: ${results.join(' / ')}`;
}

for (const form of ['text', 'bigint', 'number'] as const) {
  const shop = await openShop(form);
  await shop.db.customer.create({ data: { email: 'fixture', orders: { create: { number: 'fixture' } } } });
  try {
    for (const [path, [rows, ...ways]] of Object.entries(WRITES)) {
      const results: string[] = [];
      for (const way of ways) results.push(await written(shop, path, rows, way));
      note(`write ${path}`, form, results);
    }
    for (const upsert of givenToSuite.upserts) {
      const results: string[] = [];
      const ways = upsertsOf(shop, upsert, shop.shown(shop.ids.nextString()));
      for (const way of ways) results.push(await upserted(shop, upsert, way));
      note(`write ${upsert.row}`, form, results.length === 0 ? ['-'] : results);
    }
    for (const [path, way] of Object.entries(READS)) note(`read ${path}`, form, [await read(shop, way)]);
  } finally {
    await shop.close();
  }
}
console.log(JSON.stringify(cells));
