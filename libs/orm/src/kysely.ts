/**
 * IDs as the keys of Kysely's inserts: a dialect around the application's own.
 *
 * @module @raindrop/orm/kysely
 */

import { requireSupported } from '@raindrop/node/internal';
import type { Dialect } from 'kysely';
import { newIdsOf, type SnowflakeColumns } from './kysely/columns.js';
import { fillingCompiler } from './kysely/compiler.js';
import { fillingDriver } from './kysely/connection.js';
import { lookingDriver, refuseDefaults, withTables } from './kysely/precision.js';

export { InsertRefusedError, type InsertRefusal, type KeyIds, type KeyOptions } from './ids.js';
export type { SnowflakeColumns } from './kysely/columns.js';
export { checkPrecision, type KyselyLike } from './kysely/precision.js';
export { type PrecisionOptions, type PrecisionReport, RoundedIdsError } from './precision.js';

requireSupported('kysely', () => __filename);

/** A dialect of Kysely. Kysely's own types differ between its ES and CommonJS builds, so they are not named here. */
export interface DialectLike {
  /** Returns the driver, which runs compiled queries. */
  createDriver(): unknown;
  /** Returns the compiler, which makes SQL of queries. */
  createQueryCompiler(): unknown;
  /** Returns the adapter, which knows the abilities of the database. */
  createAdapter(): unknown;
  /** Returns the introspector, which reads the tables of a database. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- Kysely<any>
  createIntrospector(db: any): unknown;
}

/**
 * Gives every row that is inserted through Kysely an ID, unless it has one: `values()` of one row, many or none, with
 * the key left out, undefined or null, `defaultValues()`, in a transaction, in a `with`. A query that was compiled once
 * gives new IDs each time it runs.
 *
 *     const db = new Kysely<Shop>({ dialect: withSnowflakes(dialect, { ids, columns: { orders: ['id'] } }) });
 *
 * The compiler puts a `NewId` into the parameters of the query, and the connection replaces it with an ID when it sends
 * the query. Both work below all plugins. Raw SQL is sent as it is.
 *
 * The first connection also sends the largest ID and compares the result, as {@link checkPrecision} does. If digits are
 * lost, every query of these tables throws a `RoundedIdsError`, and is not sent.
 *
 * @throws ConfigurationError for invalid options
 */
export function withSnowflakes<D extends DialectLike>(
  dialect: D,
  options: SnowflakeColumns,
): Pick<D, keyof DialectLike> {
  const inner = dialect as unknown as Dialect;
  const tables = newIdsOf(options);
  refuseDefaults(() => inner.createAdapter(), tables);
  const outer: Dialect = {
    createQueryCompiler: () => fillingCompiler(inner.createQueryCompiler(), tables),
    createDriver: () => lookingDriver(fillingDriver(inner, tables), inner.createAdapter(), tables),
    createAdapter: () => withTables(inner.createAdapter(), tables),
    createIntrospector: (db) => inner.createIntrospector(db),
  };
  return outer;
}
