import { looseColumns } from './loose-columns.js';
import {
  numberIn,
  type KeyPath,
  type MigrationStep,
  type OldKey,
  type OldKeys,
  type Query,
  type TypedColumn,
} from './old-key.js';
import { missingColumn, notAKey, notAnInteger, refersElsewhere, refuseWorkerTable } from './refusals.js';
import { sqliteContents, sqliteRowNumbers } from './sqlite-contents.js';
import { readSqliteTables, same, type SqliteLink, type SqliteTable } from './sqlite-tables.js';

/**
 * SQLite's integers have 64 bits already. The tables are built anew all the same: an INTEGER PRIMARY KEY makes keys of
 * its own when an insert brings none, and TypeORM would find types that differ from the entities'.
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
    ...{ table: each.table, column: each.column, isGenerated },
    isCounted: isGenerated && tables.some(({ name, isCounted }) => isCounted && same(name, each.table)),
  });
  const names = tables.flatMap((each) => each.columns.map(({ column }) => column));
  const guards = keys.filter(({ isGenerated }) => isGenerated).map((each) => sqliteRowNumbers(each, names));
  const obstacles: string[] = [];
  for (const sql of guards) obstacles.push(...(await query(sql)).map(({ what }) => String(what)));
  const touched = tables.filter(({ name }) => columns.some((one) => same(one.table, name)));
  const candidates = tables.flatMap((table) =>
    table.columns.map((each) => ({ ...each, isLinked: links.some(({ from }) => isAt(from, each)) })),
  );
  return {
    ...{ database: 'better-sqlite3', keys, references: columns.slice(keys.length) },
    loose: looseColumns(
      candidates,
      keys,
      tables.map(({ name }) => name),
    ),
    ...{ obstacles, guards, contents: touched.map(({ name }) => sqliteContents(name)) },
    steps: {
      up: columns.map((each) => rebuilt(each, false)),
      again: [],
      down: keys.filter(({ isGenerated }) => isGenerated).map((each) => rebuilt(each, true)),
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
  // A lone integer key is the row's own number, which SQLite fills in.
  const isGenerated = type === 'integer' && table.primary.length === 1 && same(table.primary[0]!, found.column);
  const highest = numberIn((await query(highestSql))[0]);
  return { table: table.name, column: found.column, type, isGenerated, highestSql, highest };
}

/** The columns, those that refer to them, those that refer to these, and so on. */
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

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
