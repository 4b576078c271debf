import { dialectOf } from '@raindrop/node/internal';
import {
  CLEAR_AWAY,
  type KeyPath,
  looseColumns,
  type MigrationStep,
  missingColumn,
  notAKey,
  notAnInteger,
  numberIn,
  type OldKey,
  type OldKeys,
  type Query,
  refersElsewhere,
  refuseWorkerTable,
  type TypedColumn,
} from './old-key.js';

/**
 * SQLite's integers have 64 bits already. The tables are rebuilt all the same: an INTEGER PRIMARY KEY makes a key
 * itself when an insert has none, and TypeORM would find types that differ from those of the entities.
 */
export async function readSqliteKeys(query: Query, paths: readonly KeyPath[]): Promise<OldKeys> {
  const tables = await readSqliteTables(query);
  const links = tables.flatMap((each) => each.links);
  const keys: OldKey[] = [];
  for (const path of paths) keys.push(await readKey(query, path, tables));
  const columns = referringTo(keys, links);
  for (const key of keys) {
    const isElsewhere = ({ from, to }: SqliteLink): boolean =>
      isAt(from, key) && !same(to.table, key.table) && !columns.some((each) => isAt(each, to));
    const upwards = links.find(isElsewhere);
    if (upwards !== undefined) throw refersElsewhere(key.table, key.column, upwards.to.table);
  }
  const rebuilt = (each: TypedColumn, isGenerated: boolean): MigrationStep => ({
    table: each.table,
    column: each.column,
    isGenerated,
    isCounted: isGenerated && tables.some(({ name, isCounted }) => isCounted && same(name, each.table)),
  });
  const names = tables.flatMap((each) => each.columns.map(({ column }) => column));
  const made = keys.filter(({ isGenerated }) => isGenerated);
  const guards = made.map((each) => sqliteRowNumbers(each, names));
  const obstacles: string[] = [];
  for (const sql of guards) obstacles.push(...(await query(sql)).map(({ what }) => String(what)));
  const touched = tables.filter(({ name }) => columns.some((one) => same(one.table, name)));
  const candidates = tables.flatMap((table) =>
    table.columns.map((each) => ({ ...each, isLinked: links.some(({ from }) => isAt(from, each)) })),
  );
  const counted: MigrationStep[] = [];
  for (const { table } of made.filter((each) => tables.some((one) => one.isCounted && same(one.name, each.table))))
    counted.push(...(await counterSteps(query, table)));
  return {
    database: 'better-sqlite3',
    keys,
    references: columns.slice(keys.length),
    loose: looseColumns(
      candidates,
      keys,
      tables.map(({ name }) => name),
    ),
    obstacles,
    guards,
    contents: touched.map(({ name }) => sqliteContents(name)),
    steps: {
      up: columns.map((each) => rebuilt(each, false)),
      again: [],
      down: [...made.map((each) => rebuilt(each, true)), ...counted],
    },
  };
}

async function readKey(
  query: Query,
  { schema, name, column }: KeyPath,
  tables: readonly SqliteTable[],
): Promise<OldKey> {
  const isHere = schema === undefined || same(schema, 'main');
  const table = isHere ? tables.find((each) => same(each.name, name)) : undefined;
  const found = table?.columns.find((each) => same(each.column, column));
  if (table === undefined || found === undefined) throw missingColumn({ schema, name }, column);
  refuseWorkerTable(
    table.name,
    table.columns.map((each) => each.column),
  );
  const { type } = found;
  if (!type.includes('int')) throw notAnInteger(table.name, found.column, type === '' ? 'without a type' : type);
  const isKey = [...table.unique, ...table.primary].some((each) => same(each, found.column));
  if (!isKey) throw notAKey(table.name, found.column);
  const place = `FROM ${quoted(table.name)}`;
  const wrong = `SELECT typeof(${quoted(found.column)}) AS type ${place} WHERE typeof(${quoted(found.column)}) <> 'integer'`;
  const [other] = await query(`${wrong} LIMIT 1`);
  if (other !== undefined) throw notAnInteger(table.name, found.column, `${String(other['type'])} in some rows`);
  const highestSql = `SELECT CAST(MAX(${quoted(found.column)}) AS TEXT) AS highest ${place}`;
  // A single integer key is the row's own number, which SQLite fills in.
  const isGenerated = type === 'integer' && table.primary.length === 1 && same(table.primary[0]!, found.column);
  const highest = numberIn((await query(highestSql))[0]);
  return { table: table.name, column: found.column, type, isGenerated, highestSql, highest };
}

