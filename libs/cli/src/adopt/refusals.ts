import { CommandFailedError, InputError } from '../input-error.js';
import type { TablePath } from './old-key.js';

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

/** What it is computed from would have to be widened, which nobody but its author can know how. */
export function computedColumn(table: string, column: string, expression: string): CommandFailedError {
  return new CommandFailedError(
    `${table}.${column} is computed from ${expression}, and would have to hold new IDs: make it, and what it is ` +
      `computed from, bigint by hand first`,
  );
}
