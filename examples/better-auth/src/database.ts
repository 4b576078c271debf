import type { FactoryProvider } from '@nestjs/common';
import { IdService } from '@raindrop/nestjs';
import { sql } from 'drizzle-orm';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';

export const FILE = 'auth.sqlite';
export const DATABASE = Symbol('DATABASE');
export type Database = BetterSQLite3Database;

const TIMES = '"createdAt" integer not null, "updatedAt" integer not null';
const KEY = 'id text primary key not null';
const USER = '"userId" text not null references "user" (id) on delete cascade';
const TABLES = [
  `"user" (${KEY}, name text not null, email text not null unique, "emailVerified" integer not null, image text, ${TIMES})`,
  `session (${KEY}, ${USER}, token text not null unique, "expiresAt" integer not null, "ipAddress" text, "userAgent" text, ${TIMES})`,
  `account (${KEY}, ${USER}, "accountId" text not null, "providerId" text not null, issuer text, "accessToken" text,
    "refreshToken" text, "idToken" text, "accessTokenExpiresAt" integer, "refreshTokenExpiresAt" integer, scope text,
    password text, ${TIMES})`,
  `verification (${KEY}, identifier text not null, value text not null, "expiresAt" integer not null, ${TIMES})`,
  `note (${KEY}, ${USER}, title text not null)`,
];

/** It injects the service, which `snowflake()` finds by itself: so the service is up before anything can insert. */
export const databaseProvider: FactoryProvider<Database> = {
  provide: DATABASE,
  inject: [IdService],
  useFactory: () => {
    const database = drizzle(FILE);
    for (const table of TABLES) database.run(sql.raw(`create table if not exists ${table}`));
    return database;
  },
};
