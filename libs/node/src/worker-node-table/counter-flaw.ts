import { quoteTable } from '../database/dialect.js';
import type { RunSql } from '../database/run-sql.js';
import { bindings } from '../database/statement.js';
import type { Table } from '../tables/table-kind.js';

/** Why the ids of a table cannot be trusted never to come twice; undefined when they can. */
export async function counterFlaw(run: RunSql, table: Table): Promise<string | undefined> {
  if (table.dialect.family === 'postgres') return postgresFlaw(run, table);
  if (table.dialect.family === 'sqlite') return sqliteFlaw(run, table);
  return mysqlFlaw(run, table);
}

const NO_KEY = 'its id alone is no primary or unique key';

/** A default is believed when it is a sequence's next value and nothing else. */
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
    : 'its id is no identity or serial column whose sequence has NO CYCLE';
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
  // MyISAM counts anew for each value of what stands before the id in a key.
  if (Number(record?.['id_keys'] ?? 0) === 0) return NO_KEY;
  return Number(record!['counters']) === 1 ? undefined : 'its id is not AUTO_INCREMENT';
}

/** AUTOINCREMENT stands only with a table's single INTEGER PRIMARY KEY. */
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
  return "its id is not AUTOINCREMENT, so that a deleted row's id would be given again";
}

/** Comments, and what is quoted. */
const NO_WORDS = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]/g;
