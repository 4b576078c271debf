import { CLEAR_AWAY, type TypedColumn } from './old-key.js';

/** By these names a row's own number is read, unless a column has one of them. */
const OWN_NUMBER = ['rowid', 'oid', '_rowid_'];

/**
 * SQL for what reads a row's own number (`what`): it was the key's, and is another one as soon as the key is Raindrop's.
 * SQLite keeps no list of what depends on what, only texts: any trigger or view is meant that names the table and one of
 * the words; and full-text tables over the table's rows that do not name the key.
 * @param columns the names of all columns of the database
 */
export function sqliteRowNumbers({ table, column }: TypedColumn, columns: readonly string[]): string {
  const words = OWN_NUMBER.filter((word) => !columns.some((each) => each.toLowerCase() === word));
  const says = words.map((word) => `' ' || lower(sql) || ' ' GLOB '*[^a-z0-9_]${word}[^a-z0-9_]*'`);
  const [name, key] = [literal(table.toLowerCase()), literal(column.toLowerCase())];
  const plain = `replace(replace(replace(replace(replace(replace(lower(sql), ' ', ''), char(10), ''), '''', ''), '"', ''), '[', ''), ']', '')`;
  const has = (what: string, value: string): string =>
    `(instr(${plain}, '${what}=' || replace(${value}, ' ', '') || ',') > 0 OR instr(${plain}, '${what}=' || replace(${value}, ' ', '') || ')') > 0)`;
  return `SELECT 'the ' || type || ' ' || name || ' of ' || tbl_name || ' reads row numbers (rowid), which are those of ' || ${literal(`${table}.${column}`)}
  || ' no longer: ' || ${literal(CLEAR_AWAY)} || ', by the key' AS what FROM sqlite_master WHERE type IN ('trigger', 'view')
  AND (lower(tbl_name) = ${name} OR instr(lower(sql), ${name}) > 0) AND (${says.length === 0 ? '0' : says.join(' OR ')})
UNION ALL SELECT 'the full-text table ' || name || ' finds rows of ' || ${literal(table)} || ' by their numbers (rowid), which are those of ' ||
  ${literal(`${table}.${column}`)} || ' no longer: ' || ${literal(CLEAR_AWAY)} || ', as fts5 with content_rowid=' || ${literal(column)} FROM sqlite_master
  WHERE type = 'table' AND lower(sql) LIKE 'create virtual%' AND ${has('content', name)} AND NOT (instr(${plain}, 'usingfts5(') > 0 AND ${has('content_rowid', key)})`;
}

/** SQL for all that a table has, an object each (`what`): the same has to be there after it has been built anew. */
export function sqliteContents(table: string): string {
  const name = literal(table);
  const link = `COALESCE(f."to", '') || ' ' || f.on_update || ' ' || f.on_delete`;
  return `SELECT 'foreign key of ' || m.name || ': ' || f."from" || ' to ' || f."table" || ' ' || ${link} AS what FROM sqlite_master m
  JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' AND (lower(m.name) = lower(${name}) OR lower(f."table") = lower(${name}))
UNION ALL SELECT 'index of ' || ${name} || ': ' || CASE l.origin WHEN 'c' THEN l.name ELSE '' END || ' ' || l."unique" || l.partial || ' ' ||
  (SELECT group_concat(COALESCE(x.name, '') || x."desc" || x.coll) FROM pragma_index_xinfo(l.name) x WHERE x."key") FROM pragma_index_list(${name}) l WHERE l.origin <> 'pk'
UNION ALL SELECT type || ' ' || name || ' of ' || ${name} || ': ' || sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND tbl_name = ${name} AND sql IS NOT NULL
UNION ALL SELECT 'column ' || ${name} || '.' || name || ': ' || pk || hidden || CASE WHEN pk THEN '' ELSE "notnull" END || COALESCE(dflt_value, '') FROM pragma_table_xinfo(${name})
UNION ALL SELECT 'checks of ' || ${name} || ': ' || (length(sql) - length(replace(upper(sql), 'CHECK', ''))) / 5 FROM sqlite_master WHERE type = 'table' AND name = ${name}
UNION ALL SELECT 'rows of ' || ${name} || ': ' || COUNT(*) FROM "${table.replaceAll('"', '""')}"
UNION ALL SELECT 'rows of ' || ${name} || ' without their parents: ' || COUNT(*) FROM pragma_foreign_key_check(${name})`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
