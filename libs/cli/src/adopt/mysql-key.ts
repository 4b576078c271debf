import {
  type Candidate,
  computedColumn,
  type KeyPath,
  looseColumns,
  makesKeys,
  missingColumn,
  notAKey,
  notAnInteger,
  numberIn,
  type OldKey,
  type OldKeys,
  type Query,
  refersElsewhere,
  refersTwice,
  refuseWorkerTable,
} from './old-key.js';
import {
  addForeignKey,
  type DefinedColumn,
  definedColumns,
  dropForeignKey,
  type ForeignKey,
  foreignKeys,
  keptOptions,
  literal,
  pathSql,
  type PlacedTable,
  plainIndexes,
  quoted,
  sameTable,
  schemaSql,
  tableOption,
} from './mysql-names.js';

/** MariaDB needs this before a statement on a system-versioned table. */
const WITH_HISTORY = 'SET STATEMENT system_versioning_alter_history = KEEP FOR';

const INTEGER = /^(tiny|small|medium|big)?int(\(\d+\))?( unsigned)?( zerofill)?$/;

/**
 * MySQL and MariaDB do not change the type of a column that a foreign key uses: the foreign keys are dropped, and
 * created again when all columns are bigint. AUTO_INCREMENT is removed: after the first new ID it would count on from
 * that ID.
 */
