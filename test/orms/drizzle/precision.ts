/** Which settings the check of precision finds on a database, and which it leaves alone. Prints what each came to. */
import { sql } from 'drizzle-orm';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { checkPrecision, exactJson, RoundedIdsError } from '@raindrop/orm/drizzle';
import { connect, type Db, forms, type GivenDatabase, Shop } from './shop.js';

interface Given {
  readonly database: GivenDatabase;
  readonly numbers: GivenDatabase;
  /** Statements that make a table whose key the database fills. */
  readonly fill: readonly string[];
}

const given = JSON.parse(process.argv[2]!) as Given;
const { kind } = given.database;
const results: Record<string, unknown> = {};
const EXACT = { supportBigNumbers: true };

/** What the check throws or returns. */
async function found(db: Db, schema?: object): Promise<unknown> {
  try {
    const { exact, warnings } = await checkPrecision(db, { ...(schema !== undefined && { schema: { ...schema } }) });
    return warnings.length === 0 ? exact : { exact, warnings };
  } catch (error) {
    if (!(error instanceof RoundedIdsError)) return (error as { errorCode?: string }).errorCode ?? String(error);
    const { errorCode, column, path, sent, received, cure } = error;
    return { errorCode, column, path, sent, received, cure };
  }
}

async function parsing<T>(oid: number, parse: (text: string) => unknown, work: () => Promise<T>): Promise<T> {
  const before = pg.types.getTypeParser(oid) as (text: string) => unknown;
  pg.types.setTypeParser(oid, parse);
  try {
    return await work();
  } finally {
    pg.types.setTypeParser(oid, before);
  }
}

const shop = await Shop.open(given.database, forms[0]!);
const { schema } = shop;
const plain = async (settings?: mysql.PoolOptions): Promise<unknown> => {
  const { db, disconnect } = connect(given.database, {}, settings);
  try {
    return await found(db, schema);
  } finally {
    await disconnect();
  }
};

results['the tables by name'] = await plain(EXACT);
results['no tables'] = await found(connect(given.database).db);
results['with relations'] = await found(shop.db);
if (kind === 'postgres') {
  results['with relations and exactJson'] = await parsing(114, exactJson, () => found(shop.db));
  results['a parser of int8'] = await parsing(20, Number, () => plain());
  results['a parser of int8 to bigint'] = await parsing(20, BigInt, () => plain());
  // Drizzle alone.
  results['control'] = await parsing(20, Number, async () => {
    const [row] = await shop.db.select({ id: sql.raw('9223372036854775807') }).from(sql.raw('(select 1 as one) as o'));
    return String(row!.id);
  });
} else if (kind !== 'sqlite') {
  results['without supportBigNumbers'] = await plain({});
  // Drizzle reads by a typeCast of its own.
  const typeCast = (field: mysql.TypeCastField, next: mysql.TypeCastNext): unknown =>
    field.type === 'LONGLONG' ? Number(field.string()) : next();
  results['typeCast'] = await plain({ ...EXACT, typeCast: typeCast as never });
}
for (const statement of given.fill) await shop.drive(statement);
results['a key that the database fills'] = (
  await checkPrecision(connect(given.database).db, { schema, layout: { bits: 63 } })
).warnings;
await shop.close();
results['no service'] = await found(shop.db);

const numbers = await Shop.open(
  given.numbers,
  forms.find(({ name }) => name === 'number')!,
);
results['numbers'] = await found(numbers.db);
if (kind === 'postgres') results['numbers, parsed'] = await parsing(20, Number, () => found(numbers.db));
await numbers.close();
console.log(JSON.stringify(results));
process.exit();
