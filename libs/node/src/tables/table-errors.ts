import { RaindropError } from '@raindrop/core';
import type { Table, TableKindName } from './table-kind.js';

/** What a database lacks of a table and those beside it, and the statements that add it. */
export interface MissingParts {
  /** `table`, or `table.column`. */
  readonly missing: readonly string[];
  readonly sql: readonly string[];
}

/** A table, or columns of it, are missing and may not be created. */
export class TableMissingError extends RaindropError {
  readonly errorCode = 'TABLE_MISSING';
  /** Which of Raindrop's tables it is. */
  readonly kind: TableKindName;
  readonly table: string;
  /** `table`, or `table.column`. */
  readonly missing: readonly string[];
  /** The statements that create it, for an account that may run them. */
  readonly sql: readonly string[];

  /** @param cure what to do about it; as a rule to create it */
  constructor({ kind, name }: Table, { missing, sql }: MissingParts, reason: string, cure = cureFor(kind)) {
    const verb = missing.length === 1 ? 'is' : 'are';
    super(`${missing.join(', ')} ${verb} missing from the database, and ${reason}. ${cure}`, { retryable: false });
    this.kind = kind.name;
    this.table = name.name;
    this.missing = missing;
    this.sql = sql;
  }
}

function cureFor({ name, preparedBy }: Table['kind']): string {
  const prepare = preparedBy === undefined ? 'Run' : `Call ${preparedBy} at the start, run`;
  return (
    `${prepare} the statements in this error's sql (for an empty database also printed by ${name}TableSql()), ` +
    `or add ${name}TableMigration() to the migrations.`
  );
}

/** There is a table of that name, and Raindrop did not make it or cannot use it. */
export class NotOurTableError extends RaindropError {
  readonly errorCode = 'NOT_OUR_TABLE';
  /** Which of Raindrop's tables was expected there. */
  readonly kind: TableKindName;
  readonly table: string;

  constructor(
    { kind, name }: Table,
    /** Empty when the table has all columns. */
    readonly missingColumns: readonly string[],
    reason = `it lacks ${missingColumns.join(', ')}`,
  ) {
    super(`The table ${name.name} exists but is no ${kind.title}: ${reason}. Choose another tableName.`, {
      retryable: false,
    });
    this.kind = kind.name;
    this.table = name.name;
  }
}
