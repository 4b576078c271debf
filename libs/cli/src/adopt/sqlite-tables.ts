import type { Query, TypedColumn } from './old-key.js';

/** A foreign key's column, and what it refers to. */
export interface SqliteLink {
  readonly from: TypedColumn;
  readonly to: { readonly table: string; readonly column: string };
}

/** A table as it is; names are compared without regard to case. */
export interface SqliteTable {
  readonly name: string;
  readonly columns: readonly TypedColumn[];
  /** The columns of the primary key. */
  readonly primary: readonly string[];
  /** Columns that are unique by themselves. */
  readonly unique: readonly string[];
  readonly links: readonly SqliteLink[];
  /** Whether SQLite counts its keys, and makes none twice after a DELETE. */
  readonly isCounted: boolean;
}

/** Every table of the database. */
export async function readSqliteTables(query: Query): Promise<SqliteTable[]> {
  const found = await query(
    "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
  );
  const tables: Omit<SqliteTable, 'links'>[] = [];
  for (const { name, sql } of found) tables.push(await readTable(query, String(name), String(sql)));
  const linked: SqliteTable[] = [];
  for (const table of tables) linked.push({ ...table, links: await linksOf(query, table, tables) });
  return linked;
}

export function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

async function readTable(query: Query, name: string, sql: string): Promise<Omit<SqliteTable, 'links'>> {
  const columns = await query('SELECT name, type, pk FROM pragma_table_info(?)', [name]);
  const unique = await query(
    'SELECT i.name FROM pragma_index_list(?) l JOIN pragma_index_info(l.name) i WHERE l."unique" = 1 AND l.partial = 0 ' +
      'AND (SELECT COUNT(*) FROM pragma_index_info(l.name)) = 1 AND i.name IS NOT NULL',
    [name],
  );
  return {
    name,
    columns: columns.map((each) => ({
      ...{ table: name, column: String(each['name']), type: String(each['type']).toLowerCase() },
    })),
    primary: columns.filter(({ pk }) => Number(pk) > 0).map((each) => String(each['name'])),
    unique: unique.map((each) => String(each['name'])),
    isCounted: /\bAUTOINCREMENT\b/i.test(sql),
  };
}

async function linksOf(
  query: Query,
  { name, columns }: Omit<SqliteTable, 'links'>,
  tables: readonly Omit<SqliteTable, 'links'>[],
): Promise<SqliteLink[]> {
  const sql =
    'SELECT "table" AS target, seq, "from" AS child, "to" AS parent FROM pragma_foreign_key_list(?) ORDER BY id, seq';
  return (await query(sql, [name])).flatMap(({ target, seq, child, parent }): SqliteLink[] => {
    const from = columns.find((each) => same(each.column, String(child)));
    // Without a column it is the primary key of the other table.
    const keys = tables.find((each) => same(each.name, String(target)))?.primary ?? [];
    const column = (parent as string | null) ?? keys[Number(seq)];
    return from === undefined || column === undefined ? [] : [{ from, to: { table: String(target), column } }];
  });
}
