/**
 * The rule of upserts: no statement changes the key of a row that it found, be the new key the application's or the
 * service's. Other rows, logs and URLs refer to the row by its key. Example: the row 56 has the email `a`; an upsert of the row 58 with that email updates
 * the row 56, which stays 56.
 *
 * Where the application names what is updated, an update of the key is refused (Kysely, Drizzle, Prisma, the query builder
 * and the merge fields of MikroORM). Where the ORM takes it from the row, or the call means "as the row", the key is left
 * out of the update (`upsert()` of MikroORM, Sequelize, TypeORM). A row that was found by its key has this key already: an
 * update of the key to itself stays allowed.
 */

import { InsertRefusedError } from './ids.js';

/** What an upsert sets a key to. */
export interface KeyUpdate {
  /** The SQL, as far as it is known; otherwise the value. */
  readonly sql?: string | undefined;
  readonly value?: unknown;
  /** The names of the table that is written, as the SQL may have them. */
  readonly tables: readonly string[];
  readonly column: string;
  /** Whether the key is among the columns of the conflict. MySQL and MariaDB name none: they compare all unique ones. */
  readonly isFoundByKey: boolean;
  /** The keys of the new rows; undefined where they are not known. */
  readonly given?: readonly unknown[] | undefined;
}

/** Whether the row that was found keeps its key. SQL that is not understood may change it. */
export function keepsKey({ sql, value, tables, column, isFoundByKey, given = [] }: KeyUpdate): boolean {
  if (sql !== undefined) {
    const text = sql.replace(/["`\s]/g, '').toLowerCase();
    const key = column.toLowerCase();
    const own = [key, ...tables.map((table) => `${table.toLowerCase()}.${key}`)];
    // `last_insert_id(id)` lets MySQL tell the key of the row that was found.
    if (own.some((name) => text === name || text === `last_insert_id(${name})`)) return true;
    return isFoundByKey && text === `excluded.${key}`;
  }
  return isFoundByKey && given.length > 0 && given.every((each) => isSameKey(each, value));
}

/** Whether both are keys, and the same one: 12n, 12 and '12' are. Nothing is called on what is no key. */
export function isSameKey(a: unknown, b: unknown): boolean {
  return isKeyValue(a) && isKeyValue(b) && String(a) === String(b);
}

function isKeyValue(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'bigint' || typeof value === 'number';
}

/** @param wayOut what to write instead; the text says why before it */
export function keyUpdateRefused(place: string, wayOut: string): InsertRefusedError {
  return new InsertRefusedError(
    place,
    'key-update',
    `would be changed in the row that this upsert finds, and what refers to it would be lost. ${wayOut}`,
  );
}
