import { snowflake } from '@raindrop/orm/drizzle';
import { sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const orders = sqliteTable('orders', {
  id: snowflake().primaryKey(),
  customer: text().notNull(),
});

export type Order = typeof orders.$inferSelect;
