import { CommandFailedError, InputError } from '../../input-error.js';

export function notAUuid(table: string, column: string, type: string): CommandFailedError {
  return new CommandFailedError(
    `${table}.${column} is ${type}: --from uuid accepts uuid, char(36), varchar(36), char(32), binary(16) and, on ` +
      `PostgreSQL, text. For integer keys omit --from`,
  );
}

export function notUniqueAlone(table: string, column: string): CommandFailedError {
  return new CommandFailedError(
    `${table}.${column} is not unique by itself, or may be NULL: it cannot identify a row. Make it the primary key, ` +
      `or NOT NULL and unique, first`,
  );
}

function namedTwice(table: string): InputError {
  return new InputError(`--table names ${table} twice: name each table once, and its one key with --column`);
}

/** The error for a column that refers to two keys: it cannot have the numbers of both. */
function refersToTwoKeys(place: string, key: string, other: string): CommandFailedError {
  return new CommandFailedError(
    `${place} refers to ${key} and to ${other}, whose rows get numbers of their own: one column cannot hold both. Drop one ` +
      'of the foreign keys, or let one of the keys refer to the other, first',
  );
}

/** The error for an object that would be lost, or go on using the old column, when another column takes its name. */
export function inTheWay(what: string, place: string): CommandFailedError {
  return new CommandFailedError(
    `${what} prevents new keys for ${place}: drop it before the migration, and create it again afterwards`,
  );
}

export function nameIsTaken(table: string, column: string): CommandFailedError {
  return new CommandFailedError(
    `${table} has a column ${column} already: the migration needs that name. Rename it first`,
  );
}

export function noOrder(table: string, column: string, versions: string): InputError {
  return new InputError(
    `${table}.${column} has UUIDs of version ${versions}, which do not contain the time of creation: name the column that ` +
      `does, such as --order-by created_at. If no column does, use any that is never NULL, such as --order-by ${column}: ` +
      `the numbers then say nothing about time`,
  );
}

export function notAnOrder(table: string, column: string, why: string): InputError {
  return new InputError(
    `--order-by ${column}: ${why} in ${table}. Name a column with the creation time of a row: one for all tables, or one for ` +
      'each, separated by commas',
  );
}

/** The error that lists the problems with the order of several tables. */
export function notOrders(each: readonly InputError[]): InputError {
  return new InputError(
    `the order in which rows were created is unknown in ${each.length} tables`,
    each.map(({ message }) => message),
  );
}

export function notOnSqlite(): CommandFailedError {
  return new CommandFailedError(
    'adopt --from uuid works on MariaDB, MySQL and PostgreSQL. On SQLite give the rows a second column: ' +
      '@GeneratedSnowflake({ primary: false, unique: true, nullable: true }) number!: string',
  );
}

/**
 * The error for `synchronize: true`: a start between or after the migrations would drop columns that no entity names.
 */
export function synchronizes(place: string, kept: string): CommandFailedError {
  return new CommandFailedError(
    `${place} sets synchronize: true: a start of the application would drop the numbers between the two migrations, and ` +
      `the UUIDs in ${kept} after them. Set synchronize: false before the first one, and leave it so`,
  );
}

/** The error of a swap back when the UUIDs are gone. */
export function uuidsAreGone(table: string, kept: string): string {
  return (
    `${table} has no column ${kept} any more, and its keys are numbers: the UUIDs were dropped (by synchronize: true?). ` +
    'Nothing was changed. Restore that column from a backup, unique and filled, or leave the keys as they are'
  );
}

/** The error of a swap that finds no numbers. */
export function numbersAreGone(table: string, fresh: string): string {
  return (
    `${table} has no column ${fresh}: the first migration has not run, or the column was dropped (by synchronize: true?). ` +
    'Nothing was swapped. Set synchronize: false, revert the first migration and run it again'
  );
}

/** A key whose rows get numbers, and the columns that hold its values. */
export interface ReferencedKey<Column> {
  readonly key: Column;
  /** The key, the columns that refer to it, those that refer to these, and so on. */
  readonly columns: readonly Column[];
}

interface Place {
  /** The table, as SQL names it. */
  readonly path: string;
  readonly table: string;
  readonly column: string;
}

/**
 * Finds, among the named keys, those that get numbers of their own, and the columns that refer to each. A named key
 * that refers to another named key is one of that key's columns, and gets its numbers. Where two keys refer to each
 * other, the one that was named first gets the numbers.
 * @param referring reads the columns with a foreign key to this one
 * @throws InputError for a table that is named twice; CommandFailedError for a column that would need two numbers
 */
export async function referencedKeys<Column extends Place>(
  named: readonly Column[],
  referring: (target: Column) => Promise<readonly Column[]>,
): Promise<ReferencedKey<Column>[]> {
  const found: ReferencedKey<Column>[] = [];
  for (const [at, key] of named.entries()) {
    if (named.findIndex(({ path }) => path === key.path) !== at) throw namedTwice(key.table);
    const columns = [key];
    for (const target of columns) {
      for (const each of await referring(target)) if (!isAmong(columns, each)) columns.push(each);
    }
    found.push({ key, columns });
  }
  const own = found.filter(
    ({ key, columns }, at) =>
      !found.some((other, before) => {
        const isFollowing = other.key !== key && isAmong(other.columns, key);
        return isFollowing && (before < at || !isAmong(columns, other.key));
      }),
  );
  for (const [at, { key, columns }] of own.entries()) {
    for (const other of own.slice(at + 1)) {
      const both = columns.find((each) => isAmong(other.columns, each));
      if (both !== undefined) throw refersToTwoKeys(placeOf(both), placeOf(key), placeOf(other.key));
    }
  }
  return own;
}

/** @returns true when the column is one of these */
export function isAmong(columns: readonly Place[], { path, column }: Pick<Place, 'path' | 'column'>): boolean {
  return columns.some((one) => one.path === path && one.column === column);
}

function placeOf({ table, column }: Place): string {
  return `${table}.${column}`;
}
