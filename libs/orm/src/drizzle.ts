/**
 * IDs as the keys of Drizzle's tables: on PostgreSQL, MySQL and MariaDB, and SQLite.
 *
 *     export const orders = pgTable('orders', { id: snowflake().primaryKey(), customer: text().notNull() });
 *
 * @module @raindrop/orm/drizzle
 */

import { requireSupported } from '@raindrop/node/internal';
import { SQL } from 'drizzle-orm';
import { MySqlInsertBase, MySqlInsertBuilder } from 'drizzle-orm/mysql-core';
import { PgInsertBase, PgInsertBuilder } from 'drizzle-orm/pg-core';
import { SQLiteInsertBase, SQLiteInsertBuilder } from 'drizzle-orm/sqlite-core';
import { completeInserts } from './drizzle/inserts.js';
import { returnIdsOfCompositeKeys } from './drizzle/returning-id.js';
import { convertTypedValues } from './drizzle/typed-values.js';
import { guardUpserts } from './drizzle/upserts.js';
export { type GeneratedColumn, type IdColumn, snowflake, snowflakeReference } from './drizzle/column.js';
export { checkPrecision, type DrizzleDatabase, type DrizzlePrecisionOptions, exactJson } from './drizzle/precision.js';
export { InsertRefusedError, type InsertRefusal, type KeyIds, type KeyOptions } from './ids.js';
export { type PrecisionOptions, type PrecisionReport, RoundedIdsError } from './precision.js';

requireSupported('drizzle-orm', () => __filename);
completeInserts({ PgInsertBuilder, MySqlInsertBuilder, SQLiteInsertBuilder });
guardUpserts({ PgInsertBase, MySqlInsertBase, SQLiteInsertBase });
returnIdsOfCompositeKeys(MySqlInsertBase);
convertTypedValues(SQL);
