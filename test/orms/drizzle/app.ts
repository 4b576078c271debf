/** What an application exports of its database, for `raindrop doctor --app`. `APP` says which database, and how it is read. */
import { mysqlTable } from 'drizzle-orm/mysql-core';
import { drizzle as drizzleOnMysql } from 'drizzle-orm/mysql2';
import { drizzle as drizzleOnPostgres } from 'drizzle-orm/node-postgres';
import { pgTable } from 'drizzle-orm/pg-core';
import pg from 'pg';
import { exactJson, snowflake, snowflakeReference } from '@raindrop/orm/drizzle';
import { optionsOf } from '#release';

interface App {
  readonly kind: string;
  readonly url: string;
  readonly isExact: boolean;
}

const { kind, url, isExact } = JSON.parse(process.env['APP']!) as App;
const table = (kind === 'postgres' ? pgTable : mysqlTable) as typeof pgTable;

export const orders = table('orders', { id: snowflake().primaryKey() });
export const lines = table('lines', {
  id: snowflake().primaryKey(),
  orderId: snowflakeReference('order_id').notNull(),
});

const options = optionsOf({ orders, lines } as never);
if (isExact && kind === 'postgres') pg.types.setTypeParser(pg.types.builtins.JSON, exactJson);
export const db =
  kind === 'postgres'
    ? drizzleOnPostgres(url, options)
    : drizzleOnMysql({ connection: { uri: url, supportBigNumbers: isExact }, ...(options as object) });
