import type { RunSql } from '../database/run-sql.js';
import { bindings } from '../database/statement.js';
import { NotOurTableError, type MissingParts } from './table-errors.js';
import { withBeside, type Table } from './table-kind.js';
import { addColumns, createTable } from './table-sql.js';

/**
 * Looks whether a table, and those beside it, are there with all their columns. Resolves to undefined when they are.
 *
 * @throws NotOurTableError
 */
export async function findMissing(run: RunSql, table: Table): Promise<MissingParts | undefined> {
  const missing: string[] = [];
  const sql: string[] = [];
  for (const { table: each, columns, storage } of await columnsOf(run, withBeside(table))) {
    const { kind, name } = each;
    if (columns.size === 0) {
      missing.push(name.name);
      sql.push(...createTable(each));
      continue;
    }
    await refuseStranger(run, each, columns, storage);
    const lacking = (kind.addedColumns ?? []).filter((column) => !columns.has(column.name));
    missing.push(...lacking.map((column) => `${name.name}.${column.name}`));
    if (lacking.length > 0) sql.push(...addColumns(each, lacking));
  }
  return missing.length === 0 ? undefined : { missing, sql };
}

interface Found {
  readonly table: Table;
  /** The names of its columns in lower case; none when there is no such table. */
  readonly columns: ReadonlySet<string>;
  /** See Dialect.storageOf; undefined where there is nothing to choose, or nothing tells. */
  readonly storage: string | undefined;
}

/** In one statement: every start makes it, and a database may be far away. */
async function columnsOf(run: RunSql, tables: readonly Table[]): Promise<readonly Found[]> {
  const { values, value } = bindings(tables[0]!.dialect);
  const selects = tables.map(({ dialect, name }, index) => {
    return `SELECT ${index} AS which, ${dialect.storageOf(name, value)} AS storage, c.name AS name FROM (${dialect.columnsOf(name, value)}) c`;
  });
  const { records } = await run(selects.join(' UNION ALL '), values);
  return tables.map((table, index) => {
    const own = records.filter(({ which }) => Number(which) === index);
    const storage = own[0]?.['storage'];
    return {
      table,
      columns: new Set(own.map(({ name }) => String(name).toLowerCase())),
      storage: typeof storage === 'string' ? storage : undefined,
    };
  });
}

/** @throws NotOurTableError */
async function refuseStranger(
  run: RunSql,
  table: Table,
  columns: ReadonlySet<string>,
  storage: string | undefined,
): Promise<void> {
  const lacking = table.kind.columns.map(({ name }) => name).filter((name) => !columns.has(name));
  if (lacking.length > 0) throw new NotOurTableError(table, lacking);
  const { emptied } = storage === undefined ? {} : table.dialect.judgeStorage(storage);
  const flaw = emptied ?? (await table.kind.flaw?.(run, table));
  if (flaw !== undefined) throw new NotOurTableError(table, [], flaw);
}

/**
 * What is wrong with how tables are kept, in words, one for each: an acknowledged commit may not outlive a crash, whatever
 * the server's settings say.
 */
export async function storageWarnings(run: RunSql, table: Table): Promise<string[]> {
  const found = await columnsOf(run, withBeside(table));
  return found.flatMap(({ table: { dialect, name }, storage }) => {
    const { emptied, loses } = storage === undefined ? {} : dialect.judgeStorage(storage);
    const flaw = emptied ?? loses;
    return flaw === undefined ? [] : [`the table ${name.name} is not safe: ${flaw}`];
  });
}
