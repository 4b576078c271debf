/** Which settings the check of precision finds on a database, and which it leaves alone. Prints what each came to. */
import type { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3';
import { checkPrecision, type KeyIds, type PrecisionOptions, RoundedIdsError } from '@raindrop/orm/prisma';
import pg from 'pg';
import {
  adapter,
  type Client,
  clientOf,
  type Form,
  fresh,
  makeTables,
  outcome,
  quoted,
  snowflakes,
  type as database,
} from './shop.js';

const results: Record<string, unknown> = {};

interface Given {
  readonly form?: Form;
  readonly generated?: 'client' | 'joins';
  readonly on?: ReturnType<typeof adapter>;
  readonly bits?: number;
}

/** What some work does with a client of its own, which has IDs. */
async function using<T>(
  { form = 'bigint', generated, on = adapter(), bits = 63 }: Given,
  work: (db: Client, plain: Client) => Promise<T>,
): Promise<T> {
  const Generated = await clientOf(form, generated);
  const plain = new Generated({ adapter: on });
  let last = 2n ** BigInt(bits) - 1_000n;
  const ids: KeyIds = { nextId: () => ++last, nextString: () => String(++last), layout: { bits } };
  try {
    return await work(plain.$extends(snowflakes(ids)) as unknown as Client, plain);
  } finally {
    await plain.$disconnect();
  }
}

/** What the check throws or returns. */
async function found(db: Client, options?: PrecisionOptions): Promise<unknown> {
  try {
    const { exact, warnings } = await checkPrecision(db, options);
    return warnings.length === 0 ? exact : { exact, warnings };
  } catch (error) {
    if (!(error instanceof RoundedIdsError)) return (error as { errorCode?: string }).errorCode ?? String(error);
    const { errorCode, column, path, sent, received, cure } = error;
    return { errorCode, column, path, sent, received: String(received), cure };
  }
}

const check = (given: Given = {}): Promise<unknown> => using(given, (db) => found(db));

/** Runs some work while the application's driver rounds. No setting of SQLite's adapter does: there its driver is told to. */
async function rounding<T>(work: (on: ReturnType<typeof adapter>) => Promise<T>): Promise<T> {
  if (database === 'mariadb') return work(adapter({ bigIntAsNumber: true }));
  if (database === 'postgres') return parsing(Number, () => work(adapter()));
  const factory = adapter() as PrismaBetterSqlite3;
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const connected = await connect();
    const { client } = connected as unknown as { client: { defaultSafeIntegers(isSafe: boolean): void } };
    client.defaultSafeIntegers(false);
    return connected;
  };
  return work(factory);
}

async function parsing<T>(parse: (text: string) => unknown, work: () => Promise<T>): Promise<T> {
  const before = pg.types.getTypeParser(20) as (text: string) => unknown;
  pg.types.setTypeParser(20, parse);
  try {
    return await work();
  } finally {
    pg.types.setTypeParser(20, before);
  }
}

await using({}, async (db, plain) => {
  await makeTables(plain, 'bigint');
  results['as it is'] = await found(db);
  const id = { needs: { id: true }, compute: ({ id }: { id: bigint }): string => String(id) } as const;
  const further = db
    .$extends({ result: { order: { id } } })
    .$extends({ query: { $allOperations: ({ args, query }) => query(args) } });
  results['with further extensions'] = await found(further as unknown as Client);
  results['no extension'] = await found(plain);
  const elsewhere = plain.$extends(snowflakes({ service: 'never' })) as unknown as Client;
  results['no service'] = [await found(elsewhere), await found(elsewhere, { layout: { bits: 63 } })];
});
results['rounding'] = await rounding((on) => check({ on }));
results['rounding, IDs that numbers hold'] = await rounding((on) => check({ on, bits: 53 }));
/** What the check prevents: an order whose key is told wrong, and lines that are refused, or are of no order. */
results['control'] = await rounding((on) =>
  using({ on }, async (db) => {
    const number = fresh();
    const text = database === 'mariadb' ? 'char' : 'text';
    const select = quoted(`select cast(id as ${text}) as id from "Order" where number = '${number}'`);
    const { id } = await db.order.create({ data: { number } });
    const [row] = await db.$queryRawUnsafe<{ id: string }[]>(select);
    const lines = { create: { name: 'x' } };
    const nested = await outcome(() => db.order.create({ data: { number: fresh(), lines }, include: { lines: true } }));
    return [
      row!.id === String(id),
      typeof nested === 'string' ? nested : (nested as { lines: unknown[] }).lines.length,
    ];
  }),
);
await using({ form: 'text' }, async (db, plain) => {
  await makeTables(plain, 'text');
  results['texts'] = await found(db);
});
results['texts, rounding'] = await rounding((on) => check({ form: 'text', on }));
if (database === 'postgres') {
  results['texts, relationJoins'] = await check({ form: 'text', generated: 'joins' });
  await using({ generated: 'joins' }, async (db, plain) => {
    await makeTables(plain, 'bigint');
    results['relationJoins'] = await found(db);
    const { id } = await db.order.create({ data: { number: fresh(), lines: { create: { name: 'x' } } } });
    const { lines } = await db.order.findUniqueOrThrow({ where: { id }, include: { lines: true } });
    results['a relation of relationJoins'] = lines[0]!.orderId === id;
  });
  // Prisma's adapter does not ask them.
  const types = { getTypeParser: () => Number };
  results['types of the pool'] = await check({ on: adapter({ types }) });
  pg.defaults.parseInt8 = true;
  results['parseInt8'] = await check();
  pg.defaults.parseInt8 = false;
}
if (database === 'mariadb') {
  const settings = [{ supportBigNumbers: true }, { bigNumberStrings: true }, { insertIdAsNumber: true }];
  results['settings that do not round'] = await Promise.all(settings.map((each) => check({ on: adapter(each) })));
}
const { fill } = JSON.parse(process.argv[2]!) as { readonly fill: readonly string[] };
await using({}, async (db, plain) => {
  for (const statement of fill) await plain.$executeRawUnsafe(statement);
  results['a key that the database fills'] = (await checkPrecision(db)).warnings;
});
console.log(JSON.stringify(results));
process.exit();
