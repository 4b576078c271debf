import type { SupportedDatabase } from '@raindrop/node';
import { CommandFailedError, InputError } from '../input-error.js';

/** A column, and the type that the database says it has. */
export interface TypedColumn {
  readonly table: string;
  readonly column: string;
  readonly type: string;
}

/** A column that may hold keys, although no foreign key says so. */
interface LooseColumn extends TypedColumn {
  /** The key that its name speaks of, `users.id`; null when the name is that of no table. */
  readonly perhaps: string | null;
}

/** A key that the database has made so far. */
export interface OldKey extends TypedColumn {
  /** Whether the database makes its values: auto-increment, serial, identity. */
  readonly isGenerated: boolean;
  /** The largest value; 0 in an empty table. */
  readonly highest: bigint;
  /** SQL for the largest value, as text in a column `highest`. */
  readonly highestSql: string;
}

/** Keys that are to be Raindrop's, what refers to them, and what has to be done. */
export interface OldKeys {
  readonly database: SupportedDatabase;
  readonly keys: readonly OldKey[];
  /** The columns that refer to them, those that refer to these, and so on. */
  readonly references: readonly TypedColumn[];
  /** Columns that no foreign key names, and whose names say that they hold keys. Nothing is done to them. */
  readonly loose: readonly LooseColumn[];
  /** What has to be cleared away first, a sentence each: the migration would fail on it, or lose it. */
  readonly obstacles: readonly string[];
  /** SQL that must find nothing (`what`, in words) when the migration begins: the obstacles of that moment. */
  readonly guards: readonly string[];
  /** SQL for all that the tables have (`what`, an object each). It has to be there after the change as well. */
  readonly contents: readonly string[];
  readonly steps: MigrationSteps;
}

/** What is to be done with an obstacle. */
export const CLEAR_AWAY = 'drop it before the migration, and create it again after';

/** The work of a migration, there and back. */
interface MigrationSteps {
  readonly up: readonly MigrationStep[];
  readonly down: readonly MigrationStep[];
  /** What is made again when a step has failed, on databases that do not take the steps before back. */
  readonly again: readonly string[];
}

/** A statement, or a column of SQLite, where a table is built anew. */
export type MigrationStep = { readonly sql: string } | RebuiltColumn;

interface RebuiltColumn {
  readonly table: string;
  readonly column: string;
  /** Whether the database is to make the values again. */
  readonly isGenerated: boolean;
  /** Whether it is never to make one twice, not even after a DELETE. */
  readonly isCounted: boolean;
}

/** Runs a statement and answers with its records. */
export type Query = (sql: string, values?: readonly string[]) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** `schema.table` or `table`, as it was given. */
interface TablePath {
  readonly schema: string | undefined;
  readonly name: string;
}

/** A key as it was asked for. */
export interface KeyPath extends TablePath {
  readonly column: string;
}

const PART = '"(?:[^"]|"")+"|`(?:[^`]|``)+`|[^."`,][^.,]*';
const PATH = new RegExp(`(?:(${PART})\\.)?(${PART})(?:,\\s*|$)`, 'y');

/**
 * Reads `table` or `schema.table`, several with commas between them, and their keys: one name for all, or one for each.
 * @throws InputError; a name that has a dot or a comma in it, or begins with a quote, needs quotes
 */
export function keyPathsOf(tables: string, columns: string): KeyPath[] {
  const paths = pathsOf(tables);
  const names = columnsFor('--column', columns, paths.length);
  return paths.map((path, index) => ({ ...path, column: names[index]! }));
}

/**
 * A column for each of the tables, of an option that names one for all, or one for each with commas between them.
 * @throws InputError for another number of names
 */
export function columnsFor(option: string, columns: string, tables: number): string[] {
  const names = tables === 1 ? [columns] : columns.split(',').map((each) => each.trim());
  if (names.length !== 1 && names.length !== tables) {
    throw new InputError(`${option} ${columns} must be one name for all tables, or one for each of the ${tables}`);
  }
  return Array.from({ length: tables }, (_, index) => names[index] ?? names[0]!);
}

function pathsOf(text: string): TablePath[] {
  const paths: TablePath[] = [];
  PATH.lastIndex = 0;
  for (let at = 0; at < text.length; at = PATH.lastIndex) {
    const match = PATH.exec(text);
    if (match === null) break;
    const [schema, name] = [match[1], match[2]!].map((part) => (part === undefined ? undefined : unquoted(part)));
    paths.push({ schema, name: name! });
    if (PATH.lastIndex === text.length && !text.endsWith(',')) return paths;
  }
  throw new InputError(
    `--table ${text} must be table or schema.table, or several with commas between them; names with dots or commas in ` +
      `them in quotes: '"a.b"'`,
  );
}

