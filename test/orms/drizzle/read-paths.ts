import { aliasedTable, asc, between, eq, gt, inArray, lt, max, ne, type SQL, sql, type SQLWrapper } from 'drizzle-orm';
import pg from 'pg';
import { exactJson } from '@raindrop/orm/drizzle';
import { digitsOfLines, optionsOf, withLines, withoutLines } from '#release';
import { connect, type DatabaseKind, type Db, type Id, type Shop } from './shop.js';

/** Three orders, of which the second has two lines. */
export interface Rows {
  readonly orders: readonly Id[];
  readonly lines: readonly Id[];
}

export interface ReadPath {
  readonly row: string;
  readonly name: string;
  readonly on?: readonly DatabaseKind[];
  readonly wrongBy?: string;
  /** Returns what was read beside what it should be. */
  run(shop: Shop, rows: Rows): Promise<readonly [read: unknown, expected: unknown]>;
}

const idsOf = (rows: readonly { id: unknown }[]): unknown[] => rows.map(({ id }) => id);

/** What `db.query` gives with relations, in the order of the IDs. */
async function related(db: Db): Promise<unknown> {
  const found = await withLines(db);
  return found.map(({ id, lines }) => [id, lines.map((line) => [line.id, line.orderId])]);
}

const nested = ({ orders, lines }: Rows): unknown =>
  orders.map((id, index) => [id, index === 1 ? lines.map((line) => [line, id]) : []]);

const text = ({ kind }: Shop) => (kind === 'mariadb' ? sql`char` : sql`text`);
const run = async ({ db, kind }: Shop, query: ReturnType<typeof sql>): Promise<Record<string, unknown>[]> => {
  if (kind === 'sqlite') return (db as unknown as { all(query: unknown): Record<string, unknown>[] }).all(query);
  const result = (await db.execute(query)) as unknown as { rows: Record<string, unknown>[] } & Record<
    string,
    unknown
  >[][];
  return kind === 'postgres' ? result.rows : result[0]!;
};

/** The array of all IDs as the dialect makes it, of the column or of its text. */
const jsonOf = ({ kind }: Shop, id: unknown) =>
  kind === 'postgres'
    ? sql`json_agg(${id})`
    : kind === 'sqlite'
      ? sql`json_group_array(${id})`
      : sql`json_arrayagg(${id})`;

const parsed = (json: unknown): unknown => (typeof json === 'string' ? JSON.parse(json) : json);

/** While `read` runs, pg parses all values of a type in this way: the setting is the process's. */
async function parsing<T>(type: number, parse: (text: string) => unknown, read: () => Promise<T>): Promise<T> {
  const before = pg.types.getTypeParser(type) as (text: string) => unknown;
  pg.types.setTypeParser(type, parse);
  try {
    return await read();
  } finally {
    pg.types.setTypeParser(type, before);
  }
}

/** Reads two orders, of which the later one's ID has a digit more, in an order by the ID. */
async function ordered({ db, schema, form }: Shop, by: (id: SQLWrapper) => SQL[]): Promise<[unknown, unknown]> {
  const { orders, lines } = schema;
  await db.delete(lines);
  await db.delete(orders);
  const digits = form.name === 'number' ? 15 : 17;
  const ids = ['9'.repeat(digits), `1${'0'.repeat(digits)}`].map(form.of);
  for (const id of ids) await db.insert(orders).values({ id: id as never, number: String(id) });
  const read = await db
    .select()
    .from(orders)
    .orderBy(...by(orders.id));
  return [idsOf(read), ids];
}

const INT8 = 20;
const JSON_TYPE = 114;

