import { publicIds } from '@raindrop/nestjs/public-ids';
import { zodId } from '@raindrop/nestjs/zod';
import { snowflake } from '@raindrop/orm/drizzle';
import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { z } from 'zod';

export const orders = sqliteTable('orders', {
  id: snowflake().primaryKey(),
  customer: text().notNull(),
});

export type Order = typeof orders.$inferSelect;

const codec = publicIds({ keys: { k1: process.env.PUBLIC_ID_KEY_1! }, current: 'k1', purpose: 'order' });

/** Reads the public ID of a request: the handler gets the key of the row. */
export const OrderId = zodId({ codec });

/** What a client sends to place an order. */
export const NewOrder = z.object({ customer: z.string() });
export type NewOrder = z.output<typeof NewOrder>;

/** Makes the answer of a row: the client gets the public ID. */
export const OrderView = z.object({ id: z.invertCodec(OrderId), customer: z.string() });
