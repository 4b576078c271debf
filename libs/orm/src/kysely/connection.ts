/** The connection: each time a query is sent, it gets new IDs. */

import { UnsafeSnowflakeError } from '@raindrop/core';
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, OperationNode, QueryResult } from 'kysely';
import type { Keys } from '../ids.js';
import { isNewId, isObject, type Tables } from './columns.js';
import { isInsert, rowsOf } from './compiler.js';

/** The drivers that fill, with the names of the keys whose digits they watch. A dialect may return one driver twice. */
const WATCHED = new WeakMap<Driver, Set<string>>();

export function fillingDriver(dialect: Dialect, tables: Tables): Driver {
  const driver = dialect.createDriver();
  const watched = WATCHED.get(driver) ?? new Set();
  for (const name of [...tables.values()].flatMap((columns) => [...columns.keys()])) watched.add(name);
  if (WATCHED.has(driver)) return driver;
  WATCHED.set(driver, watched);
  const tellsKeys = !dialect.createAdapter().supportsReturning;
  const connections = new WeakSet<DatabaseConnection>();
  const acquire = driver.acquireConnection.bind(driver);
  driver.acquireConnection = async (options) => {
    const connection = await acquire(options);
    if (!connections.has(connection)) fill(connection, watched, tellsKeys);
    connections.add(connection);
    return connection;
  };
  return driver;
}

type Options = Parameters<DatabaseConnection['executeQuery']>[1];

/**
 * Replaces the methods of a connection, as Kysely does where it logs queries: a driver expects its own connections back, so
 * they cannot be wrapped.
 * @param tellsKeys whether the database has no `returning`, and reports a key that it made as `insertId`
 */
function fill(connection: DatabaseConnection, watched: ReadonlySet<string>, tellsKeys: boolean): void {
  replace(connection, 'executeQuery', (execute) => async <R>(query: CompiledQuery, options?: Options) => {
    const sent = await withIds(query, options);
    const result = exact(await execute<R>(sent, options), watched);
    return sent === query ? result : { ...result, insertId: insertIdOf(result, query, sent, tellsKeys) };
  });
  replace(
    connection,
    'streamQuery',
    (stream) =>
      async function* <R>(query: CompiledQuery, size: number, options?: Options) {
        const sent = await withIds(query, options);
        for await (const result of stream<R>(sent, size, options)) yield exact(result, watched);
      },
  );
}

/**
 * Replaces a method by what is made of it, now and whenever it is set. Kysely sets methods that log a query around these:
 * the log then shows the IDs.
 */
function replace<Name extends 'executeQuery' | 'streamQuery'>(
  connection: DatabaseConnection,
  name: Name,
  made: (method: DatabaseConnection[Name]) => DatabaseConnection[Name],
): void {
  const filling = (method: DatabaseConnection[Name]): DatabaseConnection[Name] =>
    made(method.bind(connection) as DatabaseConnection[Name]);
  let current = filling(connection[name]);
  Object.defineProperty(connection, name, {
    get: () => current,
    set: (method: DatabaseConnection[Name]) => (current = filling(method)),
    configurable: true,
    enumerable: true,
  });
}

/**
 * Waits for IDs where waiting helps. A query that was aborted meanwhile is not sent, because Kysely could not cancel it any
 * more.
 * @throws the service's error where waiting does not help
 */
async function withIds(query: CompiledQuery, options: Options): Promise<CompiledQuery> {
  const places = new Map<Keys, number[]>();
  for (let index = 0; index < query.parameters.length; index++) {
    const each = query.parameters[index];
    if (!isNewId(each)) continue;
    const its = places.get(each.keys);
    if (its === undefined) places.set(each.keys, [index]);
    else its.push(index);
  }
  if (places.size === 0) return query;
  const parameters = query.parameters.slice();
  for (const [keys, its] of places) {
    const ids = await keys.takeWaiting(its.length);
    for (let index = 0; index < ids.length; index++) parameters[its[index]!] = ids[index];
  }
  options?.signal?.throwIfAborted();
  return { ...query, parameters };
}

/** @throws UnsafeSnowflakeError where the driver gave a key as a number that has lost digits */
function exact<R>(result: QueryResult<R>, watched: ReadonlySet<string>): QueryResult<R> {
  for (const row of result.rows as Record<string, unknown>[]) {
    for (const name of watched) {
      const value = row[name];
      if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
        throw new UnsafeSnowflakeError(name, value, 'database');
      }
    }
  }
  return result;
}

/**
 * Returns a key that MySQL made, such as that of `id auto_increment` with a public ID of ours in its row; else our ID, if a
 * single row was certainly inserted. The `insertId` of SQLite is the row's number, or has lost digits.
 */
function insertIdOf(
  { insertId, numAffectedRows }: QueryResult<unknown>,
  { query, parameters }: CompiledQuery,
  sent: CompiledQuery,
  tellsKeys: boolean,
): bigint | undefined {
  const isOne = numAffectedRows === 1n && insertsOne(query);
  const made = tellsKeys && insertId !== undefined && insertId <= Number.MAX_SAFE_INTEGER ? insertId : undefined;
  if (!isOne && made === undefined) return undefined;
  const ids = sent.parameters.filter((_, index) => isNewId(parameters[index]));
  if (made !== undefined && !ids.some((id) => Number(id) === Number(made))) return made;
  return isOne && ids.length === 1 && /^\d+$/.test(String(ids[0])) ? BigInt(ids[0] as string) : undefined;
}

/** Whether a query inserts one row or none, and this row has one key, an ID of ours. */
function insertsOne(query: OperationNode): boolean {
  if (!isInsert(query) || query.onConflict?.updates || query.onDuplicateKey || query.endModifiers) return false;
  const [row, ...others] = rowsOf(query) ?? [];
  const newId = row?.values.map((each) => (isObject(each) && 'value' in each ? each.value : each)).find(isNewId);
  return others.length === 0 && newId?.isOnlyKey === true;
}
