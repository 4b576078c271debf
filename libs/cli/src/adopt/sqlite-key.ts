import { numberIn, type MigrationStep, type OldKey, type Query, type TablePath, type TypedColumn } from './old-key.js';
import { missingColumn, notAKey, notAnInteger, refersElsewhere, refuseWorkerTable } from './refusals.js';
import { readSqliteTables, same, type SqliteLink, type SqliteTable } from './sqlite-tables.js';

/**
 * SQLite's integers have 64 bits already. The tables are built anew all the same: an INTEGER PRIMARY KEY makes keys of
 * its own when an insert brings none, and TypeORM would find types that differ from the entities'.
 */
export async function readSqliteKey(query: Query, { schema, name }: TablePath, column: string): Promise<OldKey> {
  const isHere = schema === undefined || same(schema, 'main');
  const tables = isHere ? await readSqliteTables(query) : [];
  const table = tables.find((each) => same(each.name, name));
  const found = table?.columns.find((each) => same(each.column, column));
  if (table === undefined || found === undefined) throw missingColumn({ schema, name }, column);
  refuseWorkerTable(
    table.name,
    table.columns.map((each) => each.column),
  );
  const { type } = found;
  if (!type.includes('int')) throw notAnInteger(table.name, found.column, type === '' ? 'without a type' : type);
  const isKey = [...table.unique, ...table.primary].some((each) => same(each, found.column));
  if (!isKey) throw notAKey(table.name, found.column);
  const links = tables.flatMap((each) => each.links);
  const upwards = links.find(({ from, to }) => isAt(from, found) && !same(to.table, table.name));
  if (upwards !== undefined) throw refersElsewhere(table.name, found.column, upwards.to.table);

  const columns = referringTo(found, links);
  const place = `FROM ${quoted(table.name)}`;
  const wrong = `SELECT typeof(${quoted(found.column)}) AS type ${place} WHERE typeof(${quoted(found.column)}) <> 'integer'`;
  const [other] = await query(`${wrong} LIMIT 1`);
  if (other !== undefined) throw notAnInteger(table.name, found.column, `${String(other['type'])} in some rows`);
  const highestSql = `SELECT CAST(MAX(${quoted(found.column)}) AS TEXT) AS highest ${place}`;
  // A lone integer key is the row's own number, which SQLite fills in.
  const isGenerated = type === 'integer' && table.primary.length === 1 && same(table.primary[0]!, found.column);
  const rebuilt = columns.map((each): MigrationStep => ({
    table: each.table,
    column: each.column,
    isGenerated: false,
  }));
  return {
    ...{ database: 'better-sqlite3', table: table.name, column: found.column, type, isGenerated, highestSql },
    references: columns.slice(1),
    obstacles: obstaclesOf(tables.filter(({ name: each }) => columns.some((one) => same(one.table, each)))),
    highest: numberIn((await query(highestSql))[0]),
    steps: { up: rebuilt, down: isGenerated ? [{ table: table.name, column: found.column, isGenerated: true }] : [] },
  };
}

/** The column, those that refer to it, those that refer to these, and so on. */
function referringTo(key: TypedColumn, links: readonly SqliteLink[]): TypedColumn[] {
  const columns = [key];
  for (const target of columns) {
    for (const { from, to } of links) {
      if (isAt(to, target) && !columns.some((each) => isAt(each, from))) columns.push(from);
    }
  }
  return columns;
}

function isAt(a: Omit<TypedColumn, 'type'>, b: Omit<TypedColumn, 'type'>): boolean {
  return same(a.table, b.table) && same(a.column, b.column);
}

/** What TypeORM does not write again when it builds a table anew. */
function obstaclesOf(tables: readonly SqliteTable[]): string[] {
  return tables.flatMap(({ name, lost }) =>
    lost.map(
      (each) => `${each} of ${name} is lost when TypeORM builds the table anew: add it to the migration by hand`,
    ),
  );
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
