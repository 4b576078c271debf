import { withOldDatabase } from '../read-old-key.js';
import { columnsFor, keyPathsOf, type Query } from '../old-key.js';
import { InputError } from '../../input-error.js';
import { readMysqlUuids } from './mysql-uuid.js';
import { readPostgresUuids } from './postgres-uuid.js';
import { noOrder, notAnOrder, notOnSqlite, notOrders } from './uuid-refusals.js';
import type { UuidKey, UuidKeys } from './uuid-key.js';

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

/** How many rows there are, and in which order they were made. */
interface CreationOrder {
  readonly rows: bigint;
  /** For ORDER BY, over the table `t`. */
  readonly sql: string;
  /** The same for people. */
  readonly about: string;
}

/**
 * The order in which the rows of each key were made: by a column, or by the time in the UUIDs themselves (versions 1, 6
 * and 7).
 * @throws InputError when nothing tells it, with every table of which that is so
 */
async function ordersOfCreation(query: Query, { keys, quoted }: UuidKeys): Promise<CreationOrder[]> {
  const orders: CreationOrder[] = [];
  const refused: InputError[] = [];
  for (const key of keys) {
    try {
      orders.push(await orderOfCreation(query, key, quoted));
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      refused.push(error);
    }
  }
  const [first, ...more] = refused;
  if (first !== undefined) throw more.length === 0 ? first : notOrders(refused);
  return orders;
}

async function orderOfCreation(query: Query, uuid: UuidKey, quoted: UuidKeys['quoted']): Promise<CreationOrder> {
  const { path, key, hex, orderBy: column } = uuid;
  if (column !== undefined) {
    const name = `t.${quoted(column)}`;
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
  // Its lowest 32 bits come first.
  return version === '1' ? `SUBSTR(${hex}, 13, 4), SUBSTR(${hex}, 9, 4), ${hex}` : undefined;
}
