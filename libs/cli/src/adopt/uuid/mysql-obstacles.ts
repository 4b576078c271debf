import { definedColumns } from '../mysql-definition.js';
import { quoted } from '../mysql-names.js';
import type { Query } from '../old-key.js';
import { inTheWay, nameIsTaken } from './uuid-refusals.js';
import { ownName } from './uuid-key.js';
import type { MysqlColumn } from './mysql-uuid-facts.js';

/**
 * @returns by path: the columns that change with every update
 * @throws CommandFailedError for what would go on with the old column, be lost with it, or has the names that are needed
 */
export async function refuseMysql(
  query: Query,
  columns: readonly MysqlColumn[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const touched = new Map<string, readonly string[]>();
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
    touched.set(
      path,
      defined.filter(({ rest: said }) => /\bON UPDATE\b/i.test(said)).map(({ name }) => name),
    );
  }
  return touched;
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
