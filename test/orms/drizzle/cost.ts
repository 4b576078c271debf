/**
 * Measures what an ID adds to an insert of 1,000 rows: in turns into a table whose key is ours, and into one whose key
 * counts in memory. Prints the fastest tenth in milliseconds, by `$defaultFn` of Drizzle, ours, and what ours adds in
 * percent; `paired` is what ours adds to the round beside it, in the middle of all rounds.
 */
import { sql } from 'drizzle-orm';
import { customType as mysqlType, mysqlTable, varchar } from 'drizzle-orm/mysql-core';
import { customType as pgType, pgTable, text as pgText } from 'drizzle-orm/pg-core';
import { customType as sqliteType, sqliteTable, text as sqliteText } from 'drizzle-orm/sqlite-core';
import { forms, type GivenDatabase, Shop } from './shop.js';

const { database, rounds } = JSON.parse(process.argv[2]!) as { database: GivenDatabase; rounds: number };
const shop = await Shop.open(database, forms[0]!);
const { kind } = shop;
// Without the notes of what was issued.
delete (shop.ids as Partial<typeof shop.ids>).nextString;
const isMysql = kind === 'mariadb' || kind === 'mysql';

let counted = 10n ** 17n;
const columns = {
  postgres: { type: pgType, table: pgTable, text: pgText },
  sqlite: { type: sqliteType, table: sqliteTable, text: sqliteText },
  mariadb: { type: mysqlType, table: mysqlTable, text: () => varchar({ length: 40 }) },
  mysql: { type: mysqlType, table: mysqlTable, text: () => varchar({ length: 40 }) },
}[kind] as unknown as { type: typeof pgType; table: typeof pgTable; text: typeof pgText };
const dataType = kind === 'sqlite' ? 'text' : 'bigint';
const plainId = columns.type<{ data: string }>({ dataType: () => dataType, fromDriver: String, toDriver: (id) => id });
const plain = columns.table('plain', {
  id: plainId()
    .$defaultFn(() => String(++counted))
    .primaryKey(),
  number: columns.text().notNull(),
  customer: columns.text(),
});
await shop.drive(
  `create table plain (id ${dataType} primary key not null, number varchar(40) not null, customer varchar(40))`,
);
await shop.drive('drop table ' + (isMysql ? '`lines`' : 'lines'));
await shop.drive('drop table orders');
await shop.drive(
  `create table orders (id ${dataType} primary key not null, number varchar(40) not null, customer varchar(40))`,
);

const values = Array.from({ length: 1_000 }, (_, index) => ({ number: `A-${index}`, customer: 'Ada' }));

/** Milliseconds: of building the statement, and of all of it. */
async function time(table: typeof plain): Promise<[number, number]> {
  const start = performance.now();
  shop.db.insert(table).values(values).toSQL();
  const built = performance.now();
  await shop.db.insert(table).values(values);
  return [built - start, performance.now() - built];
}

/** The fastest tenth: other work on the host makes a round slower, never faster. */
const fastest = (all: number[]): number => all.sort((a, b) => a - b)[Math.floor(all.length / 10)]!;
const found = { plain: [[], []] as [number[], number[]], ours: [[], []] as [number[], number[]] };
for (let round = -20; round < rounds; round++) {
  for (const name of round % 2 === 0 ? (['plain', 'ours'] as const) : (['ours', 'plain'] as const)) {
    const times = await time(name === 'plain' ? plain : (shop.schema.orders as never));
    if (round >= 0) times.forEach((each, index) => found[name][index]!.push(each));
  }
  if (round % 10 === 0) for (const table of [plain, shop.schema.orders]) await shop.db.delete(table).where(sql`1 = 1`);
}
const added = found.ours[1].map((each, index) => each / found.plain[1][index]! - 1).sort((a, b) => a - b);
const paired = added[Math.floor(added.length / 2)]! * 100;
const [base, ours] = [found.plain[1], found.ours[1]].map(fastest) as [number, number];
const [builtBase, builtOurs] = [found.plain[0], found.ours[0]].map(fastest) as [number, number];
console.log(JSON.stringify({ kind, base, ours, percent: (ours / base - 1) * 100, paired, builtBase, builtOurs }));
await shop.close();
