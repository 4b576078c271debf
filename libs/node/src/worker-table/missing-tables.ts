import { RaindropError } from '@raindrop/core';
import type { Dialect, SqlValue } from '../database/dialect.js';
import type { RunSql } from '../database/run-sql.js';
import { layoutTableOf } from './worker-table-name.js';
import { type TableName } from '../database/table-name.js';
import { LAYOUT_COLUMNS, ORIGINAL_COLUMNS, OWN_COLUMNS } from './worker-columns.js';
import { addColumns, createLayoutTable, createWorkerTable } from './worker-table-sql.js';

/** What the database lacks, and the statements that would add it. */
export interface MissingTables {
  /** `table`, or `table.column`. */
  readonly missing: readonly string[];
  readonly sql: readonly string[];
}

/** The worker table, its layout table or columns of theirs are missing and may not be created. */
export class WorkerTableMissingError extends RaindropError {
  readonly errorCode = 'WORKER_TABLE_MISSING';

  /** `table`, or `table.column`. */
  readonly missing: readonly string[];

  /** The statements that create it, to be run by somebody who may. */
  readonly sql: readonly string[];

  constructor({ missing, sql }: MissingTables, reason: string) {
    super(
      `${missing.join(', ')} missing from the database, and ${reason}. Run the statements in this error's sql (for an ` +
        `empty database also printed by workerTableSql()), or add workerTableMigration() to the migrations.`,
      { retryable: false },
    );
    this.missing = missing;
    this.sql = sql;
  }
}

/** There is a table of that name, but another program made it. */
export class NotAWorkerTableError extends RaindropError {
  readonly errorCode = 'NOT_A_WORKER_TABLE';

  constructor(
    readonly table: string,
    readonly missingColumns: readonly string[],
  ) {
    super(
      `The table ${table} exists but is no worker table: it lacks ${missingColumns.join(', ')}. Choose another tableName.`,
      { retryable: false },
    );
  }
}

/**
 * Looks whether both tables are there with all their columns; undefined when they are. A table of the Go original is a
 * worker table that lacks our columns.
 *
 * @throws NotAWorkerTableError
 */
export async function findMissingTables(
  run: RunSql,
  dialect: Dialect,
  table: TableName,
): Promise<MissingTables | undefined> {
  const layoutTable = layoutTableOf(table);
  const missing: string[] = [];
  const sql: string[] = [];

  const [columns, layoutColumns] = await columnsOf(run, dialect, [table, layoutTable]);
  if (columns.size === 0) {
    missing.push(table.name);
    sql.push(...createWorkerTable(dialect, table));
  } else {
    refuseStranger(table.name, ORIGINAL_COLUMNS, columns);
    const lacking = OWN_COLUMNS.filter(({ name }) => !columns.has(name));
    missing.push(...lacking.map(({ name }) => `${table.name}.${name}`));
    if (lacking.length > 0) sql.push(...addColumns(dialect, table, lacking));
  }

  if (layoutColumns.size === 0) {
    missing.push(layoutTable.name);
    sql.push(...createLayoutTable(dialect, layoutTable));
  } else {
    refuseStranger(layoutTable.name, LAYOUT_COLUMNS, layoutColumns);
  }
  return missing.length === 0 ? undefined : { missing, sql };
}

/** In one statement: every start makes it, and a database may be far away. */
async function columnsOf(
  run: RunSql,
  dialect: Dialect,
  tables: readonly [TableName, TableName],
): Promise<[ReadonlySet<string>, ReadonlySet<string>]> {
  const values: SqlValue[] = [];
  const placeholderOf = (value: SqlValue): string => dialect.placeholder(values.push(value));
  const selects = tables.map(
    (table, index) => `SELECT ${index} AS which, c.name FROM (${dialect.columnsOf(table, placeholderOf)}) c`,
  );
  const { records } = await run(selects.join(' UNION ALL '), values);
  const namesAt = (index: number): ReadonlySet<string> =>
    new Set(records.filter(({ which }) => Number(which) === index).map(({ name }) => String(name).toLowerCase()));
  return [namesAt(0), namesAt(1)];
}

function refuseStranger(
  table: string,
  expected: readonly { readonly name: string }[],
  found: ReadonlySet<string>,
): void {
  const lacking = expected.filter(({ name }) => !found.has(name)).map(({ name }) => name);
  if (lacking.length > 0) throw new NotAWorkerTableError(table, lacking);
}
