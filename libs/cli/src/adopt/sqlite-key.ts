import type { MigrationStep, OldKey, Query, TablePath, TypedColumn } from './old-key.js';
import { missingColumn, notAnInteger, refersElsewhere } from './refusals.js';

/**
 * SQLite's integers have 64 bits already. The tables are built anew all the same: an INTEGER PRIMARY KEY makes keys of
 * its own when an insert brings none, and TypeORM would find types that differ from the entities'.
 */
export async function readSqliteKey(query: Query, { schema, name }: TablePath, column: string): Promise<OldKey> {
  const tables = await query("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  const types = new Map<string, string>();
  const links: { readonly from: TypedColumn; readonly table: string; readonly column: string }[] = [];
  let keys: readonly string[] = [];
  for (const table of tables.map((each) => String(each['name']))) {
    const columns = await query('SELECT name, type, pk FROM pragma_table_info(?)', [table]);
    for (const each of columns) types.set(placeOf(table, String(each['name'])), String(each['type']).toLowerCase());
    const primary = columns.filter((each) => Number(each['pk']) > 0).map((each) => String(each['name']));
    if (same(table, name)) keys = primary;
  }
  for (const table of tables.map((each) => String(each['name']))) {
    for (const link of await query(
      'SELECT "table" AS target, "from" AS child, "to" AS parent FROM pragma_foreign_key_list(?)',
      [table],
    )) {
      const [child, target] = [String(link['child']), String(link['target'])];
      const parent = (link['parent'] as string | null) ?? (same(target, name) ? keys[0] : undefined) ?? 'id';
      links.push({
        from: { table, column: child, type: types.get(placeOf(table, child)) ?? '' },
        table: target,
        column: parent,
      });
    }
  }
  const type = schema === undefined ? types.get(placeOf(name, column)) : undefined;
  if (type === undefined) throw missingColumn({ schema, name }, column);
  if (!type.includes('int')) throw notAnInteger(name, column, type === '' ? 'without a type' : type);
  const upwards = links.find(
    ({ from, table }) => same(from.table, name) && same(from.column, column) && !same(table, name),
  );
  if (upwards !== undefined) throw refersElsewhere(name, column, upwards.table);

  const columns: TypedColumn[] = [{ table: name, column, type }];
  for (const target of columns) {
    for (const { from, ...to } of links) {
      if (!same(to.table, target.table) || !same(to.column, target.column)) continue;
      if (!columns.some((each) => same(each.table, from.table) && same(each.column, from.column))) columns.push(from);
    }
  }
  const references = columns.slice(1);
  const highestSql = `SELECT CAST(MAX(${quoted(column)}) AS TEXT) AS highest FROM ${quoted(name)}`;
  const [found] = await query(highestSql);
  // A lone integer key is the row's own number, which SQLite fills in.
  const isGenerated = type === 'integer' && keys.length === 1 && same(keys[0]!, column);
  const rebuilt = columns.map((each): MigrationStep => ({
    table: each.table,
    column: each.column,
    isGenerated: false,
  }));
  return {
    ...{ database: 'better-sqlite3', table: name, column, type, isGenerated, references, highestSql },
    highest: BigInt((found?.['highest'] as string | null | undefined) ?? 0),
    steps: { up: rebuilt, down: isGenerated ? [{ table: name, column, isGenerated: true }] : [] },
  };
}

function placeOf(table: string, column: string): string {
  return JSON.stringify([table.toLowerCase(), column.toLowerCase()]);
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
