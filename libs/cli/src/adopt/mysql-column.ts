import { definedColumns, type DefinedColumn } from './mysql-definition.js';
import { quoted, type PlacedTable } from './mysql-names.js';
import type { Query } from './old-key.js';

/** A column of a table, and what its table says of it. */
export interface Column extends PlacedTable {
  readonly column: string;
  readonly type: string;
  readonly definition: DefinedColumn;
  /** All columns of its table. */
  readonly siblings: readonly string[];
  /** The table's columns that are computed from this one, and too narrow for what it will hold. */
  readonly narrow: readonly DefinedColumn[];
  /** Part of the primary key, or unique by itself. */
  readonly isKey: boolean;
  /** Whether its table keeps the rows of earlier times. */
  readonly isVersioned: boolean;
}

/** The type that new IDs need. */
export const WIDE = /^bigint(\(\d+\))?$/;

/** @returns undefined for a view, and for what is not there */
export async function readColumn(
  query: Query,
  schema: string,
  table: string,
  column: string,
): Promise<Column | undefined> {
  const [found] = (await query(
    'SELECT c.TABLE_NAME AS name, c.COLUMN_NAME AS col, c.COLUMN_TYPE AS type, c.COLUMN_KEY AS keyed, t.TABLE_TYPE AS kind ' +
      'FROM information_schema.COLUMNS c JOIN information_schema.TABLES t ' +
      "ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME AND t.TABLE_TYPE <> 'VIEW' " +
      'WHERE c.TABLE_SCHEMA = ? AND c.TABLE_NAME = ? AND c.COLUMN_NAME = ?',
    [schema, table, column],
  )) as readonly Record<'name' | 'col' | 'type' | 'keyed' | 'kind', string>[];
  if (found === undefined) return undefined;
  // As they are written: names may be given in another case.
  const { name, col, type, keyed, kind } = found;
  const [shown] = await query(`SHOW CREATE TABLE ${quoted(schema)}.${quoted(name)}`);
  const defined = definedColumns(String(shown?.['Create Table']));
  return {
    ...{ schema, table: name, column: col, type: type.toLowerCase() },
    siblings: defined.map((each) => each.name),
    definition: defined.find((each) => each.name === col)!,
    narrow: defined.filter(
      (each) => each.type !== undefined && !WIDE.test(each.type) && each.computedFrom?.includes(quoted(col)) === true,
    ),
    isVersioned: kind === 'SYSTEM VERSIONED',
    isKey: keyed === 'PRI' || keyed === 'UNI',
  };
}
