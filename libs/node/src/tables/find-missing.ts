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
  for (const { table: each, columns } of await columnsOf(run, withBeside(table))) {
    const { kind, name } = each;
    if (columns.size === 0) {
      missing.push(name.name);
      sql.push(...createTable(each));
      continue;
    }
    await refuseStranger(run, each, columns);
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
}

/** In one statement: every start makes it, and a database may be far away. */
async function columnsOf(run: RunSql, tables: readonly Table[]): Promise<readonly Found[]> {
  const { values, value } = bindings(tables[0]!.dialect);
  const selects = tables.map(({ dialect, name }, index) => {
    return `SELECT ${index} AS which, c.name AS name FROM (${dialect.columnsOf(name, value)}) c`;
  });
  const { records } = await run(selects.join(' UNION ALL '), values);
  return tables.map((table, index) => {
    const own = records.filter(({ which }) => Number(which) === index);
    return { table, columns: new Set(own.map(({ name }) => String(name).toLowerCase())) };
  });
}

/** @throws NotOurTableError */
async function refuseStranger(run: RunSql, table: Table, columns: ReadonlySet<string>): Promise<void> {
  const lacking = table.kind.columns.map(({ name }) => name).filter((name) => !columns.has(name));
  if (lacking.length > 0) throw new NotOurTableError(table, lacking);
  const flaw = await table.kind.flaw?.(run, table);
  if (flaw !== undefined) throw new NotOurTableError(table, [], flaw);
}
