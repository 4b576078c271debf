import type { SupportedDatabase } from '@raindrop/node';
import type { KeyPath, TypedColumn } from '../old-key.js';

/** A part of the work. After an error it can be run again, wherever it ended. */
export interface Phase {
  readonly name: string;
  /** SQL that finds a record when this part has been done. */
  readonly unless?: string;
  /** SQL that must find no record. */
  readonly none?: string;
  /** The error when it finds one. */
  readonly says?: string;
  /** SQL for the last value of `{from}`, in the column `last`. */
  readonly last?: string;
  /** SQL for a batch: the rows from `{from}` to below `{to}`. Each batch is a transaction. */
  readonly each?: string;
  /** The first value of `{from}`. Default 0. */
  readonly first?: bigint;
  /** The size of a batch. */
  readonly size?: number;
  /** Statements, one after the other. */
  readonly run?: readonly string[];
}

/** The phases of the two migrations, up and down. */
export interface UuidPhases {
  /** Up, first migration. The application may write meanwhile. */
  readonly number: readonly Phase[];
  /** Down, first migration: drops what `number` has made. */
  readonly forget: readonly Phase[];
  /** Up, second migration. The application must be stopped before. */
  readonly swap: readonly Phase[];
  /** Down, second migration. */
  readonly back: readonly Phase[];
  /** Statements at the beginning of each, and at its end, also after an error. */
  readonly begin: readonly string[];
  readonly end: readonly string[];
}

/** The numbers that the rows of a key get. */
export interface Numbers {
  /** The existing rows are numbered in this order, from the first number of the key on. */
  readonly order: string;
  /** The rows that are inserted meanwhile are numbered from here on. */
  readonly reserve: bigint;
}

/** A key, as the flags give it, with the column that says when a row was created. */
export interface UuidPath extends KeyPath {
  readonly orderBy: string | undefined;
}

/** A key of UUIDs, and the columns that refer to it. */
export interface UuidKey {
  readonly key: TypedColumn;
  readonly references: readonly TypedColumn[];
  /** The references that the flags name as keys as well. */
  readonly following: readonly TypedColumn[];
  /** The table, as SQL names it. */
  readonly path: string;
  /** The column that says when a row was created; undefined: the time in the UUIDs says it. */
  readonly orderBy: string | undefined;
  /** SQL for the 32 digits of the key, in small letters. */
  readonly hex: string;
  /** The first number that a row may get. */
  readonly first: bigint;
}

/** The keys of all tables of the flags. */
export interface UuidKeys {
  readonly database: SupportedDatabase;
  /** The keys that get numbers of their own, in the order of the flags. */
  readonly keys: readonly UuidKey[];
  /**
   * @param numbers those of each key
   * @param floor all numbers are below this
   */
  readonly phases: (numbers: readonly Numbers[], floor: bigint) => UuidPhases;
}

/** The name of the column that keeps the UUIDs of a key. */
export function keptName({ column }: Pick<TypedColumn, 'column'>): string {
  return `${column}_uuid`;
}

/** A column that is replaced by another one, which takes its name. */
export interface Replaced {
  readonly path: string;
  readonly table: string;
  readonly column: string;
  /** The column that takes its place. */
  readonly fresh: string;
  /** The type of the new column. */
  readonly type: string;
  readonly isNullable: boolean;
  /** The name under which the old column is kept; it is dropped when left out. */
  readonly keep?: string;
  /**
   * The source of the values, where they are not filled yet: column `take` of the row in `path` whose column `at` is
   * equal.
   */
  readonly source?: { readonly path: string; readonly at: string; readonly take: string };
}

/** Makes a name for something of the migration; one that is too long for a database is cut off. */
export function ownName(name: string, what = ''): string {
  return `raindrop_${what}${name.slice(0, 46 - what.length)}`;
}

/** A table whose keys are numbered, and the name of the column that keeps the old ones. */
interface Numbered {
  readonly path: string;
  readonly table: string;
  readonly kept: string;
  /** There are numbers for so many rows. */
  readonly room: bigint;
}

/** The checks before anything is written, on every database. @param isSwapped SQL that finds a record after the swap */
export function firstChecks({ path, table, kept, room }: Numbered, isSwapped: string): Phase[] {
  return [
    {
      name: 'nothing was swapped yet',
      none: isSwapped,
      says: `${table} has a column ${kept} already: its keys were swapped before`,
    },
    {
      name: 'enough numbers',
      none: `SELECT 1 FROM ${path} HAVING COUNT(*) >= ${room}`,
      says: `${table} has grown past the numbers that were set aside: run raindrop adopt again`,
    },
  ];
}
