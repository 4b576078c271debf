import { RaindropError } from '@raindrop/core';
import { retried } from '../database/retried.js';
import { DatabaseRefusedError } from '../database/database-refused-error.js';
import type { Dialect, SqlValue } from '../database/dialect.js';
import type { RunSql } from '../database/run-sql.js';
import type { TableName } from '../database/table-name.js';
import { createSegmentTable } from './segment-table-sql.js';
import type { SegmentTable } from './segment-tables.js';

/** The table of segments is missing and may not be created. */
export class SegmentTableMissingError extends RaindropError {
  readonly errorCode = 'SEGMENT_TABLE_MISSING';

  constructor(
    readonly table: string,
    /** The statements that create it, to be run by somebody who may. */
    readonly sql: readonly string[],
    reason: string,
    { sqlBy, migrationBy }: Pick<SegmentTable, 'sqlBy' | 'migrationBy'>,
  ) {
    super(
      `${table} is missing from the database, and ${reason}. Run the statements in this error's sql (also printed by ` +
        `${sqlBy}), or add ${migrationBy} to the migrations.`,
      { retryable: false },
    );
  }
}

/** There is a table of that name, but another program made it. */
export class NotASegmentTableError extends RaindropError {
  readonly errorCode = 'NOT_A_SEGMENT_TABLE';

  constructor(
    readonly table: string,
    readonly missingColumns: readonly string[],
  ) {
    super(
      `The table ${table} exists but is no table of segments: it lacks ${missingColumns.join(', ')}. Choose another tableName.`,
      { retryable: false },
    );
  }
}

/** A table of segments and how to get at it. */
export interface SegmentTablePlace {
  readonly dialect: Dialect;
  readonly name: TableName;
  readonly table: SegmentTable;
}

/**
 * Creates the table when it is missing. Any number of processes may do so at once: where one is overtaken by another its
 * statement fails, it waits a little and looks again.
 *
 * @throws SegmentTableMissingError when it is missing and `autoCreate` is false or the account lacks the rights
 * @throws NotASegmentTableError
 */
export async function prepareSegmentTable(run: RunSql, place: SegmentTablePlace, autoCreate: boolean): Promise<void> {
  const { dialect, name, table } = place;
  await retried(async () => {
    if (await isPresent(run, place)) return;
    const sql = createSegmentTable(dialect, name, table);
    if (!autoCreate) throw new SegmentTableMissingError(name.name, sql, 'autoCreateTable is false', table);
    try {
      for (const statement of sql) await run(statement);
    } catch (error) {
      if (!(error instanceof DatabaseRefusedError) || error.refusal !== 'rights') throw error;
      throw new SegmentTableMissingError(name.name, sql, `its account may not create it: ${error.reason}`, table);
    }
  });
}

/** @throws NotASegmentTableError */
async function isPresent(run: RunSql, { dialect, name, table }: SegmentTablePlace): Promise<boolean> {
  const values: SqlValue[] = [];
  const { records } = await run(
    dialect.columnsOf(name, (value) => dialect.placeholder(values.push(value))),
    values,
  );
  // MySQL 8 names the column NAME.
  const found = new Set(records.map((record) => String(Object.values(record)[0]).toLowerCase()));
  if (found.size === 0) return false;
  const lacking = table.columns.map((column) => column.name).filter((column) => !found.has(column));
  if (lacking.length > 0) throw new NotASegmentTableError(name.name, lacking);
  return true;
}
