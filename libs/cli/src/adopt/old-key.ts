import type { SupportedDatabase } from '@raindrop/node';
import { CommandFailedError, InputError } from '../input-error.js';

/** A column, and its type in the words of the database. */
export interface TypedColumn {
  readonly table: string;
  readonly column: string;
  readonly type: string;
}

/** A column that may hold keys, although no foreign key says so. */
interface LooseColumn extends TypedColumn {
  /** The key that its name suggests, such as `users.id`; null when no table fits the name. */
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

/** The keys that go over to Raindrop, the columns that refer to them, and the work. */
export interface OldKeys {
  readonly database: SupportedDatabase;
  readonly keys: readonly OldKey[];
  /** The columns that refer to them, those that refer to these, and so on. */
  readonly references: readonly TypedColumn[];
  /**
   * Columns whose names suggest that they hold keys, and that have no foreign key. The migration leaves them as they
   * are.
   */
  readonly loose: readonly LooseColumn[];
  /** What must be removed first, a sentence each: the migration would fail on it, or lose it. */
  readonly obstacles: readonly string[];
  /** SQL that finds the obstacles (`what`, in words) when the migration begins: it must find none. */
  readonly guards: readonly string[];
  /** SQL for everything that the tables have (`what`, one object a record). After the change the same must be there. */
  readonly contents: readonly string[];
  readonly steps: MigrationSteps;
}

/** The advice about an obstacle. */
export const CLEAR_AWAY = 'drop it before the migration, and create it again after';

/** The steps of a migration: up and down. */
interface MigrationSteps {
  readonly up: readonly MigrationStep[];
  readonly down: readonly MigrationStep[];
  /** Statements that create again what was dropped, after an error on databases that do not roll table changes back. */
  readonly again: readonly string[];
}

/** A statement; or a column whose table SQLite rebuilds. */
export type MigrationStep = { readonly sql: string } | RebuiltColumn;

interface RebuiltColumn {
  readonly table: string;
  readonly column: string;
  /** Whether the database makes the values afterwards. */
  readonly isGenerated: boolean;
  /** Whether it then makes no value twice, not even after a DELETE (AUTOINCREMENT). */
  readonly isCounted: boolean;
}

/** Runs a statement and answers with its records. */
export type Query = (sql: string, values?: readonly string[]) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** `schema.table` or `table`, as the flag gives it. */
interface TablePath {
  readonly schema: string | undefined;
  readonly name: string;
}

/** A key, as the flags give it. */
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
 * Reads an option that names one column for all tables, or one for each, with commas between them.
 * @throws InputError for any other number of names
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
    `--table ${text} must be table or schema.table, or several, separated by commas; quote names that contain dots or ` +
      `commas: '"a.b"'`,
  );
}

function unquoted(part: string): string {
  const quote = part.charAt(0);
  return quote === '"' || quote === '`' ? part.slice(1, -1).replaceAll(quote + quote, quote) : part.trimEnd();
}

/** Reads the highest key, which the database gives as text; 0 for an empty table. */
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

/** Only the worker table has these columns together, in all its versions. */
const OF_WORKER_TABLES = ['code', 'time_unit', 'heartbeat_time', 'version', 'del_flag'];

/** Refuses the worker table: its ids are no keys, but a part of every ID. */
export function refuseWorkerTable(table: string, columns: readonly string[]): void {
  const names = columns.map((name) => name.toLowerCase());
  if (!OF_WORKER_TABLES.every((each) => names.includes(each))) return;
  throw new CommandFailedError(
    `${table} is a worker table of Raindrop, whose ids are worker ids: there is nothing to adopt. Name a table of your own`,
  );
}

/** The error for a column that is not unique: the same ID could be in it twice. */
export function notAKey(table: string, column: string): CommandFailedError {
  return new CommandFailedError(
    `${table}.${column} is not a key: it is neither part of the primary key nor unique by itself. Make it a key first, or ` +
      `name another column with --column`,
  );
}

/** The error for a key that refers to another key: it is widened with that one. */
export function refersElsewhere(table: string, column: string, to: string): CommandFailedError {
  return new CommandFailedError(`${table}.${column} refers to ${to}: adopt that key, and this one is widened with it`);
}

/** The error for a column that refers to two keys: it cannot have two types. */
export function refersTwice(table: string, column: string, to: string): CommandFailedError {
  return new CommandFailedError(
    `${table}.${column} would become bigint, and refers to ${to} as well: make that key bigint first`,
  );
}

/** The error for a column whose values the database would go on making. */
export function makesKeys(table: string, column: string): CommandFailedError {
  return new CommandFailedError(
    `${table}.${column} has an expression as its default, with which the database makes keys: drop the default first ` +
      `(ALTER COLUMN ... DROP DEFAULT)`,
  );
}

/** The error for a computed column: the user must widen the columns from which it is computed. */
export function computedColumn(table: string, column: string, expression: string): CommandFailedError {
  return new CommandFailedError(
    `${table}.${column} is computed from ${expression}, and would have to hold new IDs: make it, and what it is ` +
      `computed from, bigint by hand first`,
  );
}

/** A column of the database that may be a reference. */
export interface Candidate extends TypedColumn {
  /** Whether a foreign key names it. */
  readonly isLinked: boolean;
}

const NAME = /^(.+?)(?:_id|_ID|Id|ID)$/;

const INTEGER = /int/i;

/**
 * Finds the columns that are named like a reference, hold integers and have no foreign key. A column named after its
 * own table, or after a table whose key stays, is left out.
 * @param keys the keys that change
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

/** Whether a name such as `orderLine` or `order_line` means the table `order_lines`. */
export function isNameOf(stem: string, table: string): boolean {
  const [one, many] = [stem, table].map((name) => name.replace(/[^A-Za-z0-9]/g, '').toLowerCase());
  return [one!, `${one!}s`, `${one!}es`, one!.replace(/y$/, 'ies')].includes(many!);
}
