import { numberIn, type OldKey, type Query, type TablePath } from './old-key.js';
import { definedColumns, type DefinedColumn } from './mysql-definition.js';
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

interface Column {
  readonly schema: string;
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly definition: DefinedColumn;
  /** All columns of its table. */
  readonly siblings: readonly string[];
  /** The table's columns that are computed from this one, and too narrow for what it will hold. */
  readonly narrow: readonly DefinedColumn[];
  /** Part of the primary key, or unique by itself. */
  readonly isKey: boolean;
}

interface ForeignKey {
  readonly schema: string;
  readonly table: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly target: { readonly schema: string; readonly table: string; readonly columns: readonly string[] };
  readonly rules: string;
}

const INTEGER = /^(tiny|small|medium|big)?int(\(\d+\))?( unsigned)?( zerofill)?$/;

const WIDE = /^bigint(\(\d+\))?$/;

/**
 * On MySQL and MariaDB a column that foreign keys use keeps its type: they are dropped, and made anew when all columns
 * are bigint. AUTO_INCREMENT has to go: after the first new ID it would count on from there, into IDs to come.
 */
export async function readMysqlKey(
  query: Query,
  { schema, name }: TablePath,
  column: string,
  database: 'mysql' | 'mariadb',
): Promise<OldKey> {
  // So that names and texts are quoted in the way in which they are read.
  await query("SET SESSION sql_mode = '', sql_quote_show_create = 1");
  const home = String((await query('SELECT DATABASE() AS home'))[0]?.['home']);
  const place = schema ?? home;
  const key = await readColumn(query, place, name, column);
  if (key === undefined) throw missingColumn({ schema, name }, column);
  refuseWorkerTable(key.table, key.siblings);
  if (!INTEGER.test(key.type)) throw notAnInteger(key.table, key.column, key.type);
  if (!key.isKey) throw notAKey(key.table, key.column);
  if (key.definition.hasComputedDefault) throw makesKeys(key.table, key.column);
  const all = await foreignKeys(query);
  const upwards = all.find(
    (each) => sameTable(each, key) && each.columns.includes(key.column) && !sameTable(each.target, key),
  );
  if (upwards !== undefined) throw refersElsewhere(key.table, key.column, upwards.target.table);

  const columns = [key];
  const used = new Set<ForeignKey>();
  for (const target of columns) {
    for (const each of all.filter((one) => sameTable(one.target, target))) {
      const index = each.target.columns.indexOf(target.column);
      if (index === -1) continue;
      used.add(each);
      const child = (await readColumn(query, each.schema, each.table, each.columns[index]!))!;
      if (!columns.some((one) => sameTable(one, child) && one.column === child.column)) columns.push(child);
    }
  }
  const references = columns.slice(1);
  for (const each of references) if (!WIDE.test(each.type)) refuseSecondParent(each, columns, all);
  for (const { table, column: name, definition } of columns) {
    if (definition.computedFrom !== undefined) throw computedColumn(table, name, definition.computedFrom);
  }
  const drops = [...used].map((each) => ({
    sql: `ALTER TABLE ${pathSql(each, home)} DROP FOREIGN KEY ${quoted(each.name)}`,
  }));
  const adds = [...used].map((each) => ({ sql: addForeignKey(each, home) }));
  const widened = columns.map((each) => ({ sql: modify(each, each.definition.restOfOurs, home) }));
  const from = `FROM ${pathSql(key, home)}`;
  const highestSql = `SELECT CAST(MAX(${quoted(key.column)}) AS CHAR) AS highest ${from}`;
  const [found] = await query(highestSql);
  const { isGenerated } = key.definition;
  return {
    ...{ database, table: key.table, column: key.column, type: key.type, isGenerated, highestSql },
    highest: numberIn(found),
    obstacles: columns.flatMap(obstaclesOf),
    references: references.map(({ table, column: name, type }) => ({ table, column: name, type })),
    steps: {
      up: [...drops, ...widened, ...adds],
      down: isGenerated ? [...drops, { sql: modify(key, key.definition.rest, home) }, ...adds] : [],
    },
  };
}