const selects: readonly ReadPath[] = [
  {
    row: 'find',
    name: '`select()`',
    run: async ({ db, schema: { orders } }, rows) => [
      idsOf(await db.select().from(orders).orderBy(orders.number)),
      rows.orders,
    ],
  },
  {
    row: 'find',
    name: '`where` by the ID: `eq`, `inArray`, `gt` as a cursor',
    run: async ({ db, schema: { orders } }, rows) => {
      const [first, second, third] = rows.orders as [never, never, never];
      const select = () => db.select({ id: orders.id }).from(orders).orderBy(asc(orders.id)).$dynamic();
      return [
        [
          await select().where(eq(orders.id, second)),
          await select().where(inArray(orders.id, [first, third])),
          await select().where(gt(orders.id, first)),
        ].map(idsOf),
        [[second], [first, third], [second, third]],
      ];
    },
  },
  {
    row: 'find',
    name: '`where` among IDs that differ by 1, which a double would not tell apart',
    run: async ({ db, schema: { orders, lines }, form }) => {
      await db.delete(lines);
      await db.delete(orders);
      const first = form.name === 'number' ? 2n ** 53n - 3n : 2n ** 60n;
      const ids = [0n, 1n, 2n].map((step) => form.of(String(first + step))) as [never, never, never];
      for (const id of ids) await db.insert(orders).values({ id, number: String(id) });
      await db.insert(lines).values({ orderId: ids[1] });
      const [one, two, three] = ids;
      const { id } = orders;
      const found: unknown[][] = [];
      for (const where of [eq(id, two), inArray(id, [one, three]), gt(id, two), lt(id, two), ne(id, two)])
        found.push(idsOf(await db.select().from(orders).where(where).orderBy(id)));
      found.push(
        idsOf(
          await db
            .select()
            .from(orders)
            .where(between(id, two, two)),
        ),
      );
      found.push(
        idsOf(
          await db
            .select()
            .from(orders)
            .innerJoin(lines, eq(lines.orderId, id))
            .where(eq(id, two))
            .then((rows) => rows.map((row) => row.orders)),
        ),
      );
      const inner = db.select({ id }).from(orders).as('inner_orders');
      found.push(idsOf(await db.select().from(inner).where(eq(inner.id, two))));
      await db.update(orders).set({ customer: 'Ada' }).where(eq(id, three));
      await db.delete(orders).where(eq(id, one));
      const left = await db.select().from(orders).orderBy(id);
      return [
        [...found, left.map((row) => [row.id, row.customer])],
        [
          [two],
          [one, three],
          [three],
          [one],
          [one, three],
          [two],
          [two],
          [two],
          [
            [two, null],
            [three, 'Ada'],
          ],
        ],
      ];
    },
  },
  {
    row: 'find',
    name: '`update()` and `delete()` by the ID',
    run: async ({ db, schema: { orders } }, rows) => {
      const [first, , third] = rows.orders as [never, never, never];
      await db.update(orders).set({ customer: 'Grace' }).where(eq(orders.id, third));
      await db.delete(orders).where(eq(orders.id, first));
      const left = await db.select().from(orders).orderBy(orders.number);
      return [
        left.map(({ id, customer }) => [id, customer]),
        [
          [rows.orders[1], null],
          [third, 'Grace'],
        ],
      ];
    },
  },
  {
    row: 'join',
    name: '`leftJoin()`',
    run: async ({ db, schema: { orders, lines } }, rows) => {
      const joined = await db
        .select()
        .from(lines)
        .leftJoin(orders, eq(orders.id, lines.orderId))
        .orderBy(asc(lines.id));
      return [joined.map((row) => [row.lines.id, row.orders?.id]), rows.lines.map((line) => [line, rows.orders[1]])];
    },
  },
  {
    row: 'find',
    name: 'a subquery, an aliased table, `max()`',
    run: async ({ db, schema: { orders } }, rows) => {
      const inner = db.select({ id: orders.id }).from(orders).as('inner_orders');
      const other = aliasedTable(orders, 'other');
      const [last] = await db.select({ id: max(orders.id) }).from(orders);
      const all = [await db.select().from(inner), await db.select({ id: other.id }).from(other)];
      return [
        [...all.map((each) => idsOf(each).sort()), last?.id],
        [[...rows.orders].sort(), [...rows.orders].sort(), rows.orders[2]],
      ];
    },
  },
  {
    row: 'find, prepared',
    name: 'a prepared `select()`, `eq(orders.id, sql.placeholder())`',
    run: async ({ db, schema: { orders } }, rows) => {
      const statement = db
        .select()
        .from(orders)
        .where(eq(orders.id, sql.placeholder('id')))
        .prepare('by_id');
      return [idsOf(await statement.execute({ id: rows.orders[1] })), [rows.orders[1]]];
    },
  },
  {
    row: 'find',
    name: 'the same with `sql.param(sql.placeholder(), orders.id)`',
    run: async ({ db, schema: { orders } }, rows) => {
      const id = sql.param(sql.placeholder('id'), orders.id);
      const statement = db.select().from(orders).where(eq(orders.id, id)).prepare('by_param');
      return [idsOf(await statement.execute({ id: rows.orders[1] })), [rows.orders[1]]];
    },
  },
  {
    row: 'stream',
    name: '`iterator()`',
    on: ['mariadb'],
    run: async ({ db, schema: { orders } }, rows) => {
      const select = db.select().from(orders).orderBy(orders.number) as unknown as {
        iterator(): AsyncIterable<{ id: unknown }>;
      };
      const read: unknown[] = [];
      for await (const { id } of select.iterator()) read.push(id);
      return [read, rows.orders];
    },
  },
  {
    row: 'order, when a digit is added',
    name: '`orderBy(orders.id)`',
    wrongBy: 'texts sort as texts, drizzle#1980',
    run: async (shop) => ordered(shop, (id) => [asc(id)]),
  },
  {
    row: 'order, by length and key',
    name: '`orderBy(sql`length(...)`, orders.id)`',
    on: ['sqlite'],
    run: async (shop) => ordered(shop, (id) => [sql`length(${id})`, asc(id)]),
  },
  {
    row: 'find, by a driver that rounds',
    name: '`select()` over mysql2 without `supportBigNumbers`',
    on: ['mariadb'],
    run: async ({ database, schema }, rows) => {
      const { db, disconnect } = connect(database, optionsOf(schema), {});
      try {
        return [idsOf(await db.select().from(schema.orders).orderBy(schema.orders.number)), rows.orders];
      } finally {
        await disconnect();
      }
    },
  },
  {
    row: 'find, by a driver that rounds',
    name: '`select()` with `pg.types.setTypeParser(20, Number)`',
    on: ['postgres'],
    run: async ({ db, schema: { orders } }, rows) => [
      await parsing(INT8, Number, async () => idsOf(await db.select().from(orders).orderBy(orders.number))),
      rows.orders,
    ],
  },
];

