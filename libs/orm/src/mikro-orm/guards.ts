/** Guards of the query builder and of Kysely: no insert without a key, and no statement that changes the key of a row. */

import type { Platform } from '@mikro-orm/core';
import type { ColumnNode, InsertQueryNode } from 'kysely';
import { InsertRefusedError, type InsertRefusal } from '../ids.js';
import { type Key, lacks, type Row, withIds } from './key.js';

export const ENTITIES =
  'Insert it by em.create() and flush(), em.insert() or em.insertMany(), or give it the ID: ids.nextId().';
export const REWRITTEN = 'would be rewritten in an existing row';

export function refused(key: Key, why: InsertRefusal, what: string, wayOut: string): InsertRefusedError {
  return new InsertRefusedError(key.place, why, `${what}. ${wayOut}`);
}

export interface QueryBuilder {
  insert(data: Row | readonly Row[]): QueryBuilder;
  insertFrom(source: { state?: { fields?: unknown } }, options?: { columns?: unknown }): QueryBuilder;
  onConflict(fields?: unknown): QueryBuilder;
  merge(data?: unknown): QueryBuilder;
  clone(...args: unknown[]): QueryBuilder;
  execute(...args: unknown[]): Promise<unknown>;
}

/** Gives the rows of an insert their keys. Refuses an insert without keys, and a merge that changes the key of a row. */
export function guarded(qb: QueryBuilder, keys: readonly Key[], platform: Platform): QueryBuilder {
  const original = Object.getPrototypeOf(qb) as QueryBuilder;
  const isKey = (names: unknown): Key | undefined =>
    keys.find((key) => [names].flat().some((name) => name === key.name || key.fieldNames.includes(String(name))));
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
      const columns = options?.columns ?? source.state?.fields;
      if (isKey(columns)) return original.insertFrom.call(qb, source, options);
      throw refused(keys[0]!, 'select', 'has no value in the rows of a query', ENTITIES);
    },
    onConflict: (fields) => {
      conflict = [fields];
      return original.onConflict.call(qb, fields);
    },
    merge: (data) => {
      // MariaDB and MySQL merge at a conflict of any unique key, not only of the named one.
      const isSame = isKey(conflict?.[0]) !== undefined && platform.usesReturningStatement();
      const merged = data === undefined ? keys[0]!.name : Array.isArray(data) ? data : Object.keys(data as object);
      const key = isSame ? undefined : isKey(merged);
      if (key === undefined) return original.merge.call(qb, data);
      throw refused(key, 'key-update', REWRITTEN, "Name the others: merge(['customer']).");
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

export interface KyselyOptions {
  readonly processOnCreateHooks?: boolean;
}

export function checkKyselyInsert(node: InsertQueryNode, key: Key, isHooked: boolean): void {
  const isKey = ({ column }: Partial<ColumnNode>): boolean =>
    column?.name === key.name || column?.name === key.fieldNames[0];
  if (!node.columns?.some(isKey)) {
    const wayOut = 'Give it the ID: ids.nextId(), or use em.getKysely({ processOnCreateHooks: true }).';
    throw refused(key, 'unfilled', 'has no value in an insert of Kysely', wayOut);
  }
  if (node.replace === true && isHooked) {
    throw refused(key, 'replace', 'would be another one in a row that is replaced', 'Use onDuplicateKeyUpdate().');
  }
  const updates = [...(node.onConflict?.updates ?? []), ...(node.onDuplicateKey?.updates ?? [])];
  if (updates.some(({ column }) => isKey(column as Partial<ColumnNode>))) {
    throw refused(key, 'key-update', REWRITTEN, 'Leave it out of what is updated.');
  }
}
