import { missingColumn, refersElsewhere, refersTwice, refuseWorkerTable } from '../refusals.js';
import { foreignKeys, type ForeignKey } from '../mysql-foreign-keys.js';
import { pathSql, quoted, sameTable } from '../mysql-names.js';
import type { KeyPath, Query } from '../old-key.js';
import { refuseMysql } from './mysql-obstacles.js';
import { readMysqlIndexes } from './mysql-indexes.js';
import { mysqlPhases } from './mysql-uuid-phases.js';
import { firstMysqlNumber } from './mysql-numbers.js';
import { inTheWay, notAUuid, notUniqueAlone } from './uuid-refusals.js';
import type { UuidKey } from './uuid-key.js';
import type { MysqlColumn, MysqlUuid } from './mysql-uuid-facts.js';

const TYPE = /^(?:uuid|(?:var)?char\((?:32|36)\)|binary\(16\))$/;

/** Looks at a key of UUIDs and at what refers to it. */
export async function readMysqlUuid(
  query: Query,
  { schema, name, column }: KeyPath,
  database: 'mysql' | 'mariadb',
): Promise<UuidKey> {
  await query("SET SESSION sql_mode = '', sql_quote_show_create = 1");
  const home = String((await query('SELECT DATABASE() AS home'))[0]?.['home']);
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
  const all = await foreignKeys(query);
  const columns = await referringTo(query, key, all, home);
  const apart = columns.find((each) => each.schema !== key.schema);
  if (apart !== undefined) throw inTheWay(`the other database of ${apart.table}`, `${key.table}.${key.column}`);
  const used = all.filter((each) => each.columns.some((one) => isAmong(columns, each, one)));
  for (const each of used) refuseSecondParent(each, columns);
  const indexes = await readMysqlIndexes(query, columns);
  const isAlone = indexes.some(
    (each) =>
      each.path === key.path && each.isUnique && each.parts.length === 1 && each.parts[0]!.column === key.column,
  );
  if (!isAlone || key.isNullable) throw notUniqueAlone(key.table, key.column);
  const touched = await refuseMysql(query, columns);
  const facts: MysqlUuid = { key, columns, foreignKeys: used, indexes, touched, home };
  const text = type === 'binary(16)' ? `HEX(t.${quoted(key.column)})` : `CAST(t.${quoted(key.column)} AS CHAR(36))`;
  return {
    ...{ database, path: key.path, quoted, key, references: columns.slice(1) },
    hex: `LOWER(REPLACE(${text}, '-', ''))`,
    first: firstMysqlNumber(key.type),
    phases: (numbers) => mysqlPhases(facts, numbers),
  };
}

async function referringTo(
  query: Query,
  key: MysqlColumn,
  all: readonly ForeignKey[],
  home: string,
): Promise<MysqlColumn[]> {
  const columns = [key];
  for (const target of columns) {
    for (const each of all.filter((one) => sameTable(one.target, target))) {
      const index = each.target.columns.indexOf(target.column);
      if (index === -1 || isAmong(columns, each, each.columns[index]!)) continue;
      columns.push((await readColumn(query, each.schema, each.table, each.columns[index]!, home))!);
    }
  }
  return columns;
}

function refuseSecondParent(
  { target, columns: children, ...place }: ForeignKey,
  columns: readonly MysqlColumn[],
): void {
  for (const [index, child] of children.entries()) {
    const parent = target.columns[index]!;
    if (!isAmong(columns, place, child) || isAmong(columns, target, parent)) continue;
    const [key] = columns;
    if (sameTable(key!, place) && key!.column === child) throw refersElsewhere(key!.table, child, target.table);
    throw refersTwice(place.table, child, `${target.table}.${parent}`);
  }
}

function isAmong(columns: readonly MysqlColumn[], table: { schema: string; table: string }, column: string): boolean {
  return columns.some((one) => sameTable(one, table) && one.column === column);
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
    ...{ schema, table: name!, path: pathSql({ schema, table: name! }, home), column: col! },
    ...{ type: `${type!.toLowerCase()}${letters}`, isNullable: nullable === 'YES' },
    fallback: fallback === 'NULL' ? null : fallback!,
  };
}