async function readColumn(query: Query, schema: string, table: string, column: string): Promise<Column | undefined> {
  const [found] = (await query(
    'SELECT c.TABLE_NAME AS name, c.COLUMN_NAME AS col, c.COLUMN_TYPE AS type, c.COLUMN_KEY AS keyed ' +
      'FROM information_schema.COLUMNS c JOIN information_schema.TABLES t ' +
      "ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME AND t.TABLE_TYPE <> 'VIEW' " +
      'WHERE c.TABLE_SCHEMA = ? AND c.TABLE_NAME = ? AND c.COLUMN_NAME = ?',
    [schema, table, column],
  )) as readonly Record<'name' | 'col' | 'type' | 'keyed', string>[];
  if (found === undefined) return undefined;
  // As they are written: names may be given in another case.
  const { name, col, type, keyed } = found;
  const [shown] = await query(`SHOW CREATE TABLE ${quoted(schema)}.${quoted(name)}`);
  const defined = definedColumns(String(shown?.['Create Table']));
  return {
    ...{ schema, table: name, column: col, type: type.toLowerCase() },
    siblings: defined.map((each) => each.name),
    definition: defined.find((each) => each.name === col)!,
    narrow: defined.filter(
      (each) => each.type !== undefined && !WIDE.test(each.type) && each.computedFrom?.includes(quoted(col)) === true,
    ),
    isKey: keyed === 'PRI' || keyed === 'UNI',
  };
}

function obstaclesOf({ table, column, narrow }: Column): string[] {
  return narrow.map(
    ({ name, type }) => `${table}.${name} is computed from ${column} and stays ${type!}: widen it, or drop it`,
  );
}

/** Its type would no longer be that of the other key. */
function refuseSecondParent(child: Column, columns: readonly Column[], all: readonly ForeignKey[]): void {
  for (const { target, ...each } of all) {
    const index = sameTable(each, child) ? each.columns.indexOf(child.column) : -1;
    if (index === -1) continue;
    const parent = target.columns[index]!;
    const isWidened = columns.some((one) => sameTable(one, target) && one.column === parent);
    if (!isWidened) throw refersTwice(child.table, child.column, `${target.table}.${parent}`);
  }
}

async function foreignKeys(query: Query): Promise<ForeignKey[]> {
  const records = (await query(
    'SELECT k.TABLE_SCHEMA AS s, k.TABLE_NAME AS t, k.CONSTRAINT_NAME AS n, k.COLUMN_NAME AS c, ' +
      'k.REFERENCED_TABLE_SCHEMA AS rs, k.REFERENCED_TABLE_NAME AS rt, k.REFERENCED_COLUMN_NAME AS rc, ' +
      'r.DELETE_RULE AS d, r.UPDATE_RULE AS u FROM information_schema.KEY_COLUMN_USAGE k ' +
      'JOIN information_schema.REFERENTIAL_CONSTRAINTS r ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA ' +
      'AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME ' +
      'WHERE k.REFERENCED_TABLE_NAME IS NOT NULL ORDER BY s, t, n, k.ORDINAL_POSITION',
  )) as readonly Record<string, string>[];
  const byName = new Map<string, Record<string, string>[]>();
  for (const each of records) {
    const name = JSON.stringify([each['s'], each['t'], each['n']]);
    byName.set(name, [...(byName.get(name) ?? []), each]);
  }
  return [...byName.values()].map((parts) => {
    const { s, t, n, rs, rt, d, u } = parts[0] as Record<'s' | 't' | 'n' | 'rs' | 'rt' | 'd' | 'u', string>;
    const target = { schema: rs, table: rt, columns: parts.map((part) => part['rc']!) };
    const rules = ` ON DELETE ${d} ON UPDATE ${u}`;
    return { schema: s, table: t, name: n, columns: parts.map((part) => part['c']!), target, rules };
  });
}

function addForeignKey({ name, columns, target, rules, ...place }: ForeignKey, home: string): string {
  const list = (names: readonly string[]): string => names.map(quoted).join(', ');
  const refers = `FOREIGN KEY (${list(columns)}) REFERENCES ${pathSql(target, home)} (${list(target.columns)})`;
  return `ALTER TABLE ${pathSql(place, home)} ADD CONSTRAINT ${quoted(name)} ${refers}${rules}`;
}

/** @param rest everything that is said of the column beside its type */
function modify(column: Column, rest: string, home: string): string {
  return `ALTER TABLE ${pathSql(column, home)} MODIFY ${quoted(column.column)} bigint${rest}`;
}

function sameTable(
  a: { readonly schema: string; readonly table: string },
  b: { readonly schema: string; readonly table: string },
): boolean {
  return a.schema === b.schema && a.table === b.table;
}

/** Without the name of the connection's own database: the migration runs in others as well. */
function pathSql({ schema, table }: { readonly schema: string; readonly table: string }, home: string): string {
  return schema === home ? quoted(table) : `${quoted(schema)}.${quoted(table)}`;
}

function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}
