/** What `tsc` makes of the tables that the documents show. The compiler is the test: nothing here runs. */

import { type InferInsertModel, type InferSelectModel, sql } from 'drizzle-orm';
import { drizzle as drizzleOnSqlite } from 'drizzle-orm/better-sqlite3';
import { drizzle as drizzleOnMysql } from 'drizzle-orm/mysql2';
import { mysqlTable, varchar } from 'drizzle-orm/mysql-core';
import { drizzle as drizzleOnPostgres } from 'drizzle-orm/node-postgres';
import { type AnyPgColumn, bigint, index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { sqliteTable, text as sqliteText } from 'drizzle-orm/sqlite-core';
import { snowflake, snowflakeReference } from '@raindrop/orm/drizzle';
import { type ColumnName, optionsOfTypes } from '#release';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function same<A, B>(isSame: Same<A, B>): void;

export const orders = pgTable('orders', { id: snowflake().primaryKey(), customer: text().notNull() });
same<InferSelectModel<typeof orders>, { id: string; customer: string }>(true);
same<InferInsertModel<typeof orders>, { id?: string | undefined; customer: string }>(true);

export const bigints = pgTable('orders', { id: snowflake({ as: 'bigint' }).primaryKey() });
same<typeof bigints.$inferSelect, { id: bigint }>(true);
export const numbers = pgTable('orders', { id: snowflake('order_id', { as: 'number' }).primaryKey() });
same<typeof numbers.$inferSelect, { id: number }>(true);
same<typeof numbers.id._.name, ColumnName<'order_id'>>(true);
export const typed = pgTable('orders', { id: snowflake({ prefix: 'order' }).primaryKey() });
same<typeof typed.$inferSelect, { id: `order_${string}` }>(true);
type OrderId = string & { readonly brand: 'OrderId' };
export const branded = pgTable('orders', { id: snowflake().$type<OrderId>().primaryKey() });
same<typeof branded.$inferSelect, { id: OrderId }>(true);

export const lines = pgTable(
  'lines',
  {
    id: snowflake().primaryKey(),
    orderId: snowflakeReference()
      .notNull()
      .references(() => orders.id, { onDelete: 'cascade' }),
    replaces: snowflakeReference('replaces_id').references((): AnyPgColumn => lines.id),
    oldId: bigint({ mode: 'bigint' }).references(() => bigints.id),
  },
  (table) => [index().on(table.orderId), primaryKey({ columns: [table.id, table.orderId] })],
);
same<typeof lines.$inferSelect, { id: string; orderId: string; replaces: string | null; oldId: bigint | null }>(true);
same<
  typeof lines.$inferInsert,
  { orderId: string; id?: string | undefined; replaces?: string | null | undefined; oldId?: bigint | null | undefined }
>(true);

export async function onPostgres(): Promise<void> {
  const db = drizzleOnPostgres('postgres://localhost', optionsOfTypes(orders, lines));
  (await db.insert(orders).values({ customer: 'Ada' }).returning()) satisfies { id: string; customer: string }[];
  const found = await db.query.orders.findFirst({ with: { lines: true } });
  found?.lines[0]?.orderId satisfies string | undefined;
  // @ts-expect-error an ID is never null
  db.insert(orders).values({ id: null, customer: 'Ada' });
  // @ts-expect-error a number would have lost digits
  db.insert(orders).values({ id: 1, customer: 'Ada' });
  // @ts-expect-error the ID of something else
  db.insert(typed).values({ id: 'customer_1' });
  await db
    .insert(orders)
    .values({ id: sql.placeholder('id'), customer: sql.placeholder('customer') })
    .prepare('insert_order')
    .execute({ id: '1', customer: 'Ada' });
}

export async function onMysql(): Promise<void> {
  const orders = mysqlTable('orders', { id: snowflake().primaryKey(), customer: varchar({ length: 40 }).notNull() });
  const lines = mysqlTable('lines', {
    id: snowflake().primaryKey(),
    of: snowflakeReference().references(() => orders.id),
  });
  const db = drizzleOnMysql('mysql://localhost');
  (await db.insert(orders).values({ customer: 'Ada' }).$returningId()) satisfies { id: string }[];
  (await db.select().from(lines)) satisfies { id: string; of: string | null }[];
}

export function onSqlite(): void {
  const orders = sqliteTable('orders', { id: snowflake().primaryKey(), customer: sqliteText().notNull() });
  const lines = sqliteTable('lines', {
    id: snowflake().primaryKey(),
    of: snowflakeReference().references(() => orders.id),
  });
  const db = drizzleOnSqlite(':memory:');
  const { id } = db.insert(orders).values({ customer: 'Ada' }).returning().get();
  db.insert(lines).values({ of: id }).run();
}

// @ts-expect-error a form that does not exist
snowflake({ as: 'text' });
// @ts-expect-error a misspelt option
snowflake({ servise: 'default' });
