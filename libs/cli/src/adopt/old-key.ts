import type { SupportedDatabase } from '@raindrop/node';
import { InputError } from '../input-error.js';

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
  /** What has to be cleared away first, a sentence each: the migration would fail on it, or lose it. */
  readonly obstacles: readonly string[];
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
export type Query = (sql: string, values?: readonly string[]) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** `schema.table` or `table`, as it was given. */
export interface TablePath {
  readonly schema: string | undefined;
  readonly name: string;
}

const PART = '"(?:[^"]|"")+"|`(?:[^`]|``)+`|[^."`][^.]*';
const PATH = new RegExp(`^(?:(${PART})\\.)?(${PART})$`);

/** Reads `table` or `schema.table`. @throws InputError; a name that has a dot in it, or begins with a quote, needs quotes */
export function pathOf(text: string): TablePath {
  const match = PATH.exec(text);
  if (match === null) {
    throw new InputError(`--table ${text} must be table or schema.table; names with dots in them in quotes: '"a.b"'`);
  }
  const [schema, name] = [match[1], match[2]!].map((part) => (part === undefined ? undefined : unquoted(part)));
  return { schema, name: name! };
}

function unquoted(part: string): string {
  const quote = part.charAt(0);
  return quote === '"' || quote === '`' ? part.slice(1, -1).replaceAll(quote + quote, quote) : part;
}

/** The number that a database gives as text; 0 for an empty table. */
export function numberIn(found: Readonly<Record<string, unknown>> | undefined): bigint {
  return BigInt((found?.['highest'] as string | null | undefined) ?? 0);
}
