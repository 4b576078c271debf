import { type FactoryProvider, Inject } from '@nestjs/common';
import { IdService } from '@raindrop/nestjs';
import { sql } from 'drizzle-orm';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';

export const FILE = 'orders.sqlite';
export type Database = BetterSQLite3Database;

const DATABASE = Symbol('DATABASE');
export const InjectDatabase = (): ParameterDecorator => Inject(DATABASE);

/** It injects the service, which `snowflake()` finds by itself: so the service is up before anything can insert. */
export const databaseProvider: FactoryProvider<Database> = {
  provide: DATABASE,
  inject: [IdService],
  useFactory: () => {
    const database = drizzle(FILE);
    database.run(sql`create table if not exists orders (id text primary key not null, customer text not null)`);
    return database;
  },
};
