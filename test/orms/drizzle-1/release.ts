/* eslint-disable @typescript-eslint/explicit-module-boundary-types -- Drizzle's types of relations are inferred */
/** What Drizzle 1.0 has in another way than 0.45: test/orms/drizzle/release.ts has the same of that. */
import { defineRelations, type SQL, sql } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import { drizzle as sqliteProxy } from 'drizzle-orm/sqlite-proxy';
import { createInsertSchema, createSelectSchema, createUpdateSchema } from 'drizzle-orm/zod';
import type { Account, Accounts, Entries, Entry } from '../drizzle/composite.js';
import type { Id, Tables } from '../drizzle/shop.js';
import type { lines as typedLines, orders as typedOrders } from '../drizzle/types.js';

type TypedOrders = typeof typedOrders;
type TypedLines = typeof typedLines;

export const release: '0.45' | '1.0' = '1.0';
export const zod = { createInsertSchema, createSelectSchema, createUpdateSchema };

/** What becomes of a placeholder of a key that is given null: Drizzle asks no column, and the database refuses it. */
export const nullRefused = ({ cause }: Error): boolean => /NOT NULL/.test(String(cause));

/** Options of `drizzle()`: by them `db.query` knows the tables of the shop. */
export function optionsOf({ orders, lines }: Tables) {
  const relations = defineRelations({ orders, lines }, (r) => ({
    orders: { lines: r.many.lines() },
    lines: { order: r.one.orders({ from: r.lines.orderId, to: r.orders.id }) },
  }));
  return { relations };
}

export type Db = NodePgDatabase<ReturnType<typeof optionsOf>['relations']>;

/** Reads the orders with their lines, in the order of their numbers. */
export async function withLines(db: Db): Promise<{ id: Id; lines: { id: Id; orderId: Id }[] }[]> {
  return db.query.orders.findMany({ with: { lines: true }, orderBy: { number: 'asc' } });
}

/** Reads the orders alone, in the order of their numbers. */
export async function withoutLines(db: Db): Promise<{ id: Id }[]> {
  return db.query.orders.findMany({ orderBy: { number: 'asc' } });
}

/** Reads the IDs of each order's lines as texts. */
export async function digitsOfLines(db: Db, text: SQL): Promise<string[][]> {
  const found = await db.query.orders.findMany({
    orderBy: { number: 'asc' },
    with: {
      lines: {
        columns: { id: false, orderId: false },
        extras: { digits: (lines) => sql<string>`cast(${lines.id} as ${text})` },
      },
    },
  });
  return found.map(({ lines }) => lines.map(({ digits }) => digits));
}

/** Options of `drizzle()`: by them `db.query` knows tables with keys of several columns. */
export function optionsOfComposite(accounts: Accounts, entries: Entries) {
  const relations = defineRelations({ accounts, entries }, (r) => ({
    accounts: { entries: r.many.entries() },
    entries: {
      account: r.one.accounts({
        from: [r.entries.tenantId, r.entries.accountId],
        to: [r.accounts.tenantId, r.accounts.id],
      }),
    },
  }));
  return { relations };
}

/** The type of a column's name: 1.0 has none. */
export type ColumnName<Name extends string> = Name extends never ? Name : string;

/** Options of `drizzle()` for the tables of types.ts. */
export function optionsOfTypes(orders: TypedOrders, lines: TypedLines) {
  const relations = defineRelations({ orders, lines }, (r) => ({
    orders: { lines: r.many.lines() },
    lines: { order: r.one.orders({ from: r.lines.orderId, to: r.orders.id }) },
  }));
  return { relations };
}

type CompositeDb = NodePgDatabase<ReturnType<typeof optionsOfComposite>['relations']>;

/** Reads an account with its entries, and an entry with its account. */
export async function compositeRelations(
  of: object,
  _tables: object,
  { tenantId, id }: Account,
  entry: Entry,
): Promise<unknown[]> {
  const db = of as CompositeDb;
  const found = await db.query.accounts.findMany({
    where: { tenantId, id },
    with: { entries: { orderBy: { place: 'asc' } } },
  });
  return [found, await db.query.entries.findFirst({ where: { id: entry.id }, with: { account: true } })];
}

export type Send = (statement: string, parameters: unknown[]) => Promise<{ rows: unknown[] }>;
export type SendBatch = (queries: { sql: string; params: unknown[] }[]) => Promise<{ rows: unknown[] }[]>;

/** Drizzle over statements that are sent by a function of the application. */
export function remoteSqlite(send: Send, sendBatch?: SendBatch) {
  const rows: Send = async (statement, parameters) => (await send(statement, parameters)).rows as never;
  return sqliteProxy({ run: send, all: rows, get: rows, batch: sendBatch } as never);
}

/** What makes a table whose columns have names in snake case, and the options of `drizzle()` for it. */
export function snakeCased<Table>(
  _makeTable: Table,
  core: object,
): { readonly makeTable: Table; readonly options: object } {
  return { makeTable: (core as { snakeCase: { table: Table } }).snakeCase.table, options: {} };
}
