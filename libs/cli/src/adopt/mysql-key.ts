import { looseColumns } from './loose-columns.js';
import { numberIn, type KeyPath, type OldKey, type OldKeys, type Query } from './old-key.js';
import { readCandidates } from './mysql-candidates.js';
import { readColumn, WIDE, type Column } from './mysql-column.js';
import { addForeignKey, dropForeignKey, foreignKeys, type ForeignKey } from './mysql-foreign-keys.js';
import { mysqlContents, mysqlElsewhere, mysqlOrphans, mysqlVersionedSince } from './mysql-contents.js';
import { pathSql, quoted, sameTable, type PlacedTable } from './mysql-names.js';
import {
  computedColumn,
  makesKeys,
  refuseWorkerTable,
  missingColumn,
  notAKey,
  notAnInteger,
  refersElsewhere,
  refersTwice,
} from './refusals.js';

/** MariaDB's, for a statement on a system-versioned table. */
const WITH_HISTORY = 'SET STATEMENT system_versioning_alter_history = KEEP FOR';

const INTEGER = /^(tiny|small|medium|big)?int(\(\d+\))?( unsigned)?( zerofill)?$/;

/**
 * On MySQL and MariaDB a column that foreign keys use keeps its type: they are dropped, and made anew when all columns
 * are bigint. AUTO_INCREMENT has to go: after the first new ID it would count on from there, into IDs to come.
 */
export async function readMysqlKeys(
  query: Query,
  paths: readonly KeyPath[],
  database: 'mysql' | 'mariadb',
): Promise<OldKeys> {
  // So that names and texts are quoted in the way in which they are read.
  await query("SET SESSION sql_mode = '', sql_quote_show_create = 1");
  const home = String((await query('SELECT DATABASE() AS home'))[0]?.['home']);
  const keys: Column[] = [];
  for (const path of paths) keys.push(await readKey(query, path, home));
  const all = await foreignKeys(query);
  const { columns, used } = await referringTo(query, keys, all);
  for (const key of keys) refuseUpwards(key, columns, all);
  const references = columns.slice(keys.length);
  for (const each of references) if (!WIDE.test(each.type)) refuseSecondParent(each, columns, all);
  for (const { table, column: name, definition } of columns) {
    if (definition.computedFrom !== undefined) throw computedColumn(table, name, definition.computedFrom);
  }
  const versioned = columns.filter(({ isVersioned }) => isVersioned);
  // What a table was like earlier is widened with it; the server wants to be told so in each statement.
  const alter = (place: PlacedTable, sql: string): { readonly sql: string } => ({
    sql: versioned.some((each) => sameTable(each, place)) ? `${WITH_HISTORY} ${sql}` : sql,
  });
  const drops = used.map((each) => alter(each, dropForeignKey(each, home)));
  const adds = used.map((each) => alter(each, addForeignKey(each, home)));
  const counted = keys.filter(({ definition }) => definition.isGenerated);
  const counting = counted.map((each) => alter(each, modify(each, each.definition.rest, home)));
  const changes = columns.map((each) => alter(each, modify(each, each.definition.restOfOurs, home)));
  const tables = columns.filter((each, at) => columns.findIndex((one) => sameTable(one, each)) === at);
  const isApart = [...columns, ...used].some(({ schema }) => schema !== home);
  const old: OldKey[] = [];
  for (const each of keys) old.push(await oldKeyOf(query, each, home));
  const { candidates, tables: names } = await readCandidates(query, keys);
  return {
    database,
    keys: old,
    guards: [
      ...(isApart ? [mysqlElsewhere(home)] : []),
      ...tables.filter(({ isVersioned }) => !isVersioned).map((each) => mysqlVersionedSince(each, home)),
      ...used.map((each) => mysqlOrphans(each, home)),
    ],
    contents: tables.map((each) => mysqlContents(each, home, each.isVersioned)),
    obstacles: columns.flatMap(obstaclesOf),
    references: references.map(({ table, column: name, type }) => ({ table, column: name, type })),
    loose: looseColumns(candidates, keys, names),
    steps: {
      up: [...drops, ...changes, ...adds],
      down: counting.length > 0 ? [...drops, ...counting, ...adds] : [],
      again: adds.map(({ sql }) => sql),
    },
  };
}

async function readKey(query: Query, { schema, name, column }: KeyPath, home: string): Promise<Column> {
  const key = await readColumn(query, schema ?? home, name, column);
  if (key === undefined) throw missingColumn({ schema, name }, column);
  refuseWorkerTable(key.table, key.siblings);
  if (!INTEGER.test(key.type)) throw notAnInteger(key.table, key.column, key.type);
  if (!key.isKey) throw notAKey(key.table, key.column);
  if (key.definition.hasComputedDefault) throw makesKeys(key.table, key.column);
  return key;
}

/** The columns themselves, those that refer to them, those that refer to these, and so on; and the foreign keys. */
async function referringTo(
  query: Query,
  keys: readonly Column[],
  all: readonly ForeignKey[],
): Promise<{ columns: Column[]; used: ForeignKey[] }> {
  const columns = [...keys];
  const used = new Set<ForeignKey>();
  for (const target of columns) {
    for (const each of all.filter((one) => sameTable(one.target, target))) {
      const index = each.target.columns.indexOf(target.column);
      if (index === -1) continue;
      used.add(each);
      const child = (await readColumn(query, each.schema, each.table, each.columns[index]!))!;
      if (!isAmong(columns, child, child.column)) columns.push(child);
    }
  }
  return { columns, used: [...used] };
}

async function oldKeyOf(query: Query, key: Column, home: string): Promise<OldKey> {
  const { table, column, type, definition } = key;
  const highestSql = `SELECT CAST(MAX(${quoted(column)}) AS CHAR) AS highest FROM ${pathSql(key, home)}`;
  const [found] = await query(highestSql);
  return { table, column, type, isGenerated: definition.isGenerated, highestSql, highest: numberIn(found) };
}

function obstaclesOf({ table, column, narrow }: Column): string[] {
  return narrow.map(
    ({ name, type }) => `${table}.${name} is computed from ${column} and stays ${type!}: widen it, or drop it`,
  );
}

/** What refers to a key that stays as it is has that key's type. */
function refuseUpwards(key: Column, columns: readonly Column[], all: readonly ForeignKey[]): void {
  for (const each of all) {
    const index = sameTable(each, key) ? each.columns.indexOf(key.column) : -1;
    if (index === -1 || sameTable(each.target, key)) continue;
    if (!isAmong(columns, each.target, each.target.columns[index]!)) {
      throw refersElsewhere(key.table, key.column, each.target.table);
    }
  }
}

/** Its type would no longer be that of the other key. */
function refuseSecondParent(child: Column, columns: readonly Column[], all: readonly ForeignKey[]): void {
  for (const { target, ...each } of all) {
    const index = sameTable(each, child) ? each.columns.indexOf(child.column) : -1;
    if (index === -1) continue;
    const parent = target.columns[index]!;
    if (!isAmong(columns, target, parent)) throw refersTwice(child.table, child.column, `${target.table}.${parent}`);
  }
}

function isAmong(columns: readonly Column[], table: PlacedTable, column: string): boolean {
  return columns.some((one) => sameTable(one, table) && one.column === column);
}

/** @param rest everything that is said of the column beside its type */
function modify(column: Column, rest: string, home: string): string {
  return `ALTER TABLE ${pathSql(column, home)} MODIFY ${quoted(column.column)} bigint${rest}`;
}
