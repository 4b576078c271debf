/** Inserts that leave out the key: of columns by name, and from a query. */

import { getTableColumns, is, SQL, type Table } from 'drizzle-orm';
import { InsertRefusedError } from '../ids.js';
import { COLUMNS } from './column.js';
import { type DrizzleClass, replaceMethod } from './replace-method.js';

/** The classes that `db.insert()` returns. */
interface IntoClasses {
  readonly PgInsertBuilder: DrizzleClass;
  readonly MySqlInsertBuilder: DrizzleClass;
  readonly SQLiteInsertBuilder: DrizzleClass;
}

interface Into {
  readonly table: Table;
  /** The properties that `db.insert(orders, 'number')` of Drizzle 1.0 names. */
  columnList?: readonly string[];
}

interface Insert {
  readonly config: { readonly values: unknown };
}

/**
 * Replaces `values()` and `select()` of Drizzle's builders. `db.insert(orders, 'number').values()` fills the key, which is
 * not named. An insert from a query without the key is refused: the rows would get none, or one of the database's own.
 * Drizzle 0.45 has no names there and refuses such a query itself.
 */
export function completeInserts({ PgInsertBuilder, MySqlInsertBuilder, SQLiteInsertBuilder }: IntoClasses): void {
  for (const builder of [PgInsertBuilder, MySqlInsertBuilder, SQLiteInsertBuilder]) {
    replaceMethod<Into, [rows: unknown]>(builder, 'values', (original) => {
      return function (rows) {
        if (this.columnList !== undefined) {
          const names = generated(this.table).map(([name]) => name);
          this.columnList = [...new Set([...this.columnList, ...names])];
        }
        return original.call(this, rows);
      };
    });
    replaceMethod<Into, [query: unknown]>(builder, 'select', (original) => {
      return function (query) {
        const insert = original.call(this, query) as Insert;
        const names = namesOf(insert.config.values) ?? this.columnList;
        for (const [name, place] of generated(this.table)) {
          if (names?.includes(name) === false) throw new InsertRefusedError(place, 'select', WAY_OUT);
        }
        return insert;
      };
    });
  }
}

const WAY_OUT =
  'has no value in the rows of a query. Read the rows and insert them by values(), or select the ID as well, for one row: ' +
  "sql`${ids.nextString()}`.as('id').";

/** The properties that a query selects; undefined for raw SQL, which gives the columns of the list, or all. */
function namesOf(query: unknown): string[] | undefined {
  if (is(query, SQL)) return undefined;
  return Object.keys((query as { readonly _: { readonly selectedFields: object } })._.selectedFields);
}

/** The columns of a table that get IDs: each property, with its place for messages. */
function generated(table: Table): (readonly [name: string, place: string])[] {
  return Object.entries(getTableColumns(table)).flatMap(([name, column]) => {
    const ours = COLUMNS.get(column);
    return ours?.isGenerated === true ? [[name, ours.keys.place] as const] : [];
  });
}
