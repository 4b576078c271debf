/** Inserts until it is killed, and prints the IDs of every insert that the database has acknowledged. */
import { setImmediate } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { forms, type GivenDatabase, Shop } from './shop.js';

const { database, isFirst } = JSON.parse(process.argv[2]!) as { database: GivenDatabase; isFirst: boolean };
const shop = await Shop.open(database, forms[0]!, isFirst);
const { orders } = shop.schema;
const isMysql = database.kind === 'mariadb' || database.kind === 'mysql';

let inserts = 0;
const fresh = (): string => `${process.pid}-${++inserts}`;
const prepared = isMysql
  ? undefined
  : shop.db
      .insert(orders)
      .values({ number: sql.placeholder('number') })
      .returning()
      .prepare('one');

async function insert(rows: number): Promise<readonly { id: string | number | bigint }[]> {
  if (rows === 1 && prepared !== undefined) return prepared.execute({ number: fresh() });
  const builder = shop.db.insert(orders).values(Array.from({ length: rows }, () => ({ number: fresh() })));
  if (!isMysql) return builder.returning();
  return (builder as unknown as { $returningId(): Promise<{ id: string }[]> }).$returningId();
}

for (let turn = 0; ; turn++) {
  const made = await Promise.all([insert(1), insert(20)]);
  console.log(
    `inserted ${made
      .flat()
      .map(({ id }) => String(id))
      .join(' ')}`,
  );
  // better-sqlite3 never waits: the renewal of the lease has its turn here.
  await setImmediate();
}
