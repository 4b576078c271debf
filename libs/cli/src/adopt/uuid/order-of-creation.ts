import type { Query } from '../old-key.js';
import { noOrder, notAnOrder } from './uuid-refusals.js';
import type { UuidKey } from './uuid-key.js';

/** How many rows there are, and in which order they were made. */
export interface CreationOrder {
  readonly rows: bigint;
  /** For ORDER BY, over the table `t`. */
  readonly sql: string;
  /** The same for people. */
  readonly about: string;
}

/**
 * The order in which rows were made: by a column, or by the time in the UUIDs themselves (versions 1, 6 and 7).
 * @throws InputError when nothing tells it
 */
export async function orderOfCreation(query: Query, uuid: UuidKey, column?: string): Promise<CreationOrder> {
  const { path, key, hex } = uuid;
  if (column !== undefined) {
    const name = `t.${uuid.quoted(column)}`;
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