/** The steps that give an AUTOINCREMENT its counter back: SQLite drops that with the table, and counts from the rows. */
async function counterSteps(query: Query, table: string): Promise<MigrationStep[]> {
  const [found] = await query('SELECT CAST(seq AS TEXT) AS seq FROM sqlite_sequence WHERE name = ?', [table]);
  if (found === undefined) return [];
  const [name, last] = [literal(table), String(found['seq'])];
  return [
    { sql: `UPDATE sqlite_sequence SET seq = MAX(seq, ${last}) WHERE name = ${name}` },
    {
      sql: `INSERT INTO sqlite_sequence (name, seq) SELECT ${name}, ${last} WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ${name})`,
    },
  ];
}

/** The keys, the columns that refer to them, those that refer to these, and so on. */
function referringTo(keys: readonly TypedColumn[], links: readonly SqliteLink[]): TypedColumn[] {
  const columns = [...keys];
  for (const target of columns) {
    for (const { from, to } of links) {
      if (isAt(to, target) && !columns.some((each) => isAt(each, from))) columns.push(from);
    }
  }
  return columns;
}

function isAt(a: Omit<TypedColumn, 'type'>, b: Omit<TypedColumn, 'type'>): boolean {
  return same(a.table, b.table) && same(a.column, b.column);
}

const quoted = (name: string): string => dialectOf('better-sqlite3').quote(name);

/** A column of a foreign key, and the column to which it refers. */
interface SqliteLink {
  readonly from: TypedColumn;
  readonly to: { readonly table: string; readonly column: string };
}

/** A table. SQLite compares its names without regard to case. */
interface SqliteTable {
  readonly name: string;
  readonly columns: readonly TypedColumn[];
  /** The columns of the primary key. */
  readonly primary: readonly string[];
  /** Columns that are unique by themselves. */
  readonly unique: readonly string[];
  readonly links: readonly SqliteLink[];
  /** Whether it is AUTOINCREMENT: SQLite makes no key twice, not even after a DELETE. */
  readonly isCounted: boolean;
}

/** Every table of the database. */
async function readSqliteTables(query: Query): Promise<SqliteTable[]> {
  const found = await query(
    "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
  );
  const tables: Omit<SqliteTable, 'links'>[] = [];
  for (const { name, sql } of found) tables.push(await readTable(query, String(name), String(sql)));
  const linked: SqliteTable[] = [];
  for (const table of tables) linked.push({ ...table, links: await linksOf(query, table, tables) });
  return linked;
}

function same(a: string, b: string): boolean {
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
      table: name,
      column: String(each['name']),
      type: String(each['type']).toLowerCase(),
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
    // A foreign key that names no column refers to the primary key of the other table.
    const keys = tables.find((each) => same(each.name, String(target)))?.primary ?? [];
    const column = (parent as string | null) ?? keys[Number(seq)];
    return from === undefined || column === undefined ? [] : [{ from, to: { table: String(target), column } }];
  });
}

/** These names read a row's own number, unless a column has that name. */
const OWN_NUMBER = ['rowid', 'oid', '_rowid_'];

/**
 * SQL for everything that reads a row's own number (`what`): until now that number is the key, and after the change it
 * is another one. SQLite has only the texts of triggers and views, so each one counts that names the table and one of
 * the words. Full-text tables over the table's rows count when they do not name the key.
 * @param columns the names of all columns of the database
 */
