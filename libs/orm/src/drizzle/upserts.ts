/** Upserts: no `set` changes the key of a row that exists. */

import { Column, getTableColumns, getTableName, is, Param, SQL, StringChunk, type Table } from 'drizzle-orm';
import { keepsKey, keyUpdateRefused } from '../upserts.js';
import { COLUMNS } from './column.js';
import { type Dialect, nameOf, wordsOf } from './releases.js';
import { type DrizzleClass, replaceMethod } from './replace-method.js';

/** The classes of Drizzle that build inserts. */
interface InsertClasses {
  readonly PgInsertBase: DrizzleClass;
  readonly MySqlInsertBase: DrizzleClass;
  readonly SQLiteInsertBase: DrizzleClass;
}

interface Builder {
  readonly config: { readonly table: Table; readonly values: unknown };
  readonly dialect: Dialect;
}

interface UpsertConfig {
  readonly set: Readonly<Record<string, unknown>>;
  readonly target?: unknown;
}

/**
 * Replaces the methods of Drizzle's builders that update a row which exists: they refuse a `set` that changes a key of ours.
 * A column is not told in which statement it is written.
 */
export function guardUpserts({ PgInsertBase, MySqlInsertBase, SQLiteInsertBase }: InsertClasses): void {
  guard(PgInsertBase, 'onConflictDoUpdate');
  guard(SQLiteInsertBase, 'onConflictDoUpdate');
  guard(MySqlInsertBase, 'onDuplicateKeyUpdate');
}

function guard(builder: DrizzleClass, name: string): void {
  replaceMethod<Builder, [UpsertConfig]>(builder, name, (original) => {
    return function (config) {
      check(this, config);
      return original.call(this, config);
    };
  });
}

function check({ config: { table, values }, dialect }: Builder, { set, target }: UpsertConfig): void {
  for (const [property, column] of Object.entries(getTableColumns(table))) {
    const ours = COLUMNS.get(column);
    const value = set[property];
    if (ours?.isGenerated !== true || value === undefined) continue;
    const name = nameOf(column as Column, dialect);
    const isFoundByKey = [target].flat().some((each) => is(each, Column) && each.name === column.name);
    const rows = Array.isArray(values) ? (values as readonly Readonly<Record<string, unknown>>[]) : [];
    const given = rows.map(({ [property]: key }) => (is(key, Param) ? key.value : key));
    const sql = is(value, Column) || is(value, SQL) ? textOf(value, dialect) : undefined;
    if (keepsKey({ sql, value, tables: [getTableName(table)], column: name, isFoundByKey, given })) continue;
    throw keyUpdateRefused(ours.keys.place, LEAVE_OUT);
  }
}

const LEAVE_OUT =
  'Leave the key out of `set`. If the row is found by its key, `target` may name the key, and `set` give it sql`excluded.id`.';

/** The text of a column, or of SQL without parameters. */
function textOf(part: unknown, dialect: Builder['dialect']): string {
  if (is(part, SQL)) return part.queryChunks.map((each) => textOf(each, dialect)).join('');
  if (is(part, StringChunk)) return wordsOf(part);
  return is(part, Column) ? `${getTableName(part.table)}.${nameOf(part, dialect)}` : '?';
}
