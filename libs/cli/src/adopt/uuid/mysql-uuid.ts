import { missingColumn, type Query, refersElsewhere, refersTwice, refuseWorkerTable } from '../old-key.js';
import { definedColumns, type ForeignKey, foreignKeys, keptOptions, pathSql, quoted } from '../mysql-names.js';
import { type MysqlColumn, type MysqlIndex, type MysqlUuid, readMysqlIndexes } from './mysql-uuid-facts.js';
import { mysqlPhases } from './mysql-uuid-phases.js';
import { firstMysqlNumber } from './mysql-numbers.js';
import {
  inTheWay,
  isAmong,
  nameIsTaken,
  notAUuid,
  notUniqueAlone,
  type ReferencedKey,
  referencedKeys,
} from './uuid-refusals.js';
import { ownName, type Phase, type UuidKeys, type UuidPath } from './uuid-key.js';

interface TableFacts {
  /** Its ON UPDATE columns, which change with every update unless it sets them. */
  readonly touched: readonly string[];
  /** The clause of {@link keptOptions}. */
  readonly options: string;
}

const TYPE = /^(?:uuid|(?:var)?char\((?:32|36)\)|binary\(16\))$/;

/** Reads keys of UUIDs, and the columns that refer to them. */
export async function readMysqlUuids(
  query: Query,
  paths: readonly UuidPath[],
  database: 'mysql' | 'mariadb',
): Promise<UuidKeys> {
  await query("SET SESSION sql_mode = '', sql_quote_show_create = 1");
  const home = String((await query('SELECT DATABASE() AS home'))[0]?.['home']);
  const named: MysqlColumn[] = [];
  for (const path of paths) named.push(await readKey(query, path, home));
  const all = await foreignKeys(query);
  const keys = await referencedKeys(named, (target) => readReferring(query, target, all, home));
  for (const { key, columns } of keys) {
    const apart = columns.find((each) => each.schema !== key.schema);
    if (apart !== undefined) throw inTheWay(`the other database of ${apart.table}`, `${key.table}.${key.column}`);
  }
  const columns = keys.flatMap((each) => each.columns);
  const used = all.filter((each) =>
    each.columns.some((column) => isAmong(columns, { path: pathSql(each, home), column })),
  );
  for (const each of used) refuseSecondParent(each, keys, home);
  const indexes = await readMysqlIndexes(query, columns);
  for (const key of named) refuseShared(key, indexes);
  const tables = new Map<string, TableFacts>();
  for (const each of keys) {
    for (const [path, found] of await refuseMysql(query, each.columns)) tables.set(path, found);
  }
  const touched = new Map([...tables].map(([path, { touched: names }]) => [path, names]));
  const facts: MysqlUuid = { keys, columns, foreignKeys: used, indexes, touched, home };
  return {
    database,
    keys: keys.map(({ key, columns: [, ...references] }) => ({
      path: key.path,
      key,
      references,
      following: references.filter((each) => isAmong(named, each)),
      orderBy: paths[named.indexOf(key)]?.orderBy,
      hex: hexOf(key),
      first: firstMysqlNumber(key.type),
    })),
    phases: (numbers, floor) => {
      const { begin, end, ...phases } = mysqlPhases(facts, numbers, floor);
      const kept = (all: readonly Phase[]): readonly Phase[] => all.map((each) => withOptions(each, tables));
      const { number, forget, swap, back } = phases;
      return { number: kept(number), forget: kept(forget), swap: kept(swap), back: kept(back), begin, end };
    },
  };
}

/** The same phase, whose changes of tables name the options that the server would forget. */
function withOptions({ run, ...phase }: Phase, tables: ReadonlyMap<string, TableFacts>): Phase {
  if (run === undefined) return phase;
  const whole = (sql: string): string => {
    const table = [...tables].find(([path]) => sql.startsWith(`ALTER TABLE ${path} `));
    return `${sql}${table?.[1].options ?? ''}`;
  };
  return { ...phase, run: run.map(whole) };
}

async function readKey(query: Query, { schema, name, column }: UuidPath, home: string): Promise<MysqlColumn> {
  const key = await readColumn(query, schema ?? home, name, column, home);
  if (key === undefined) throw missingColumn({ schema, name }, column);
  const siblings = await query(
    'SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?',
    [key.schema, key.table],
  );
  refuseWorkerTable(
    key.table,
    siblings.map((each) => String(each['name'])),
  );
  const [type] = key.type.split(' ');
  if (!TYPE.test(type!)) throw notAUuid(key.table, key.column, type!);
  return key;
}

function hexOf({ column, type }: MysqlColumn): string {
  const text = type === 'binary(16)' ? `HEX(t.${quoted(column)})` : `CAST(t.${quoted(column)} AS CHAR(36))`;
  return `LOWER(REPLACE(${text}, '-', ''))`;
}

/** Reads the columns with a foreign key to this one. */
async function readReferring(
  query: Query,
  target: MysqlColumn,
  all: readonly ForeignKey[],
  home: string,
): Promise<MysqlColumn[]> {
  const columns: MysqlColumn[] = [];
  for (const each of all.filter((one) => pathSql(one.target, home) === target.path)) {
    const index = each.target.columns.indexOf(target.column);
    const child = each.columns[index];
    if (child !== undefined) columns.push((await readColumn(query, each.schema, each.table, child, home))!);
  }
  return columns;
}

