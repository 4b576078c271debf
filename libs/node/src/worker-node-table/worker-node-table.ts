import type { SupportedDatabase } from '../database/supported-database.js';
import { type Table, type TableKind, tableSql } from '../tables/table-kind.js';
import { bindings, type Family, quoteTable, type RunSql, type Statement } from '../database/dialect.js';

/** With 17 bits, 131,072 worker ids last ten years of 35 starts a day. With fewer they are used up too soon. */
export const DISPOSABLE_MIN_WORKER_BITS = 17;

/** Characters kept of a host's name, as many as uid-generator keeps. */
export const HOST_NAME_LENGTH = 64;

const NO_KEY = 'its id alone is not a primary or unique key';

/** The comments and the quoted texts of a statement. */
const NO_WORDS = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]/g;

/** The table of starts, one row each. Its columns are those of uid-generator. */
export const WORKER_NODE_TABLE: TableKind = {
  name: 'workerNode',
  title: 'table of starts',
  defaultName: 'raindrop_worker_node',
  columns: [
    { name: 'id', kind: 'counter' },
    { name: 'host_name', kind: { text: HOST_NAME_LENGTH } },
    { name: 'port', kind: { text: 64 } },
    { name: 'type', kind: 'int' },
    { name: 'launch_date', kind: 'time', defaultValue: 'now' },
    { name: 'modified', kind: 'time', defaultValue: 'touched' },
    { name: 'created', kind: 'time', defaultValue: 'now' },
  ],
  key: [],
  options: 'tableOptions',
  flaw: (run, table) => COUNTER_FLAWS[table.dialect.family](run, table),
};

/**
 * Returns the statements that create the table of starts, for `workerIdAssigner: 'disposable'`. Raindrop runs the same
 * ones at the first start; an operator may run them by hand before.
 *
 * @param tableName `table` or `schema.table`, by default `raindrop_worker_node`
 * @throws UnsupportedDatabaseError, InvalidTableNameError
 */
export function workerNodeTableSql(type: SupportedDatabase, tableName?: string): string[] {
  return tableSql(WORKER_NODE_TABLE, type, tableName);
}

/** Each says why an id of this table could come twice; undefined when none can. */
const COUNTER_FLAWS: Readonly<Record<Family, NonNullable<TableKind['flaw']>>> = {
  mysql: mysqlFlaw,
  postgres: postgresFlaw,
  sqlite: sqliteFlaw,
};

/** The id must be an identity column, or its default must be the next value of a sequence and nothing else. */
async function postgresFlaw(run: RunSql, { dialect, name }: Table): Promise<string | undefined> {
  const sql = `
    SELECT
      (SELECT COUNT(*) FROM pg_index i WHERE i.indrelid = t.oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
        AND i.indnkeyatts = 1 AND i.indkey[0] = c.attnum) AS keys,
      (SELECT COUNT(*) FROM pg_sequence s WHERE NOT s.seqcycle AND s.seqincrement > 0 AND s.seqrelid IN (
        SELECT d.objid FROM pg_depend d WHERE c.attidentity <> '' AND d.deptype = 'i'
          AND d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass
          AND d.refobjid = t.oid AND d.refobjsubid = c.attnum
        UNION SELECT d.refobjid FROM pg_depend d JOIN pg_attrdef f ON d.objid = f.oid
          WHERE d.classid = 'pg_attrdef'::regclass AND d.refclassid = 'pg_class'::regclass
          AND f.adrelid = t.oid AND f.adnum = c.attnum
          AND pg_get_expr(f.adbin, f.adrelid) ~ '^nextval\\(''[^'']*''::regclass\\)$')) AS counters
    FROM pg_class t JOIN pg_attribute c ON c.attrelid = t.oid AND c.attname = 'id'
    WHERE t.oid = to_regclass(${dialect.placeholder(1)})`;
  const record = (await run(sql, [quoteTable(dialect, name)])).records[0];
  if (Number(record?.['keys'] ?? 0) === 0) return NO_KEY;
  return Number(record!['counters']) === 1
    ? undefined
    : 'its id is neither an identity nor a serial column with a sequence of NO CYCLE';
}

