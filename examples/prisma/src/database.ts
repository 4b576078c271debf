import { type FactoryProvider, Inject } from '@nestjs/common';
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3';
import { IdService } from '@raindrop/nestjs';
import { snowflakes } from '@raindrop/orm/prisma';
import { PrismaClient } from './generated/client.js';

export const FILE = 'orders.sqlite';

/** JSON has no bigint, so the application reads keys as text. */
const textKey = { needs: { id: true }, compute: ({ id }: { id: bigint }): string => String(id) } as const;

// eslint-disable-next-line @typescript-eslint/explicit-module-boundary-types -- Prisma derives the type of a client with extensions
async function openDatabase(ids: IdService) {
  const database = new PrismaClient({ adapter: new PrismaBetterSqlite3({ url: `file:${FILE}` }) })
    .$extends(snowflakes(ids))
    .$extends({ result: { order: { id: textKey }, line: { id: textKey } } });
  await database.$executeRaw`create table if not exists "Order" (id bigint not null primary key, customer text not null)`;
  await database.$executeRaw`create table if not exists "Line" (id bigint not null primary key, name text not null,
    "orderId" bigint not null references "Order" (id))`;
  return database;
}

export type Database = Awaited<ReturnType<typeof openDatabase>>;

const DATABASE = Symbol('DATABASE');
export const InjectDatabase = (): ParameterDecorator => Inject(DATABASE);

export const databaseProvider: FactoryProvider<Database> = {
  provide: DATABASE,
  inject: [IdService],
  useFactory: openDatabase,
};
