import { dialectOf } from '@raindrop/node/internal';
import { CLEAR_AWAY } from './old-key.js';

export const quoted = (name: string): string => dialectOf('postgres').quote(name);

export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A column, with its table as SQL names it. */
interface Place {
  readonly path: string;
  readonly column: string;
}

/** The catalogues of objects that PostgreSQL itself creates anew when a column's type changes. */
const KEPT_CLASSES = "'pg_constraint'::regclass, 'pg_statistic_ext'::regclass";

/**
 * SQL for everything that depends on a column by the catalogue, in words (`what`), with what to do about it. Left out
 * is what PostgreSQL keeps when the type changes: constraints, indexes, statistics, the column's own default and
 * sequence. The kinds of objects are not listed here, so those of later versions are found as well. Tables that inherit
 * the column, such as partitions, change with it: what depends on their columns counts too.
 */
export function postgresDependents({ path, column }: Place): string {
  return `WITH RECURSIVE rel(oid) AS (
  SELECT ${literal(path)}::regclass::oid UNION SELECT h.inhrelid FROM rel JOIN pg_inherits h ON h.inhparent = rel.oid
), place AS (
  SELECT a.attrelid AS rel, a.attnum AS num, a.atttypid AS type, c.oid::regclass::text || '.' || quote_ident(a.attname) AS name
  FROM rel JOIN pg_class c ON c.oid = rel.oid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = ${literal(column)}
), direct AS (
  SELECT p.*, d.classid, d.objid, d.objsubid FROM place p JOIN pg_depend d
  ON d.refclassid = 'pg_class'::regclass AND d.refobjid = p.rel AND d.refobjsubid = p.num
), shape(oid, rel) AS (
  SELECT c.reltype, c.oid FROM place p JOIN pg_class c ON c.oid = p.rel
  UNION SELECT CASE WHEN c.oid IS NULL THEN d.objid ELSE c.reltype END, s.rel FROM shape s JOIN pg_depend d
    ON d.refclassid = 'pg_type'::regclass AND d.refobjid = s.oid
    LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid AND c.relkind = 'c'
    WHERE d.classid = 'pg_type'::regclass OR c.oid IS NOT NULL
)
SELECT DISTINCT found.what || ': ' || found.cure AS what FROM (
  SELECT CASE WHEN r.rulename = '_RETURN' THEN CASE v.relkind WHEN 'm' THEN 'the materialized view ' ELSE 'the view ' END || v.oid::regclass::text
    WHEN f.oid IS NOT NULL THEN 'the generated column ' || quote_ident(b.attname) || ' of ' || f.adrelid::regclass::text
    ELSE 'the ' || i.type || ' ' || i.identity END || ' uses ' || d.name AS what,
    ${literal(CLEAR_AWAY)} AS cure
  FROM direct d CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, d.objsubid) i
  LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid LEFT JOIN pg_class v ON v.oid = r.ev_class
  LEFT JOIN pg_attrdef f ON d.classid = 'pg_attrdef'::regclass AND f.oid = d.objid
  LEFT JOIN pg_attribute b ON b.attrelid = f.adrelid AND b.attnum = f.adnum
  WHERE d.classid NOT IN (${KEPT_CLASSES}) AND NOT (f.oid IS NOT NULL AND f.adrelid = d.rel AND f.adnum = d.num)
    AND NOT (d.classid = 'pg_class'::regclass AND EXISTS (SELECT FROM pg_class c WHERE c.oid = d.objid AND (c.oid = d.rel OR c.relkind IN ('i', 'I', 'S'))))
  UNION ALL SELECT 'the column ' || quote_ident(a.attname) || ' of ' || c.oid::regclass::text || ' uses ' || p.name || ', for it holds rows of '
    || p.rel::regclass::text, 'give it another type first, or drop it' FROM shape s JOIN place p ON p.rel = s.rel
    JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid = s.oid AND d.classid = 'pg_class'::regclass
    JOIN pg_class c ON c.oid = d.objid AND c.relkind IN ('r', 'p', 'm') JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.objsubid
  UNION ALL SELECT 'the domain ' || p.type::regtype::text || ' is the type of ' || p.name, 'make it a plain integer first'
    FROM place p JOIN pg_type t ON t.oid = p.type AND t.typtype = 'd'
  UNION ALL SELECT 'the partition key of ' || p.rel::regclass::text || ' uses ' || p.name, 'make a table with a bigint for its partitions, and move the rows there'
    FROM place p JOIN pg_partitioned_table x ON x.partrelid = p.rel WHERE p.num = ANY (x.partattrs::int2[]) OR EXISTS (SELECT FROM direct d
    WHERE d.rel = p.rel AND d.classid = 'pg_class'::regclass AND d.objid = p.rel AND d.objsubid = 0)
  UNION ALL SELECT 'the table ' || h.inhparent::regclass::text || ' hands down ' || p.name, 'end that (ALTER TABLE ... NO INHERIT) first'
    FROM place p JOIN pg_inherits h ON h.inhrelid = p.rel
    JOIN pg_attribute a ON a.attrelid = p.rel AND a.attnum = p.num AND a.attinhcount > 0 WHERE h.inhparent NOT IN (SELECT oid FROM rel)
) found ORDER BY 1`;
}

