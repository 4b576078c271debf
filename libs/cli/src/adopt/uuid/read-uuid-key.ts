import type { SupportedDatabase } from '@raindrop/node';
import { type Dialect, dialectOf } from '@raindrop/node/internal';
import { withOldDatabase } from '../read-old-key.js';
import { columnsFor, keyPathsOf, type Query } from '../old-key.js';
import { InputError } from '../../input-error.js';
import { readMysqlUuids } from './mysql-uuid.js';
import { readPostgresUuids } from './postgres-uuid.js';
import { noOrder, notAnOrder, notOnSqlite, notOrders } from './uuid-refusals.js';
import type { UuidKey, UuidKeys, UuidPath } from './uuid-key.js';

/**
 * Reads keys of UUIDs, the columns that refer to them, and the order in which their rows were created; changes nothing.
 * @param tables the value of `--table`
 * @param columns the value of `--column`
 * @param orderBy the value of `--order-by`
 * @returns the keys, and the order of each
 * @throws InputError, CommandFailedError; DatabaseCallError when the database cannot be reached, or refuses
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
    const uuids = await READERS[type](query, asked);
    return { uuids, orders: await ordersOfCreation(query, uuids) };
  });
}

const READERS: Readonly<Record<SupportedDatabase, (query: Query, asked: readonly UuidPath[]) => Promise<UuidKeys>>> = {
  mysql: (query, asked) => readMysqlUuids(query, asked, 'mysql'),
  mariadb: (query, asked) => readMysqlUuids(query, asked, 'mariadb'),
  postgres: readPostgresUuids,
  'better-sqlite3': () => Promise.reject(notOnSqlite()),
};

/** The number of rows, and the order in which they were created. */
interface CreationOrder {
  readonly rows: bigint;
  /** The expression for ORDER BY, over the table `t`. */
  readonly sql: string;
  /** The order in words. */
  readonly about: string;
}

/**
 * Finds the order in which the rows of each key were created: by a column, or by the time in the UUIDs themselves
 * (versions 1, 6 and 7).
 * @throws InputError that names every table without such an order
 */
async function ordersOfCreation(query: Query, { keys, database }: UuidKeys): Promise<CreationOrder[]> {
  const orders: CreationOrder[] = [];
  const refused: InputError[] = [];
  for (const key of keys) {
    try {
      orders.push(await orderOfCreation(query, key, dialectOf(database)));
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      refused.push(error);
    }
  }
  const [first, ...more] = refused;
  if (first !== undefined) throw more.length === 0 ? first : notOrders(refused);
  return orders;
}

async function orderOfCreation(query: Query, uuid: UuidKey, dialect: Dialect): Promise<CreationOrder> {
  const { path, key, hex, orderBy: column } = uuid;
  if (column !== undefined) {
    const name = `t.${dialect.quote(column)}`;
    const [found] = await query(`SELECT COUNT(*) AS total, COUNT(${name}) AS filled FROM ${path} t`).catch(
      (error: unknown) => {
        throw notAnOrder(key.table, column, `it cannot be read (${String((error as Error).message)})`);
      },
    );
    const [rows, filled] = ['total', 'filled'].map((each) => BigInt(String(found?.[each])));
    if (rows !== filled) throw notAnOrder(key.table, column, `it is NULL in ${rows! - filled!} of ${rows} rows`);
    return { rows: rows!, sql: `${name}, ${hex}`, about: `by ${column}, then by the UUID` };
  }
  const found = await query(`SELECT SUBSTR(${hex}, 13, 1) AS version, COUNT(*) AS total FROM ${path} t GROUP BY 1`);
  const rows = found.reduce((sum, { total }) => sum + BigInt(String(total)), 0n);
  const versions = found.map(({ version }) => String(version));
  const sql = versions.length > 1 ? undefined : orderOfVersion(versions[0] ?? '7', hex);
  if (sql === undefined) throw noOrder(key.table, key.column, versions.sort().join(', '));
  return { rows, sql, about: `by the time in the UUIDs, of version ${versions[0] ?? '7'}` };
}

function orderOfVersion(version: string, hex: string): string | undefined {
  if (version === '6' || version === '7') return hex;
  // Version 1 begins with the lowest 32 bits of the time.
  return version === '1' ? `SUBSTR(${hex}, 13, 4), SUBSTR(${hex}, 9, 4), ${hex}` : undefined;
}