function unquoted(part: string): string {
  const quote = part.charAt(0);
  return quote === '"' || quote === '`' ? part.slice(1, -1).replaceAll(quote + quote, quote) : part.trimEnd();
}

/** The number that a database gives as text; 0 for an empty table. */
export function numberIn(found: Readonly<Record<string, unknown>> | undefined): bigint {
  return BigInt((found?.['highest'] as string | null | undefined) ?? 0);
}

export function missingColumn({ schema, name }: TablePath, column: string): InputError {
  const table = schema === undefined ? name : `${schema}.${name}`;
  return new InputError(`there is no column ${column} in a table ${table} of this database (--table, --column)`);
}

export function notAnInteger(table: string, column: string, type: string): CommandFailedError {
  return new CommandFailedError(
    `${table}.${column} is ${type}: only integer keys can be adopted. Give the table a new bigint column with ` +
      `@GeneratedSnowflake({ primary: false }), fill it for the old rows, and make it the key afterwards`,
  );
}

/** Columns that no table but the worker table has together, in each of its ages. */
const OF_WORKER_TABLES = ['code', 'time_unit', 'heartbeat_time', 'version', 'del_flag'];

/** Its ids are no keys: they are part of every ID. */
export function refuseWorkerTable(table: string, columns: readonly string[]): void {
  const names = columns.map((name) => name.toLowerCase());
  if (!OF_WORKER_TABLES.every((each) => names.includes(each))) return;
  throw new CommandFailedError(
    `${table} is a worker table of Raindrop, whose ids are worker ids: there is nothing to adopt. Name a table of your own`,
  );
}

/** Nothing would keep the same ID from being there twice. */
export function notAKey(table: string, column: string): CommandFailedError {
  return new CommandFailedError(
    `${table}.${column} is no key: it is not part of the primary key, and not unique by itself. Make it one first, or ` +
      `name another with --column`,
  );
}

/** What refers to another key is widened with that key. */
export function refersElsewhere(table: string, column: string, to: string): CommandFailedError {
  return new CommandFailedError(`${table}.${column} refers to ${to}: adopt that key, and this one is widened with it`);
}

/** A column that refers to two keys cannot have two types. */
export function refersTwice(table: string, column: string, to: string): CommandFailedError {
  return new CommandFailedError(
    `${table}.${column} would become bigint, and refers to ${to} as well: make that key bigint first`,
  );
}

/** Its values would go on being made by the database. */
export function makesKeys(table: string, column: string): CommandFailedError {
  return new CommandFailedError(
    `${table}.${column} has the default of an expression, by which the database makes keys: drop the default first ` +
      `(ALTER COLUMN ... DROP DEFAULT)`,
  );
}

/** A computed column: its author would have to widen the columns that it is computed from. */
export function computedColumn(table: string, column: string, expression: string): CommandFailedError {
  return new CommandFailedError(
    `${table}.${column} is computed from ${expression}, and would have to hold new IDs: make it, and what it is ` +
      `computed from, bigint by hand first`,
  );
}

/** A column of the database, as far as that is of interest here. */
export interface Candidate extends TypedColumn {
  /** Whether a foreign key names it. */
  readonly isLinked: boolean;
}

const NAME = /^(.+?)(?:_id|_ID|Id|ID)$/;

const INTEGER = /int/i;

/**
 * The columns that are named like a reference, hold integers and have no foreign key. Left out are those whose name is
 * that of their own table, or of a table whose key stays as it is.
 * @param keys those that change
 * @param tables the names of all tables
 */
export function looseColumns(
  candidates: readonly Candidate[],
  keys: readonly TypedColumn[],
  tables: readonly string[],
): LooseColumn[] {
  return candidates.flatMap(({ isLinked, ...each }): LooseColumn[] => {
    const stem = NAME.exec(each.column)?.[1];
    if (stem === undefined || isLinked || !INTEGER.test(each.type) || isNameOf(stem, each.table)) return [];
    if (keys.some((key) => key.table === each.table && key.column === each.column)) return [];
    const key = keys.find(({ table }) => isNameOf(stem, table));
    if (key === undefined && tables.some((table) => isNameOf(stem, table))) return [];
    return [{ ...each, perhaps: key === undefined ? null : `${key.table}.${key.column}` }];
  });
}

/** Whether `orderLine` or `order_line` speaks of a table `order_lines`. */
export function isNameOf(stem: string, table: string): boolean {
  const [one, many] = [stem, table].map((name) => name.replace(/[^A-Za-z0-9]/g, '').toLowerCase());
  return [one!, `${one!}s`, `${one!}es`, one!.replace(/y$/, 'ies')].includes(many!);
}
