import type { FactoryProvider } from '@nestjs/common';
import { IdService } from '@raindrop/nestjs';
import { type Auth, betterAuth, type BetterAuthOptions } from 'better-auth';
import { drizzleAdapter } from 'better-auth/adapters/drizzle';
import { DATABASE, type Database } from './database.js';
import { account, session, user, verification } from './schema.js';

export const AUTH = Symbol('AUTH');

/** The rows of better-auth get their keys from `ids`, as the application's own rows do. */
function optionsOf(ids: IdService, database: Database): BetterAuthOptions {
  return {
    secret: process.env.BETTER_AUTH_SECRET ?? 'for-trying-out-only-4f8c1b7e92d05a36',
    baseURL: process.env.BETTER_AUTH_URL ?? 'http://127.0.0.1:3009',
    database: drizzleAdapter(database, { provider: 'sqlite', schema: { user, session, account, verification } }),
    emailAndPassword: { enabled: true },
    advanced: { database: { generateId: () => ids.nextString() } },
  };
}

export const authProvider: FactoryProvider<Auth> = {
  provide: AUTH,
  inject: [IdService, DATABASE],
  useFactory: (ids: IdService, database: Database) => betterAuth(optionsOf(ids, database)),
};