function refuseShared({ path, table, column, isNullable }: MysqlColumn, indexes: readonly MysqlIndex[]): void {
  const isAlone = indexes.some(
    (each) => each.path === path && each.isUnique && each.parts.length === 1 && each.parts[0]!.column === column,
  );
  if (!isAlone || isNullable) throw notUniqueAlone(table, column);
}

function refuseSecondParent(
  { target, columns: children, ...place }: ForeignKey,
  keys: readonly ReferencedKey<MysqlColumn>[],
  home: string,
): void {
  const columns = keys.flatMap((each) => each.columns);
  const [path, parents] = [pathSql(place, home), pathSql(target, home)];
  for (const [index, column] of children.entries()) {
    const parent = target.columns[index]!;
    if (!isAmong(columns, { path, column }) || isAmong(columns, { path: parents, column: parent })) continue;
    const key = keys.find((each) => each.key.path === path && each.key.column === column);
    if (key !== undefined) throw refersElsewhere(key.key.table, column, target.table);
    throw refersTwice(place.table, column, `${target.table}.${parent}`);
  }
}

async function readColumn(
  query: Query,
  schema: string,
  table: string,
  column: string,
  home: string,
): Promise<MysqlColumn | undefined> {
  const [found] = await query(
    'SELECT c.TABLE_NAME AS name, c.COLUMN_NAME AS col, c.COLUMN_TYPE AS type, c.IS_NULLABLE AS nullable, ' +
      'c.COLUMN_DEFAULT AS fallback, c.EXTRA AS extra, c.CHARACTER_SET_NAME AS charset, c.COLLATION_NAME AS collated ' +
      'FROM information_schema.COLUMNS c JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND ' +
      "t.TABLE_NAME = c.TABLE_NAME AND t.TABLE_TYPE <> 'VIEW' WHERE c.TABLE_SCHEMA = ? AND c.TABLE_NAME = ? AND c.COLUMN_NAME = ?",
    [schema, table, column],
  );
  if (found === undefined) return undefined;
  const { name, col, type, nullable, fallback, charset, collated } = found as Record<string, string | null>;
  const letters = charset === null ? '' : ` CHARACTER SET ${charset!} COLLATE ${collated!}`;
  return {
    schema,
    table: name!,
    path: pathSql({ schema, table: name! }, home),
    column: col!,
    type: `${type!.toLowerCase()}${letters}`,
    isNullable: nullable === 'YES',
    fallback: fallback === 'NULL' ? null : fallback!,
  };
}

/**
 * Refuses everything that would go on using the old column, or be lost with it, or has a name that is needed.
 * @returns what is known of the tables, by their paths
 * @throws CommandFailedError
 */
async function refuseMysql(query: Query, columns: readonly MysqlColumn[]): Promise<ReadonlyMap<string, TableFacts>> {
  const tables = new Map<string, TableFacts>();
  const [key] = columns;
  for (const each of columns) {
    const { schema, table, column, path } = each;
    const place = `${table}.${column}`;
    const [shown] = await query(`SHOW CREATE TABLE ${quoted(schema)}.${quoted(table)}`);
    const text = String(shown?.['Create Table']);
    const defined = definedColumns(text);
    const computed = defined.find(({ computedFrom }) => computedFrom?.includes(quoted(column)));
    if (computed !== undefined) throw inTheWay(`the computed column ${computed.name}`, place);
    if (text.includes('PARTITION BY')) throw inTheWay(`the partitioning of ${table}`, place);
    const check = text.split('\n').find((line) => /\bCHECK \(/i.test(line) && line.includes(quoted(column)));
    if (check !== undefined) throw inTheWay(`the check ${check.trim()}`, place);
    const rest = defined.find(({ name }) => name === column)!.rest;
    if (/\bAS\b|\bCOMMENT\b|INVISIBLE/.test(rest)) throw inTheWay(`what ${table} says of it (${rest.trim()})`, place);
    if (each !== key && each.fallback !== null) throw inTheWay(`the default ${each.fallback}`, place);
    await refuseReaders(query, each);
    const needed = [ownName(column), ...(each === key ? [`${column}_uuid`] : [])];
    const taken = needed.find((name) => defined.some((one) => one.name === name));
    if (taken !== undefined) throw nameIsTaken(table, taken);
    const touched = defined.filter(({ rest: said }) => /\bON UPDATE\b/i.test(said)).map(({ name }) => name);
    tables.set(path, { touched, options: keptOptions(text) });
  }
  return tables;
}

async function refuseReaders(query: Query, { schema, table, column }: MysqlColumn): Promise<void> {
  const [trigger] = await query(
    'SELECT TRIGGER_NAME AS name FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = ? AND EVENT_OBJECT_TABLE = ?',
    [schema, table],
  );
  if (trigger !== undefined) throw inTheWay(`the trigger ${String(trigger['name'])}`, `${table}.${column}`);
  const [view] = await query(
    'SELECT TABLE_NAME AS name FROM information_schema.VIEWS WHERE TABLE_SCHEMA = ? AND LOCATE(?, VIEW_DEFINITION) > 0',
    [schema, quoted(table)],
  );
  if (view !== undefined) throw inTheWay(`the view ${String(view['name'])}`, `${table}.${column}`);
}