function sqliteRowNumbers({ table, column }: TypedColumn, columns: readonly string[]): string {
  const words = OWN_NUMBER.filter((word) => !columns.some((each) => each.toLowerCase() === word));
  const says = words.map((word) => `' ' || lower(sql) || ' ' GLOB '*[^a-z0-9_]${word}[^a-z0-9_]*'`);
  const [name, key] = [literal(table.toLowerCase()), literal(column.toLowerCase())];
  const plain = `replace(replace(replace(replace(replace(replace(lower(sql), ' ', ''), char(10), ''), '''', ''), '"', ''), '[', ''), ']', '')`;
  const has = (what: string, value: string): string =>
    `(instr(${plain}, '${what}=' || replace(${value}, ' ', '') || ',') > 0 OR instr(${plain}, '${what}=' || replace(${value}, ' ', '') || ')') > 0)`;
  return `SELECT 'the ' || type || ' ' || name || ' of ' || tbl_name || ' uses the row number (rowid), which will no longer be the value of ' || ${literal(`${table}.${column}`)}
  || ': ' || ${literal(CLEAR_AWAY)} || ', with the key' AS what FROM sqlite_master WHERE type IN ('trigger', 'view')
  AND (lower(tbl_name) = ${name} OR instr(lower(sql), ${name}) > 0) AND (${says.length === 0 ? '0' : says.join(' OR ')})
UNION ALL SELECT 'the full-text table ' || name || ' finds rows of ' || ${literal(table)} || ' by their row numbers (rowid), which will no longer be the values of ' ||
  ${literal(`${table}.${column}`)} || ': ' || ${literal(CLEAR_AWAY)} || ', as fts5 with content_rowid=' || ${literal(column)} FROM sqlite_master
  WHERE type = 'table' AND lower(sql) LIKE 'create virtual%' AND ${has('content', name)} AND NOT (instr(${plain}, 'usingfts5(') > 0 AND ${has('content_rowid', key)})`;
}

/** SQL for everything that a table has, one object a record (`what`). After the rebuild the same must be there. */
function sqliteContents(table: string): string {
  const name = literal(table);
  const link = `COALESCE(f."to", '') || ' ' || f.on_update || ' ' || f.on_delete`;
  return `SELECT 'foreign key of ' || m.name || ': ' || f."from" || ' to ' || f."table" || ' ' || ${link} AS what FROM sqlite_master m
  JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' AND (lower(m.name) = lower(${name}) OR lower(f."table") = lower(${name}))
UNION ALL SELECT 'index of ' || ${name} || ': ' || CASE l.origin WHEN 'c' THEN l.name ELSE '' END || ' ' || l."unique" || l.partial || ' ' ||
  (SELECT group_concat(COALESCE(x.name, '') || x."desc" || x.coll) FROM pragma_index_xinfo(l.name) x WHERE x."key") FROM pragma_index_list(${name}) l WHERE l.origin <> 'pk'
UNION ALL SELECT type || ' ' || name || ' of ' || ${name} || ': ' || sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND tbl_name = ${name} AND sql IS NOT NULL
UNION ALL SELECT 'column ' || ${name} || '.' || name || ': ' || pk || hidden || CASE WHEN pk THEN '' ELSE "notnull" END || COALESCE(dflt_value, '') FROM pragma_table_xinfo(${name})
UNION ALL SELECT 'checks of ' || ${name} || ': ' || (length(sql) - length(replace(upper(sql), 'CHECK', ''))) / 5 FROM sqlite_master WHERE type = 'table' AND name = ${name}
UNION ALL SELECT 'rows of ' || ${name} || ': ' || COUNT(*) FROM ${quoted(table)}
UNION ALL SELECT 'rows of ' || ${name} || ' without their parents: ' || COUNT(*) FROM pragma_foreign_key_check(${name})`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
