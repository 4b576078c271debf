/** Guards of the query builder and of Kysely: no insert without a key, and no statement that changes the key of a row. */

import type { Platform } from '@mikro-orm/core';
import type { InsertQueryNode, MergeQueryNode } from 'kysely';
import { InsertRefusedError, type InsertRefusal } from '../ids.js';
import { givenIn, insertsOf, isInsert, placeOf } from '../kysely/compiler.js';
import { changedBy, mergeChanges } from '../kysely/updated-keys.js';
import { keepsKey, keyUpdateRefused } from '../upserts.js';
import { type Key, lacks, type Row, withIds } from './key.js';

export const ENTITIES =
  'Insert it by em.create() and flush(), em.insert() or em.insertMany(), or give it the ID: ids.nextId().';

export function refused(key: Key, why: InsertRefusal, what: string, wayOut: string): InsertRefusedError {
  return new InsertRefusedError(key.place, why, `${what}. ${wayOut}`);
}

export interface QueryBuilder {
  insert(data: Row | readonly Row[]): QueryBuilder;
  /** Not in MikroORM 6. */
  insertFrom?(source: { state?: { fields?: unknown } }, options?: { columns?: unknown }): QueryBuilder;
  onConflict(fields?: unknown): QueryBuilder;
  merge(data?: unknown): QueryBuilder;
  clone(...args: unknown[]): QueryBuilder;
  execute(...args: unknown[]): Promise<unknown>;
}

/** Gives the rows of an insert their keys. Refuses an insert without keys, and a merge that changes the key of a row. */
export function guarded(qb: QueryBuilder, keys: readonly Key[], platform: Platform): QueryBuilder {
  const original = Object.getPrototypeOf(qb) as QueryBuilder;
  let inserted: readonly Row[] = [];
  let conflict: readonly [fields: unknown] | undefined;
  const guards: Partial<QueryBuilder> = {
    insert: (data) => {
      let rows = [data].flat() as readonly Row[];
      for (const key of keys) {
        const count = rows.filter((row) => lacks(key, row)).length;
        if (count > 0) rows = withIds(key, rows, key.customType.keys.take(count));
      }
      inserted = rows;
      return original.insert.call(qb, Array.isArray(data) ? rows : rows[0]!);
    },
    insertFrom: (source, options) => {
      refuseUnselected(keys, source, options);
      return original.insertFrom!.call(qb, source, options);
    },
    onConflict: (fields) => {
      conflict = [fields];
      return original.onConflict.call(qb, fields);
    },
    merge: (data) => {
      // MariaDB and MySQL merge at a conflict of any unique key, not only of the named one.
      const isFoundBy = (key: Key): boolean => isNamed(key, conflict?.[0]) && platform.usesReturningStatement();
      const values = typeof data === 'object' && !Array.isArray(data) ? { ...(data as Row) } : undefined;
      const names = values === undefined ? data : Object.keys(values);
      for (const key of keys) {
        if (names !== undefined && !isNamed(key, names)) continue;
        const { name: column } = key;
        const update = values === undefined ? { sql: `excluded.${column}` } : { value: valueOf(key, values) };
        const given = inserted.map((row) => valueOf(key, row));
        if (!keepsKey({ ...update, tables: [], column, isFoundByKey: isFoundBy(key), given })) {
          throw keyUpdateRefused(key.place, "Name the other properties: merge(['customer']).");
        }
        // The builder would write the value as the application has it.
        for (const each of [column, ...key.fieldNames]) delete values?.[each];
      }
      return original.merge.call(qb, values ?? data);
    },
    execute: async (...args) => {
      const result = await original.execute.apply(qb, args);
      if (inserted.length === 0 || typeof result !== 'object' || result === null || !('insertId' in result))
        return result;
      // SQLite reports its row id.
      const isOne = inserted.length === 1 && conflict === undefined;
      return { ...result, insertId: isOne ? inserted[0]![keys[0]!.name] : undefined };
    },
    clone: (...args) => guarded(original.clone.apply(qb, args), keys, platform),
  };
  for (const [name, guard] of Object.entries(guards)) if (name in original) Object.assign(qb, { [name]: guard });
  return qb;
}

/** Refuses an insert without these keys. The driver makes its inserts by such a builder, of rows that have them. */
export function requiring<Builder extends QueryBuilder>(qb: Builder, keys: readonly Key[]): Builder {
  if (keys.length === 0) return qb;
  // Methods of the class, or guards that the builder has already. MikroORM 6 has no `insertFrom`.
  const [insert, insertFrom, clone] = [qb.insert.bind(qb), qb.insertFrom?.bind(qb), qb.clone.bind(qb)];
  const guards: Pick<QueryBuilder, 'insert' | 'insertFrom' | 'clone'> = {
    insert: (data) => {
      refuseLacking(keys, [data].flat());
      return insert(data);
    },
    insertFrom: (source, options) => {
      refuseUnselected(keys, source, options);
      return insertFrom!(source, options);
    },
    clone: (...args) => requiring(clone(...args), keys),
  };
  return Object.assign(qb, guards);
}

/** @throws InsertRefusedError for a row without one of these keys */
export function refuseLacking(keys: readonly Key[], rows: readonly Row[]): void {
  const key = keys.find((each) => rows.some((row) => lacks(each, row)));
  if (key !== undefined) throw refused(key, 'unfilled', 'has no value in an insert of the driver', ENTITIES);
}

/** @throws InsertRefusedError for an insert from a query that does not select one of these keys */
function refuseUnselected(
  keys: readonly Key[],
  ...[source, options]: Parameters<NonNullable<QueryBuilder['insertFrom']>>
): void {
  const columns = options?.columns ?? source.state?.fields;
  const key = keys.find((each) => !isNamed(each, columns));
  if (key !== undefined) throw refused(key, 'select', 'has no value in the rows of a query', ENTITIES);
}

export interface KyselyOptions {
  readonly processOnCreateHooks?: boolean;
}

/** Whether the names of properties or columns have a key. Most databases ignore the case of names. */
export function isNamed({ name, fieldNames }: Key, names: unknown): boolean {
  const own = [name, ...fieldNames].map((each) => each.toLowerCase());
  return [names].flat().some((each) => own.includes(String(each).toLowerCase()));
}

function valueOf({ name, fieldNames }: Key, row: Row): unknown {
  return row[name] ?? row[fieldNames[0]!];
}

/** Refuses a write of Kysely without a key, and one that changes the key of a row. */
export function checkKysely(node: InsertQueryNode | MergeQueryNode, key: Key): void {
  const names = [key.name, ...key.fieldNames];
  for (const insert of isInsert(node) ? [node] : insertsOf(node)) {
    if (names.some((name) => placeOf(name, insert) >= 0)) continue;
    const wayOut = 'Give it the ID: ids.nextId(), or use em.getKysely({ processOnCreateHooks: true }).';
    throw refused(key, 'unfilled', 'has no value in an insert of Kysely', wayOut);
  }
  for (const name of names) {
    const isChanged = !isInsert(node) && mergeChanges(node, name) ? 'key-update' : undefined;
    const changed = isInsert(node) ? changedBy(node, name, () => givenIn(node, name)) : isChanged;
    if (changed === 'replace') {
      throw refused(key, changed, 'would be another one in a row that is replaced', 'Use onDuplicateKeyUpdate().');
    }
    if (changed !== undefined) throw keyUpdateRefused(key.place, 'Leave it out of what is updated.');
  }
}
