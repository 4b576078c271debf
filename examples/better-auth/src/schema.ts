import { snowflake, snowflakeReference } from '@raindrop/orm/drizzle';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

const time = () => integer({ mode: 'timestamp_ms' });
const times = { createdAt: time().notNull(), updatedAt: time().notNull() };

export const user = sqliteTable('user', {
  id: snowflake().primaryKey(),
  name: text().notNull(),
  email: text().notNull().unique(),
  emailVerified: integer({ mode: 'boolean' }).notNull(),
  image: text(),
  ...times,
});

const userId = () =>
  snowflakeReference()
    .notNull()
    .references(() => user.id, { onDelete: 'cascade' });

export const session = sqliteTable('session', {
  id: snowflake().primaryKey(),
  userId: userId(),
  token: text().notNull().unique(),
  expiresAt: time().notNull(),
  ipAddress: text(),
  userAgent: text(),
  ...times,
});

export const account = sqliteTable('account', {
  id: snowflake().primaryKey(),
  userId: userId(),
  accountId: text().notNull(),
  providerId: text().notNull(),
  issuer: text(),
  accessToken: text(),
  refreshToken: text(),
  idToken: text(),
  accessTokenExpiresAt: time(),
  refreshTokenExpiresAt: time(),
  scope: text(),
  password: text(),
  ...times,
});

export const verification = sqliteTable('verification', {
  // A text on every database: better-auth gives some of these rows a hash as their key.
  id: text().primaryKey(),
  identifier: text().notNull(),
  value: text().notNull(),
  expiresAt: time().notNull(),
  ...times,
});

export const note = sqliteTable('note', {
  id: snowflake().primaryKey(),
  userId: userId(),
  title: text().notNull(),
});
