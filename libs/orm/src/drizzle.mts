/** The entry for ESM, where Drizzle has other classes than for CommonJS. */

import { SQL } from 'drizzle-orm/sql';
import { MySqlInsertBase } from 'drizzle-orm/mysql-core';
import { PgInsertBase } from 'drizzle-orm/pg-core';
import { SQLiteInsertBase } from 'drizzle-orm/sqlite-core';
import { returnIdsOfCompositeKeys } from './drizzle/returning-id.js';
import { convertTypedValues } from './drizzle/typed-values.js';
import { guardUpserts } from './drizzle/upserts.js';

export * from './drizzle.js';

guardUpserts({ PgInsertBase, MySqlInsertBase, SQLiteInsertBase });
returnIdsOfCompositeKeys(MySqlInsertBase);
convertTypedValues(SQL);