/**
 * SQL for the defaults of other columns that use the sequence of an identity column: the sequence goes with the
 * identity.
 */
export function postgresCounters({ path, column }: Place): string {
  return `SELECT 'the default of ' || f.adrelid::regclass::text || '.' || quote_ident(b.attname) || ' counts with the sequence of '
  || a.attrelid::regclass::text || '.' || quote_ident(a.attname) || ', which goes: drop that default first' AS what
FROM pg_attribute a JOIN pg_depend o ON o.refclassid = 'pg_class'::regclass AND o.refobjid = a.attrelid AND o.refobjsubid = a.attnum
  AND o.classid = 'pg_class'::regclass AND o.deptype = 'i' JOIN pg_class s ON s.oid = o.objid AND s.relkind = 'S'
JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid AND d.classid = 'pg_attrdef'::regclass
JOIN pg_attrdef f ON f.oid = d.objid JOIN pg_attribute b ON b.attrelid = f.adrelid AND b.attnum = f.adnum
WHERE a.attrelid = ${literal(path)}::regclass AND a.attname = ${literal(column)} ORDER BY 1`;
}

/**
 * SQL for everything that a table has, one object a record (`what`). After the change the same must be there. Casts and
 * brackets are left out of expressions: PostgreSQL writes them differently for another type.
 * @param columns the columns whose defaults are removed
 */
export function postgresContents(path: string, columns: readonly string[]): string {
  const table = `${literal(path)}::regclass`;
  const plain = (sql: string): string =>
    `regexp_replace(COALESCE(${sql}, ''), '::(bigint|integer|smallint)|[()'' ]', '', 'g')`;
  const own = columns.length === 0 ? 'false' : `a.attname IN (${columns.map(literal).join(', ')})`;
  return `SELECT CASE k.contype WHEN 'f' THEN 'foreign key ' WHEN 'c' THEN 'check ' ELSE 'constraint ' END || k.conname || ' of ' ||
  k.conrelid::regclass::text || ': ' || ${plain('pg_get_constraintdef(k.oid)')} || CASE WHEN k.convalidated THEN '' ELSE ' not valid' END AS what
FROM pg_constraint k WHERE k.conrelid = ${table} OR k.confrelid = ${table}
UNION ALL SELECT 'index ' || i.indexrelid::regclass::text || ': ' || ${plain('pg_get_indexdef(i.indexrelid)')} || concat(' ', i.indisvalid, i.indisclustered,
  i.indisreplident, obj_description(i.indexrelid, 'pg_class')) FROM pg_index i WHERE i.indrelid = ${table}
UNION ALL SELECT 'trigger ' || g.tgname || ' of ' || ${literal(path)} || ': ' || pg_get_triggerdef(g.oid) || ' ' || g.tgenabled::text FROM pg_trigger g
  WHERE g.tgrelid = ${table} AND NOT g.tgisinternal
UNION ALL SELECT 'triggers of foreign keys that are switched off on ' || ${literal(path)} || ': ' || COUNT(*) FROM pg_trigger g
  WHERE g.tgrelid = ${table} AND g.tgisinternal AND g.tgenabled <> 'O'
UNION ALL SELECT 'policy ' || p.polname || ' of ' || ${literal(path)} FROM pg_policy p WHERE p.polrelid = ${table}
UNION ALL SELECT 'statistics ' || s.stxname || ' of ' || ${literal(path)} FROM pg_statistic_ext s WHERE s.stxrelid = ${table}
UNION ALL SELECT 'column ' || ${literal(path)} || '.' || a.attname || ': ' || concat_ws(' ', a.attnotnull, a.attacl,
  col_description(a.attrelid, a.attnum), CASE WHEN ${own} THEN '' ELSE ${plain('pg_get_expr(f.adbin, f.adrelid)')} END)
  FROM pg_attribute a LEFT JOIN pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
  WHERE a.attrelid = ${table} AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL SELECT 'rows of ' || ${literal(path)} || ': ' || COUNT(*) FROM ${path}`;
}
