/** Columns with `databaseDefault` on PostgreSQL: what they declare, who fills their rows, and what the check says of them. */
import { PgDialect, pgTable, text } from 'drizzle-orm/pg-core';
import { type SQL, sql } from 'drizzle-orm';
import { openIdService } from '@raindrop/node';
import { checkPrecision, snowflake } from '@raindrop/orm/drizzle';
import { connect, defaultIn, type GivenDatabase } from './shop.js';

const { database } = JSON.parse(process.argv[2]!) as { readonly database: GivenDatabase };

const service = await openIdService({ workerIdAssigner: 'static', workerId: 3, restartWaitMs: false });
const issued = new Set<string>();
const nextId = (code?: string): bigint => {
  const id = service.nextId(code);
  issued.add(String(id));
  return id;
};
const ids = { nextId, nextString: (code?: string) => String(nextId(code)), layout: service.layout };
const key = snowflake({ ids, databaseDefault: true });
const orders = pgTable('orders', { id: key.primaryKey(), number: text().unique() });
const undeclared = pgTable('orders', { id: snowflake({ ids }).primaryKey() });
const plain = pgTable('plain', { id: key });
const absent = pgTable('absent', { id: key });

const { db, drive, disconnect } = connect(database);
await drive(`create table orders (id bigint not null primary key${defaultIn(orders.id)}, number text unique)`);
await drive('create table plain (id bigint not null primary key)');

await db.insert(orders).values({ number: '1' });
await db.insert(orders).values([{ number: '2' }, { number: '3', id: undefined }]);
const upserted = { number: '4' };
for (const set of [upserted, upserted]) {
  await db.insert(orders).values(upserted).onConflictDoUpdate({ target: orders.number, set });
}
const prepared = db
  .insert(orders)
  .values({ number: sql.placeholder('number') })
  .prepare('insert');
await prepared.execute({ number: '5' });
await db.execute(sql`insert into orders (number) values ('6')`);
await db.execute(sql`insert into orders (number) select 'copy of ' || number from orders where number in ('1', '2')`);

const rows = await db.select().from(orders);
const warningsOf = async (schema: object): Promise<readonly string[]> =>
  (await checkPrecision(db, { schema: schema as Record<string, unknown> })).warnings;
const defaultOf = (name?: string): string | undefined => {
  const { id } = pgTable('named', { id: snowflake({ databaseDefault: name ?? false }) });
  return id.default === undefined ? undefined : new PgDialect().sqlToQuery(id.default as SQL).sql;
};

console.log(
  JSON.stringify({
    'the default in SQL': ['raindrop_id', 'shop.next_id', 'Shop.nextId', undefined].map(defaultOf),
    'rows of the service': rows.filter(({ id }) => issued.has(id)).length,
    'rows of the database': rows.filter(({ id }) => !issued.has(id)).length,
    'check of a column with its default': await warningsOf({ orders }),
    'check of a column without': await warningsOf({ plain }),
    'check of a default that is not declared': await warningsOf({ undeclared }),
    'check of a table that is not there': await warningsOf({ absent }),
  }),
);
await disconnect();
await service.close();
