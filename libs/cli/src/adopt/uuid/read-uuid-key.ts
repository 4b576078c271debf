import { withOldDatabase } from '../read-old-key.js';
import { keyPathsOf } from '../old-key.js';
import { InputError } from '../../input-error.js';
import { orderOfCreation, type CreationOrder } from './order-of-creation.js';
import { readMysqlUuid } from './mysql-uuid.js';
import { readPostgresUuid } from './postgres-uuid.js';
import { notOnSqlite } from './uuid-refusals.js';
import type { UuidKey } from './uuid-key.js';

/**
 * Looks at a key of UUIDs, at what refers to it, and at the order in which its rows were made; changes nothing.
 * @throws InputError, CommandFailedError; DatabaseCallError when the database is out of reach, or refuses
 */
export async function readUuidKey(
  url: unknown,
  table: string,
  column: string,
  orderBy: string | undefined,
): Promise<{ readonly uuid: UuidKey; readonly order: CreationOrder }> {
  const [path, ...others] = keyPathsOf(table, column);
  if (others.length > 0) throw new InputError(`--from uuid takes one table at a time, not ${table}`);
  return withOldDatabase(url, async (query, type) => {
    if (type === 'better-sqlite3') throw notOnSqlite();
    const uuid = type === 'postgres' ? await readPostgresUuid(query, path!) : await readMysqlUuid(query, path!, type);
    return { uuid, order: await orderOfCreation(query, uuid, orderBy) };
  });
}