async function mysqlFlaw(run: RunSql, { dialect, name }: Table): Promise<string | undefined> {
  const { values, value } = bindings(dialect);
  const place = (alias: string): string => {
    const schema = name.schema === undefined ? 'DATABASE()' : value(name.schema);
    const isIt = `${alias}.table_name = ${value(name.name)}`;
    return `${alias}.table_schema = ${schema} AND ${isIt}`;
  };
  const sql = `
    SELECT (SELECT COUNT(*) FROM information_schema.columns c WHERE ${place('c')} AND LOWER(c.column_name) = 'id'
        AND c.extra LIKE '%auto_increment%') AS counters,
      (SELECT COUNT(*) FROM (SELECT s.index_name FROM information_schema.statistics s
        WHERE ${place('s')} AND s.non_unique = 0 GROUP BY s.index_name
        HAVING COUNT(*) = 1 AND LOWER(MAX(s.column_name)) = 'id') k) AS id_keys`;
  const record = (await run(sql, values)).records[0];
  // MyISAM counts for each value of the columns before the id in a key: the id must be a key by itself.
  if (Number(record?.['id_keys'] ?? 0) === 0) return NO_KEY;
  return Number(record!['counters']) === 1 ? undefined : 'its id is not AUTO_INCREMENT';
}

/** SQLite allows AUTOINCREMENT only on a table's single INTEGER PRIMARY KEY. */
async function sqliteFlaw(run: RunSql, { name }: Table): Promise<string | undefined> {
  const schema = name.schema ?? 'main';
  const columns = await run(`SELECT lower(name) AS name FROM pragma_table_info(?, ?) WHERE pk > 0`, [
    name.name,
    schema,
  ]);
  if (columns.records.length !== 1 || columns.records[0]!['name'] !== 'id') return NO_KEY;
  const { records } = await run(`SELECT sql FROM "${schema}".sqlite_master WHERE lower(name) = lower(?)`, [name.name]);
  const words = String(records[0]?.['sql']).replace(NO_WORDS, ' ');
  if (/\bautoincrement\b/i.test(words)) return undefined;
  return "its id is not AUTOINCREMENT, so a deleted row's id would be reused";
}

/** The row of one start. */
export interface WorkerNode {
  readonly hostName: string;
  /** The service's port and random digits: no other row has the same. */
  readonly port: string;
  /** 1 in a container, 2 on a machine. */
  readonly type: 1 | 2;
}

export function insertNode({ dialect, name }: Table, { hostName, port, type }: WorkerNode): Statement {
  const columns = ['host_name', 'port', 'type', 'launch_date', 'modified', 'created'].map((column) =>
    dialect.quote(column),
  );
  const { values, value } = bindings(dialect);
  const { nowTime } = dialect;
  const row = [value(hostName), value(port), value(type), nowTime, nowTime, nowTime].join(', ');
  const id = dialect.quote('id');
  const returning = dialect.hasReturning ? ` RETURNING ${dialect.exactInteger(id)} AS ${id}` : '';
  const sql = `INSERT INTO ${quoteTable(dialect, name)} (${columns.join(', ')}) VALUES (${row})${returning}`;
  return { sql, values };
}

export function selectHighest({ dialect, name }: Table): Statement {
  const id = dialect.quote('id');
  const highest = dialect.exactInteger(`MAX(${id})`);
  return { sql: `SELECT ${highest} AS ${id} FROM ${quoteTable(dialect, name)}`, values: [] };
}

/** Counts the rows with this id, and those of them with this port. */
export function countNodes({ dialect, name }: Table, id: number, port: string): Statement {
  const own = `COUNT(CASE WHEN ${dialect.quote('port')} = ${dialect.placeholder(1)} THEN 1 END)`;
  const condition = `${dialect.quote('id')} = ${dialect.placeholder(2)}`;
  const sql = `SELECT COUNT(*) AS nodes, ${own} AS own FROM ${quoteTable(dialect, name)} WHERE ${condition}`;
  return { sql, values: [port, id] };
}

/** Reads the first row whose id is at least `from`, and its age, ms. */
export function selectAge({ dialect, name }: Table, from: number): Statement {
  const id = dialect.quote('id');
  const ageMs = `${dialect.nowMs} - ${dialect.timeAsMs(dialect.quote('created'))}`;
  const sql =
    `SELECT ${dialect.exactInteger(id)} AS ${id}, ${ageMs} AS age_ms FROM ${quoteTable(dialect, name)} ` +
    `WHERE ${id} >= ${dialect.placeholder(1)} ORDER BY ${quoteTable(dialect, name)}.${id} LIMIT 1`;
  return { sql, values: [from] };
}