const relational: readonly ReadPath[] = [
  {
    row: 'find',
    name: '`db.query` without `with`',
    run: async ({ db }, rows) => [idsOf(await withoutLines(db)), rows.orders],
  },
  { row: 'relation', name: '`db.query` with `with`', run: async ({ db }, rows) => [await related(db), nested(rows)] },
  {
    row: 'relation, with exactJson',
    name: 'the same with `pg.types.setTypeParser(114, exactJson)`',
    on: ['postgres'],
    run: async ({ db }, rows) => [await parsing(JSON_TYPE, exactJson, () => related(db)), nested(rows)],
  },
  {
    row: 'relation, key cast to text',
    name: 'the same with the IDs as texts in `extras`',
    run: async (shop, rows) => {
      const found = await digitsOfLines(shop.db, text(shop));
      return [found.map((digits) => digits.map(shop.form.of)), [[], rows.lines, []]];
    },
  },
];

const byHand: readonly ReadPath[] = [
  {
    row: 'JSON aggregate',
    name: 'a JSON aggregate of the IDs',
    wrongBy: 'JSON.parse rounds, drizzle#4380',
    run: async (shop, rows) => {
      const { orders } = shop.schema;
      const [row] = await shop.db.select({ ids: jsonOf(shop, orders.id) }).from(orders);
      return [
        (parsed(row?.ids) as (string | number)[]).map(String).sort(),
        rows.orders.map((id) => String(digitsOf(shop, id))).sort(),
      ];
    },
  },
  {
    row: 'JSON aggregate, mapWith',
    name: 'the same with `.mapWith(orders.id)`',
    run: async (shop, rows) => {
      const { orders } = shop.schema;
      const [row] = await shop.db.select({ ids: jsonOf(shop, orders.id).mapWith(orders.id) }).from(orders);
      return [row?.ids, rows.orders];
    },
  },
  {
    row: 'JSON aggregate, key cast to text',
    name: 'a JSON aggregate of the IDs as texts',
    run: async (shop, rows) => {
      const { orders } = shop.schema;
      const digits = sql`cast(${orders.id} as ${text(shop)})`;
      const [row] = await shop.db.select({ ids: jsonOf(shop, digits) }).from(orders);
      return [(parsed(row?.ids) as string[]).map(shop.form.of).map(String).sort(), rows.orders.map(String).sort()];
    },
  },
  {
    row: 'raw',
    name: '`sql` with `.mapWith(orders.id)`',
    run: async ({ db, schema: { orders } }, rows) => {
      return [
        idsOf(
          await db
            .select({ id: sql`${orders.id}`.mapWith(orders.id) })
            .from(orders)
            .orderBy(orders.number),
        ),
        rows.orders,
      ];
    },
  },
  {
    row: 'raw',
    name: 'raw SQL, `db.execute()` or `db.all()`, digits as the driver gives them',
    run: async (shop, rows) => {
      const read = await run(shop, sql`select id from ${shop.schema.orders} order by number`);
      return [read.map(({ id }) => String(id)), rows.orders.map((id) => digitsOf(shop, id))];
    },
  },
];

function digitsOf({ schema: { orders } }: Shop, id: Id): string {
  return String(orders.id.mapToDriverValue(id));
}

export function readPaths(): readonly ReadPath[] {
  return [...selects, ...relational, ...byHand];
}
