/** The entry for ESM, where Drizzle has other classes than for CommonJS. */

import { SQL } from 'drizzle-orm/sql';
import { MySqlInsertBase, MySqlInsertBuilder } from 'drizzle-orm/mysql-core';
import { PgInsertBase, PgInsertBuilder } from 'drizzle-orm/pg-core';
import { SQLiteInsertBase, SQLiteInsertBuilder } from 'drizzle-orm/sqlite-core';
import { completeInserts } from './drizzle/inserts.js';
import { returnIdsOfCompositeKeys } from './drizzle/returning-id.js';
import { convertTypedValues } from './drizzle/typed-values.js';
import { guardUpserts } from './drizzle/upserts.js';

export * from './drizzle.js';

completeInserts({ PgInsertBuilder, MySqlInsertBuilder, SQLiteInsertBuilder });
guardUpserts({ PgInsertBase, MySqlInsertBase, SQLiteInsertBase });
returnIdsOfCompositeKeys(MySqlInsertBase);
convertTypedValues(SQL);
