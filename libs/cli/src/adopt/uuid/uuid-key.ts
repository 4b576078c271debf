import type { SupportedDatabase } from '@raindrop/node';
import type { KeyPath, TypedColumn } from '../old-key.js';

/** A part of the work, which may be begun again wherever it ended. */
export interface Phase {
  readonly name: string;
  /** SQL that finds a record when this part has been done. */
  readonly unless?: string;
  /** SQL that must find no record. */
  readonly none?: string;
  /** What it means when it finds one. */
  readonly says?: string;
  /** SQL for the last value of `{from}`, in a column `last`. */
  readonly last?: string;
  /** SQL for the rows from `{from}` to before `{to}`. Each is a transaction. */
  readonly each?: string;
  /** Where `{from}` begins; 0 when left out. */
  readonly first?: bigint;
  /** By how much `{from}` grows. */
  readonly size?: number;
  /** Statements, one after the other. */
  readonly run?: readonly string[];
}

/** What each of the two migrations does, there and back. */
export interface UuidPhases {
  /** The application may write meanwhile. */
  readonly number: readonly Phase[];
  /** Takes back what `number` has made. */
  readonly forget: readonly Phase[];
  /** The application must have been stopped. */
  readonly swap: readonly Phase[];
  readonly back: readonly Phase[];
  /** Statements at the beginning of each, and at its end, also after an error. */
  readonly begin: readonly string[];
  readonly end: readonly string[];
}

/** Which numbers the rows of a key get. */
export interface Numbers {
  /** The rows of now get the key's first number and what follows, in this order. */
  readonly order: string;
  /** From here on count the rows that come meanwhile. */
  readonly reserve: bigint;
}

/** A key as it was asked for, with the column that says when a row was made. */
export interface UuidPath extends KeyPath {
  readonly orderBy: string | undefined;
}

/** A key of UUIDs and what refers to it. */
export interface UuidKey {
  readonly key: TypedColumn;
  readonly references: readonly TypedColumn[];
  /** Those of the references that are named keys themselves. */
  readonly following: readonly TypedColumn[];
  /** Its table, as SQL names it. */
  readonly path: string;
  /** The column that says when a row was made; undefined for the time in the UUIDs. */
  readonly orderBy: string | undefined;
  /** SQL for the 32 digits of the key, in small letters. */
  readonly hex: string;
  /** The first number that a row may get. */
  readonly first: bigint;
}

/** The keys of all tables that were named. */
export interface UuidKeys {
  readonly database: SupportedDatabase;
  readonly quoted: (name: string) => string;
  /** Those that get numbers of their own, in the order in which they were named. */
  readonly keys: readonly UuidKey[];
  /**
   * @param numbers of each key
   * @param floor all numbers are below
   */
  readonly phases: (numbers: readonly Numbers[], floor: bigint) => UuidPhases;
}

/** Under which name the UUIDs of a key are kept. */
export function keptName({ column }: Pick<TypedColumn, 'column'>): string {
  return `${column}_uuid`;
}

/** A column that gives way to another one, which takes its name. */
export interface Replaced {
  readonly path: string;
  readonly table: string;
  readonly column: string;
  /** The column that takes its place. */
  readonly fresh: string;
  /** The type of that one. */
  readonly type: string;
  readonly isNullable: boolean;
  /** Under which name the old one is kept; dropped when left out. */
  readonly keep?: string;
  /** Where the values come from, when they are not there yet: this table's row with the column `at` has them in `take`. */
  readonly source?: { readonly path: string; readonly at: string; readonly take: string };
}

/** Names that are too long for a database are cut off. */
export function ownName(name: string, what = ''): string {
  return `raindrop_${what}${name.slice(0, 46 - what.length)}`;
}

/** The table whose keys are numbered, and under which name the old ones are kept. */
interface Numbered {
  readonly path: string;
  readonly table: string;
  readonly kept: string;
  /** So many rows have numbers. */
  readonly room: bigint;
}

/** What is looked at before anything is written, on every database. @param isSwapped SQL with a row when that was done */
export function firstLooks({ path, table, kept, room }: Numbered, isSwapped: string): Phase[] {
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