export async function readMysqlKeys(
  query: Query,
  paths: readonly KeyPath[],
  database: 'mysql' | 'mariadb',
): Promise<OldKeys> {
  // Names and texts are then quoted as this code reads them.
  await query("SET SESSION sql_mode = '', sql_quote_show_create = 1");
  const home = String((await query('SELECT DATABASE() AS home'))[0]?.['home']);
  const keys: Column[] = [];
  for (const path of paths) keys.push(await readKey(query, path, home));
  const all = await foreignKeys(query);
  const { columns, used } = await referringTo(query, keys, all);
  for (const key of keys) refuseReferringKey(key, columns, all);
  const references = columns.slice(keys.length);
  for (const each of references) if (!WIDE.test(each.type)) refuseSecondParent(each, columns, all);
  for (const { table, column: name, definition } of columns) {
    if (definition.computedFrom !== undefined) throw computedColumn(table, name, definition.computedFrom);
  }
  const versioned = columns.filter(({ isVersioned }) => isVersioned);
  const createTable = (place: PlacedTable): string => columns.find((each) => sameTable(each, place))?.createTable ?? '';
  const alter = (place: PlacedTable, sql: string): { readonly sql: string } => {
    const whole = `${sql}${keptOptions(createTable(place))}`;
    // The history of a versioned table is widened with it; the server demands that in each statement.
    return { sql: versioned.some((each) => sameTable(each, place)) ? `${WITH_HISTORY} ${whole}` : whole };
  };
  const drops = used.map((each) => alter(each, dropForeignKey(each, plainIndexes(createTable(each)), home)));
  const adds = used.map((each) => alter(each, addForeignKey(each, home)));
  const counted = keys.filter(({ definition }) => definition.isGenerated);
  const counting = counted.map((each) => {
    const next = tableOption(each.createTable, 'AUTO_INCREMENT');
    const counter = next === undefined ? '' : `, AUTO_INCREMENT = ${next}`;
    return alter(each, `${modify(each, each.definition.rest, home)}${counter}`);
  });
  const changes = columns.map((each) => alter(each, modify(each, each.definition.restWithoutAutoIncrement, home)));
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

/** The keys, the columns that refer to them, those that refer to these, and so on; and their foreign keys. */
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

/** Refuses a key that itself refers to a key which stays: the two must keep one type. */
function refuseReferringKey(key: Column, columns: readonly Column[], all: readonly ForeignKey[]): void {
  for (const each of all) {
    const index = sameTable(each, key) ? each.columns.indexOf(key.column) : -1;
    if (index === -1 || sameTable(each.target, key)) continue;
    if (!isAmong(columns, each.target, each.target.columns[index]!)) {
      throw refersElsewhere(key.table, key.column, each.target.table);
    }
  }
}

/** Refuses a column that also refers to a key which stays: its type would no longer be that of this key. */
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

/** @param rest the definition of the column after its type */
function modify(column: Column, rest: string, home: string): string {
  return `ALTER TABLE ${pathSql(column, home)} MODIFY ${quoted(column.column)} bigint${rest}`;
}

/** Reads every column of the databases with the keys, and the names of all tables there. */
async function readCandidates(
  query: Query,
  keys: readonly PlacedTable[],
): Promise<{ candidates: Candidate[]; tables: string[] }> {
  const schemas = [...new Set(keys.map(({ schema }) => schema))];
  const records = await query(
    'SELECT c.TABLE_NAME AS name, c.COLUMN_NAME AS col, c.COLUMN_TYPE AS type, EXISTS (SELECT 1 FROM ' +
      'information_schema.KEY_COLUMN_USAGE k WHERE k.TABLE_SCHEMA = c.TABLE_SCHEMA AND k.TABLE_NAME = c.TABLE_NAME AND ' +
      'k.COLUMN_NAME = c.COLUMN_NAME AND k.REFERENCED_TABLE_NAME IS NOT NULL) AS linked ' +
      'FROM information_schema.COLUMNS c JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA ' +
      "AND t.TABLE_NAME = c.TABLE_NAME AND t.TABLE_TYPE <> 'VIEW' " +
      `WHERE c.TABLE_SCHEMA IN (${schemas.map(() => '?').join(', ')}) ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION`,
    schemas,
  );
  const candidates = records.map(({ name, col, type, linked }) => ({
    table: String(name),
    column: String(col),
    type: String(type).toLowerCase(),
    isLinked: Number(linked) === 1,
  }));
  return { candidates, tables: [...new Set(candidates.map(({ table }) => table))] };
}

/** A column, with what is known of its table. */
interface Column extends PlacedTable {
  readonly column: string;
  readonly type: string;
  readonly definition: DefinedColumn;
  /** The SHOW CREATE TABLE of its table. */
  readonly createTable: string;
  /** All columns of its table. */
  readonly siblings: readonly string[];
  /** The columns that are computed from this one, and too narrow for new IDs. */
  readonly narrow: readonly DefinedColumn[];
  /** Whether it is part of the primary key, or unique by itself. */
  readonly isKey: boolean;
  /** Whether its table keeps the rows of earlier times. */
  readonly isVersioned: boolean;
}

/** The type that new IDs need. */
const WIDE = /^bigint(\(\d+\))?$/;

/** @returns undefined for a view, and when the column does not exist */
async function readColumn(query: Query, schema: string, table: string, column: string): Promise<Column | undefined> {
  const [found] = (await query(
    'SELECT c.TABLE_NAME AS name, c.COLUMN_NAME AS col, c.COLUMN_TYPE AS type, c.COLUMN_KEY AS keyed, t.TABLE_TYPE AS kind ' +
      'FROM information_schema.COLUMNS c JOIN information_schema.TABLES t ' +
      "ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME AND t.TABLE_TYPE <> 'VIEW' " +
      'WHERE c.TABLE_SCHEMA = ? AND c.TABLE_NAME = ? AND c.COLUMN_NAME = ?',
    [schema, table, column],
  )) as readonly Record<'name' | 'col' | 'type' | 'keyed' | 'kind', string>[];
  if (found === undefined) return undefined;
  // The names as the table has them: the flags may give them in another case.
  const { name, col, type, keyed, kind } = found;
  const [shown] = await query(`SHOW CREATE TABLE ${quoted(schema)}.${quoted(name)}`);
  const createTable = String(shown?.['Create Table']);
  const defined = definedColumns(createTable);
  return {
    schema,
    table: name,
    column: col,
    type: type.toLowerCase(),
    createTable,
    siblings: defined.map((each) => each.name),
    definition: defined.find((each) => each.name === col)!,
    narrow: defined.filter(
      (each) => each.type !== undefined && !WIDE.test(each.type) && each.computedFrom?.includes(quoted(col)) === true,
    ),
    isVersioned: kind === 'SYSTEM VERSIONED',
    isKey: keyed === 'PRI' || keyed === 'UNI',
  };
}

/**
 * SQL that finds rows whose parent row is missing: their foreign key would be dropped, and could not be created again.
 */
function mysqlOrphans({ name, columns, target, ...place }: ForeignKey, home: string): string {
  const pairs = columns.map((each, at) => [quoted(each), quoted(target.columns[at]!)] as const);
  const on = pairs.map(([child, parent]) => `p.${parent} = c.${child}`);
  const says =
    `the foreign key ${name} of ${place.table} could not be made again: some of its rows refer to rows of ${target.table} ` +
    'that are not there. Correct these first';
  return (
    `SELECT ${literal(says)} AS what FROM ${pathSql(place, home)} c LEFT JOIN ${pathSql(target, home)} p ON ${on.join(' AND ')} ` +
    `WHERE ${pairs.map(([child]) => `c.${child} IS NOT NULL`).join(' AND ')} AND p.${pairs[0]![1]} IS NULL LIMIT 1`
  );
}

/** SQL that finds a record when the connection uses another database than the one that was read. */
function mysqlElsewhere(home: string): string {
  const says = `tables of other databases refer to those of ${home}: the migration has to run there`;
  return `SELECT ${literal(says)} AS what FROM DUAL WHERE DATABASE() <> ${literal(home)}`;
}

/** SQL that finds a record when a table has become system-versioned: its history would not be changed with it. */
function mysqlVersionedSince({ schema, table }: PlacedTable, home: string): string {
  return (
    `SELECT ${literal(`${table} is system-versioned by now: run raindrop adopt again`)} AS what FROM information_schema.TABLES ` +
    `WHERE TABLE_SCHEMA = ${schemaSql(schema, home)} AND TABLE_NAME = ${literal(table)} AND TABLE_TYPE = 'SYSTEM VERSIONED'`
  );
}

/**
 * SQL for everything that a table has, one object a record (`what`). After the change the same must be there.
 * @param isVersioned whether the rows of its history are counted as well
 */
function mysqlContents({ schema, table }: PlacedTable, home: string, isVersioned: boolean): string {
  const [at, name] = [schemaSql(schema, home), literal(table)];
  const here = (own: string): string => `TABLE_SCHEMA = ${at} AND ${own} = ${name}`;
  const rows = `${pathSql({ schema, table }, home)}${isVersioned ? ' FOR SYSTEM_TIME ALL' : ''}`;
  return `SELECT CONCAT('foreign key ', k.CONSTRAINT_NAME, ' of ', k.TABLE_SCHEMA, '.', k.TABLE_NAME, ': ', GROUP_CONCAT(CONCAT_WS('.', k.COLUMN_NAME,
  k.REFERENCED_TABLE_SCHEMA, k.REFERENCED_TABLE_NAME, k.REFERENCED_COLUMN_NAME) ORDER BY k.ORDINAL_POSITION), ' ', MAX(r.DELETE_RULE), ' ', MAX(r.UPDATE_RULE)) AS what
FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA
  AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME
WHERE (k.TABLE_SCHEMA = ${at} AND k.TABLE_NAME = ${name} OR k.REFERENCED_TABLE_SCHEMA = ${at} AND k.REFERENCED_TABLE_NAME = ${name})
GROUP BY k.TABLE_SCHEMA, k.TABLE_NAME, k.CONSTRAINT_NAME
UNION ALL SELECT CONCAT('constraint ', CONSTRAINT_NAME, ' of ', TABLE_NAME, ': ', CONSTRAINT_TYPE) FROM information_schema.TABLE_CONSTRAINTS
  WHERE ${here('TABLE_NAME')} AND CONSTRAINT_TYPE <> 'FOREIGN KEY'
UNION ALL SELECT CONCAT('index ', INDEX_NAME, ' of ', TABLE_NAME, ': ', GROUP_CONCAT(CONCAT_WS(' ', COLUMN_NAME, SUB_PART, COLLATION) ORDER BY SEQ_IN_INDEX),
  ' ', MAX(INDEX_TYPE), ' ', MAX(NON_UNIQUE)) FROM information_schema.STATISTICS WHERE ${here('TABLE_NAME')} GROUP BY TABLE_NAME, INDEX_NAME
UNION ALL SELECT CONCAT('trigger ', TRIGGER_NAME, ' of ', EVENT_OBJECT_TABLE) FROM information_schema.TRIGGERS
  WHERE EVENT_OBJECT_SCHEMA = ${at} AND EVENT_OBJECT_TABLE = ${name}
UNION ALL SELECT CONCAT('column ', TABLE_NAME, '.', COLUMN_NAME, ': ', CONCAT_WS(' ', IS_NULLABLE, COLUMN_DEFAULT, COLLATION_NAME,
  TRIM(REPLACE(EXTRA, 'auto_increment', '')), COLUMN_COMMENT)) FROM information_schema.COLUMNS WHERE ${here('TABLE_NAME')}
UNION ALL SELECT CONCAT('table ', TABLE_NAME, ': ', CONCAT_WS(' ', TABLE_TYPE, ENGINE, TABLE_COLLATION, CREATE_OPTIONS, TABLE_COMMENT))
  FROM information_schema.TABLES WHERE ${here('TABLE_NAME')}
UNION ALL SELECT CONCAT('rows of ', ${name}, ': ', COUNT(*)) FROM ${rows}`;
}
