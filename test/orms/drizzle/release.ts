/* eslint-disable @typescript-eslint/explicit-module-boundary-types -- Drizzle's types of relations are inferred */
/** What Drizzle 0.45 has in another way than 1.0: test/orms/drizzle-1/release.ts has the same of that. */
import { asc, eq, relations, type SQL, sql } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import { drizzle as sqliteProxy } from 'drizzle-orm/sqlite-proxy';
import { createInsertSchema, createSelectSchema, createUpdateSchema } from 'drizzle-zod';
import type { Account, Accounts, Entries, Entry } from './composite.js';
import type { Id, Tables } from './shop.js';
import type { lines as typedLines, orders as typedOrders } from './types.js';

type TypedOrders = typeof typedOrders;
type TypedLines = typeof typedLines;

export const release: '0.45' | '1.0' = '0.45';
export const zod = { createInsertSchema, createSelectSchema, createUpdateSchema };

/** What becomes of a placeholder of a key that is given null. */
export const nullRefused = { errorCode: 'INVALID_ID' };

/** Options of `drizzle()`: by them `db.query` knows the tables of the shop. */
export function optionsOf({ orders, lines }: Tables) {
  const linesOfOrders = relations(orders, ({ many }) => ({ lines: many(lines) }));
  const ordersOfLines = relations(lines, ({ one }) => ({
    order: one(orders, { fields: [lines.orderId], references: [orders.id] }),
  }));
  // MariaDB has no lateral joins.
  return { schema: { orders, lines, linesOfOrders, ordersOfLines }, mode: 'planetscale' as const };
}

export type Db = NodePgDatabase<ReturnType<typeof optionsOf>['schema']>;

/** Reads the orders with their lines, in the order of their numbers. */
export async function withLines(db: Db): Promise<{ id: Id; lines: { id: Id; orderId: Id }[] }[]> {
  return db.query.orders.findMany({ with: { lines: true }, orderBy: (orders) => asc(orders.number) });
}

/** Reads the orders alone, in the order of their numbers. */
export async function withoutLines(db: Db): Promise<{ id: Id }[]> {
  return db.query.orders.findMany({ orderBy: (orders) => asc(orders.number) });
}

/** Reads the IDs of each order's lines as texts. */
export async function digitsOfLines(db: Db, text: SQL): Promise<string[][]> {
  const found = await db.query.orders.findMany({
    orderBy: (orders) => asc(orders.number),
    with: {
      lines: {
        columns: { id: false, orderId: false },
        extras: (lines) => ({ digits: sql<string>`cast(${lines.id} as ${text})`.as('digits') }),
      },
    },
  });
  return found.map(({ lines }) => lines.map(({ digits }) => digits));
}

/** Options of `drizzle()`: by them `db.query` knows tables with keys of several columns. */
export function optionsOfComposite(accounts: Accounts, entries: Entries) {
  const entriesOf = relations(accounts, ({ many }) => ({ entries: many(entries) }));
  const accountOf = relations(entries, ({ one }) => ({
    account: one(accounts, {
      fields: [entries.tenantId, entries.accountId],
      references: [accounts.tenantId, accounts.id],
    }),
  }));
  return { schema: { accounts, entries, entriesOf, accountOf }, mode: 'planetscale' as const };
}

/** The type of a column's name: the name itself. */
export type ColumnName<Name extends string> = Name;

/** Options of `drizzle()` for the tables of types.ts. */
export function optionsOfTypes(orders: TypedOrders, lines: TypedLines) {
  const ofOrder = relations(orders, ({ many }) => ({ lines: many(lines) }));
  const ofLine = relations(lines, ({ one }) => ({
    order: one(orders, { fields: [lines.orderId], references: [orders.id] }),
  }));
  return { schema: { orders, lines, ofOrder, ofLine } };
}

type CompositeDb = NodePgDatabase<ReturnType<typeof optionsOfComposite>['schema']>;

/** Reads an account with its entries, and an entry with its account. */
export async function compositeRelations(
  of: object,
  { accounts, entries }: { readonly accounts: Accounts; readonly entries: Entries },
  { tenantId, id }: Account,
  entry: Entry,
): Promise<unknown[]> {
  const db = of as CompositeDb;
  const found = await db.query.accounts.findMany({
    where: (account, { and }) => and(eq(accounts.tenantId, tenantId), eq(account.id, id)),
    with: { entries: { orderBy: asc(entries.place) } },
  });
  return [found, await db.query.entries.findFirst({ where: eq(entries.id, entry.id), with: { account: true } })];
}

export type Send = (statement: string, parameters: unknown[]) => Promise<{ rows: unknown[] }>;
export type SendBatch = (queries: { sql: string; params: unknown[] }[]) => Promise<{ rows: unknown[] }[]>;

/** Drizzle over statements that are sent by a function of the application. */
export function remoteSqlite(send: Send, sendBatch?: SendBatch) {
  return sqliteProxy(send as never, sendBatch as never);
}

type SnakeCased = <Table>(makeTable: Table, core: object) => { readonly makeTable: Table; readonly options: object };

/** What makes a table whose columns have names in snake case, and the options of `drizzle()` for it. */
export const snakeCased: SnakeCased = (makeTable) => ({ makeTable, options: { casing: 'snake_case' } });
