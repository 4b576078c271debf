/** What an application exports of its database, for `raindrop doctor --app`. `APP` says which database, and how it is read. */
import { PrismaMariaDb } from '@prisma/adapter-mariadb';
import { PrismaPg } from '@prisma/adapter-pg';
import { snowflakes } from '@raindrop/orm/prisma';
import pg from 'pg';
import { PrismaClient as OnMysql } from './generated/mysql-BigInt/client/client.js';
import { PrismaClient as OnPostgres } from './generated/postgresql-BigInt/client/client.js';

interface App {
  readonly kind: string;
  readonly url: string;
  readonly isExact: boolean;
}

const { kind, url, isExact } = JSON.parse(process.env['APP']!) as App;
if (!isExact) pg.defaults.parseInt8 = true;
const { hostname: host, port, username: user, password, pathname } = new URL(url);
const address = { host, port: Number(port), user, password, database: pathname.slice(1), bigIntAsNumber: !isExact };

export const prisma =
  kind === 'postgres'
    ? new OnPostgres({ adapter: new PrismaPg({ connectionString: url }) }).$extends(snowflakes())
    : new OnMysql({ adapter: new PrismaMariaDb(address) }).$extends(snowflakes());
