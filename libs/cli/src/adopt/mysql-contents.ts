import type { ForeignKey } from './mysql-foreign-keys.js';
import { pathSql, quoted, type PlacedTable } from './mysql-names.js';

/** SQL that finds rows whose parent is not there: such a foreign key is dropped, and cannot be made again. */
export function mysqlOrphans({ name, columns, target, ...place }: ForeignKey, home: string): string {
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

/** SQL that finds something when another database is the connection's own one than that which was looked at. */
export function mysqlElsewhere(home: string): string {
  const says = `tables of other databases refer to those of ${home}: the migration has to run there`;
  return `SELECT ${literal(says)} AS what FROM DUAL WHERE DATABASE() <> ${literal(home)}`;
}

/** SQL that finds something when a table keeps its old rows by now: its history would not be changed with it. */
export function mysqlVersionedSince({ schema, table }: PlacedTable, home: string): string {
  return (
    `SELECT ${literal(`${table} is system-versioned by now: run raindrop adopt again`)} AS what FROM information_schema.TABLES ` +
    `WHERE TABLE_SCHEMA = ${schemaSql(schema, home)} AND TABLE_NAME = ${literal(table)} AND TABLE_TYPE = 'SYSTEM VERSIONED'`
  );
}

/**
 * SQL for all that a table has, an object each (`what`): the same has to be there after its columns have become bigint.
 * Of an index that is not unique the name may change: the server makes that of a foreign key anew, by the key's name.
 * @param isVersioned whether its old rows are counted as well
 */
export function mysqlContents({ schema, table }: PlacedTable, home: string, isVersioned: boolean): string {
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
UNION ALL SELECT CONCAT('index ', IF(MAX(NON_UNIQUE), '', CONCAT(INDEX_NAME, ' ')), 'of ', TABLE_NAME, ': ', GROUP_CONCAT(CONCAT_WS(' ', COLUMN_NAME, SUB_PART, COLLATION) ORDER BY SEQ_IN_INDEX),
  ' ', MAX(INDEX_TYPE), ' ', MAX(NON_UNIQUE)) FROM information_schema.STATISTICS WHERE ${here('TABLE_NAME')} GROUP BY TABLE_NAME, INDEX_NAME
UNION ALL SELECT CONCAT('trigger ', TRIGGER_NAME, ' of ', EVENT_OBJECT_TABLE) FROM information_schema.TRIGGERS
  WHERE EVENT_OBJECT_SCHEMA = ${at} AND EVENT_OBJECT_TABLE = ${name}
UNION ALL SELECT CONCAT('column ', TABLE_NAME, '.', COLUMN_NAME, ': ', CONCAT_WS(' ', IS_NULLABLE, COLUMN_DEFAULT, COLLATION_NAME,
  TRIM(REPLACE(EXTRA, 'auto_increment', '')), COLUMN_COMMENT)) FROM information_schema.COLUMNS WHERE ${here('TABLE_NAME')}
UNION ALL SELECT CONCAT('table ', TABLE_NAME, ': ', CONCAT_WS(' ', TABLE_TYPE, ENGINE, TABLE_COLLATION, CREATE_OPTIONS, TABLE_COMMENT))
  FROM information_schema.TABLES WHERE ${here('TABLE_NAME')}
UNION ALL SELECT CONCAT('rows of ', ${name}, ': ', COUNT(*)) FROM ${rows}`;
}

function schemaSql(schema: string, home: string): string {
  return schema === home ? 'DATABASE()' : literal(schema);
}

function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
