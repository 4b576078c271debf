import type { SupportedDatabase } from '@raindrop/nestjs';

/** A column, and the type that the database says it has. */
export interface TypedColumn {
  readonly table: string;
  readonly column: string;
  readonly type: string;
}

/** A key that the database has made so far, and what has to be done to make it Raindrop's. */
export interface OldKey extends TypedColumn {
  readonly database: SupportedDatabase;
  /** Whether the database makes its values: auto-increment, serial, identity. */
  readonly isGenerated: boolean;
  /** The largest value; 0 in an empty table. */
  readonly highest: bigint;
  /** The columns that refer to it, those that refer to these, and so on. */
  readonly references: readonly TypedColumn[];
  /** SQL for the largest value, as text in a column `highest`. */
  readonly highestSql: string;
  readonly steps: MigrationSteps;
}

/** The work of a migration, there and back. */
export interface MigrationSteps {
  readonly up: readonly MigrationStep[];
  readonly down: readonly MigrationStep[];
}

/** A statement, or a column of SQLite, where a table is built anew. */
export type MigrationStep = { readonly sql: string } | RebuiltColumn;

export interface RebuiltColumn {
  readonly table: string;
  readonly column: string;
  /** Whether the database is to make the values again. */
  readonly isGenerated: boolean;
}

/** Runs a statement and answers with its records. */
export type Query = (sql: string, values?: readonly unknown[]) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** `schema.table` or `table`, as it was given. */
export interface TablePath {
  readonly schema: string | undefined;
  readonly name: string;
}

export function pathOf(text: string): TablePath {
  const dot = text.indexOf('.');
  return dot === -1 ? { schema: undefined, name: text } : { schema: text.slice(0, dot), name: text.slice(dot + 1) };
}
