import { withOldDatabase } from '../read-old-key.js';
import { columnsFor, keyPathsOf } from '../old-key.js';
import { ordersOfCreation, type CreationOrder } from './order-of-creation.js';
import { readMysqlUuids } from './mysql-uuid.js';
import { readPostgresUuids } from './postgres-uuid.js';
import { notOnSqlite } from './uuid-refusals.js';
import type { UuidKeys } from './uuid-key.js';

/**
 * Looks at keys of UUIDs, at what refers to them, and at the order in which their rows were made; changes nothing.
 * @param tables as `--table` has them, `columns` as `--column`, `orderBy` as `--order-by`
 * @returns the keys, and the order of each
 * @throws InputError, CommandFailedError; DatabaseCallError when the database is out of reach, or refuses
 */
export async function readUuidKeys(
  url: unknown,
  tables: string,
  columns: string,
  orderBy: string | undefined,
): Promise<{ readonly uuids: UuidKeys; readonly orders: readonly CreationOrder[] }> {
  const paths = keyPathsOf(tables, columns);
  const orders = orderBy === undefined ? [] : columnsFor('--order-by', orderBy, paths.length);
  const asked = paths.map((path, at) => ({ ...path, orderBy: orders[at] }));
  return withOldDatabase(url, async (query, type) => {
    if (type === 'better-sqlite3') throw notOnSqlite();
    const uuids =
      type === 'postgres' ? await readPostgresUuids(query, asked) : await readMysqlUuids(query, asked, type);
    return { uuids, orders: await ordersOfCreation(query, uuids) };
  });
}
