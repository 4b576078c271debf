import Sqlite from 'better-sqlite3';
import { type Column, type SQL, sql } from 'drizzle-orm';
import { drizzle as drizzleOnSqlite } from 'drizzle-orm/better-sqlite3';
import { mysqlTable, varchar } from 'drizzle-orm/mysql-core';
import { drizzle as drizzleOnMysql } from 'drizzle-orm/mysql2';
import { drizzle as drizzleOnPostgres } from 'drizzle-orm/node-postgres';
import { PgDialect, pgTable, text as pgText } from 'drizzle-orm/pg-core';
import { sqliteTable, text as sqliteText } from 'drizzle-orm/sqlite-core';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { typedId } from '@raindrop/core';
import type { IdProperty } from '@raindrop/core/internal';
import { type IdService, openIdService } from '@raindrop/node';
import { snowflake, snowflakeReference } from '@raindrop/orm/drizzle';
import { type Db, optionsOf } from '#release';

export type DatabaseKind = 'mariadb' | 'mysql' | 'postgres' | 'sqlite';

/** An empty database, as `testDatabase()` gives it. */
export interface GivenDatabase {
  readonly kind: DatabaseKind;
  readonly options: { readonly database: string } & Readonly<Record<'host' | 'port' | 'username' | 'password', string>>;
}

export type Id = string | number | bigint;

/** A form in which the application sees the IDs. */
export interface Form {
  readonly name: string;
  readonly key: { readonly as?: IdProperty; readonly prefix?: string; readonly databaseDefault?: boolean };
  of(digits: string): Id;
}

const typed = typedId('order');

export const forms: readonly Form[] = [
  { name: 'text', key: {}, of: String },
  { name: 'bigint', key: { as: 'bigint' }, of: BigInt },
  { name: 'number', key: { as: 'number' }, of: Number },
  { name: 'typed', key: { prefix: 'order' }, of: (digits) => typed.encode(BigInt(digits)) },
];

/** Tables that one declaration makes for every dialect; their types are those of PostgreSQL. */
function tables(kind: DatabaseKind, { key }: Form) {
  const makeTable = { postgres: pgTable, mariadb: mysqlTable, mysql: mysqlTable, sqlite: sqliteTable }[kind];
  const textOfMysql = (): unknown => varchar({ length: 40 });
  const makeText = { postgres: pgText, mariadb: textOfMysql, mysql: textOfMysql, sqlite: sqliteText }[kind];
  const table = makeTable as unknown as typeof pgTable;
  const text = makeText as unknown as typeof pgText;

  const orders = table('orders', {
    id: snowflake(key).primaryKey(),
    number: text().notNull().unique(),
    customer: text(),
  });
  const lines = table('lines', {
    id: snowflake(key).primaryKey(),
    orderId: snowflakeReference('order_id', key)
      .notNull()
      .references(() => orders.id),
  });
  return { orders, lines };
}

export type Tables = ReturnType<typeof tables>;
export type { Db };

/** A database with empty tables, Drizzle over it, and the service that gives the tables their IDs. */
export class Shop {
  /** What the service has issued, as digits. */
  readonly issued = new Set<string>();

  private constructor(
    readonly form: Form,
    readonly database: GivenDatabase,
    readonly schema: Tables,
    /** Drizzle of the dialect, as if it were PostgreSQL's. */
    readonly db: Db,
    readonly ids: IdService,
    /** Executes a statement by the driver alone. */
    readonly drive: (statement: string, parameters?: unknown[]) => Promise<unknown>,
    private readonly disconnect: () => unknown,
  ) {}

  get kind(): DatabaseKind {
    return this.database.kind;
  }

  /** @param isEmpty whether the tables are to be made */
  static async open(database: GivenDatabase, form: Form, isEmpty = true): Promise<Shop> {
    const { kind } = database;
    const schema = tables(kind, form);
    const opened = connect(database, optionsOf(schema));
    const layout = form.key.as === 'number' ? { layout: 'number' as const } : {};
    const ids = await openIdService({ dbConfig: database.options as never, logger: SILENT, ...layout });
    const shop = new Shop(form, database, schema, opened.db, ids, opened.drive, opened.disconnect);
    shop.watch('nextId');
    shop.watch('nextString');
    if (!isEmpty) return shop;
    const { orders, lines } = schema;
    const text = kind === 'mariadb' ? 'varchar(40)' : 'text';
    const id = `id ${orders.id.getSQLType()} primary key not null${defaultIn(orders.id)}`;
    await shop.drive(`create table orders (${id}, number ${text} not null unique, customer ${text})`);
    const orderId = `order_id ${lines.orderId.getSQLType()} not null references orders (id)`;
    await shop.drive(`create table ${kind === 'mariadb' ? '`lines`' : 'lines'} (${id}, ${orderId})`);
    return shop;
  }

  /** The IDs of all rows, from the smallest, as the database writes them. */
  async stored(table: 'orders' | 'lines' = 'orders'): Promise<string[]> {
    const type = this.kind === 'mariadb' ? sql`char` : sql`text`;
    const { id } = this.schema[table];
    const rows = await this.db.select({ digits: sql<string>`cast(${id} as ${type})` }).from(this.schema[table]);
    return rows.map(({ digits }) => digits).sort((one, other) => (BigInt(one) < BigInt(other) ? -1 : 1));
  }

  async close(): Promise<void> {
    await this.ids.close();
    await this.disconnect();
  }

  private watch(method: 'nextId' | 'nextString'): void {
    const issue = this.ids[method].bind(this.ids) as (code?: string) => string;
    const noted = (code?: string): string => {
      const id = issue(code);
      this.issued.add(String(id));
      return id;
    };
    Object.defineProperty(this.ids, method, { value: noted, configurable: true });
  }
}

/** The default of a column in SQL, as drizzle-kit writes it. */
export function defaultIn(column: Column): string {
  return column.default === undefined ? '' : ` default ${new PgDialect().sqlToQuery(column.default as SQL).sql}`;
}

export interface Connected {
  readonly db: Db;
  drive(statement: string, parameters?: unknown[]): Promise<unknown>;
  disconnect(): unknown;
}

/**
 * @param drizzle options of `drizzle()`
 * @param settings of mysql2, in place of the one that keeps digits
 */
export function connect({ kind, options }: GivenDatabase, drizzle: object = {}, settings = EXACT): Connected {
  const { host, port, username: user, password, database } = options;
  const address = { host, port: Number(port), user, password, database };
  if (kind === 'postgres') {
    const pool = new pg.Pool(address);
    return {
      db: drizzleOnPostgres({ client: pool, ...drizzle }) as unknown as Db,
      drive: (statement, parameters) => pool.query(statement, parameters),
      disconnect: () => pool.end(),
    };
  }
  if (kind === 'sqlite') {
    const file = new Sqlite(database);
    return {
      db: drizzleOnSqlite({ client: file, ...drizzle }) as unknown as Db,
      drive: (statement, parameters = []) => Promise.resolve().then(() => file.prepare(statement).run(...parameters)),
      disconnect: () => file.close(),
    };
  }
  const pool = mysql.createPool({ ...address, ...settings });
  return {
    db: drizzleOnMysql({ client: pool, ...drizzle }) as unknown as Db,
    drive: (statement, parameters) => pool.query(statement, parameters),
    disconnect: () => pool.end(),
  };
}

const SILENT = { log: () => {}, warn: () => {}, error: () => {} };
const EXACT: mysql.PoolOptions = { supportBigNumbers: true };
