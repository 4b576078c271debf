import { CommandFailedError, InputError } from '../../input-error.js';

export function notAUuid(table: string, column: string, type: string): CommandFailedError {
  return new CommandFailedError(
    `${table}.${column} is ${type}: --from uuid takes uuid, char(36), varchar(36), char(32), binary(16) and, on ` +
      `PostgreSQL, text. For integers leave --from out`,
  );
}

export function notUniqueAlone(table: string, column: string): CommandFailedError {
  return new CommandFailedError(
    `${table}.${column} is not unique by itself, or may be NULL: a row could not be told by it. Make it the primary key, ` +
      `or NOT NULL and unique, first`,
  );
}

/** What would be lost, or go on with the old column, when another takes its name. */
export function inTheWay(what: string, place: string): CommandFailedError {
  return new CommandFailedError(
    `${what} stands in the way of new keys for ${place}: drop it before the migration, and create it again after`,
  );
}

export function nameIsTaken(table: string, column: string): CommandFailedError {
  return new CommandFailedError(
    `${table} has a column ${column} already: the migration needs that name. Rename it first`,
  );
}

export function noOrder(table: string, column: string, versions: string): InputError {
  return new InputError(
    `${table}.${column} has UUIDs of version ${versions}, which do not tell when they were made: give the column that ` +
      `does, --order-by created_at`,
  );
}

export function notAnOrder(table: string, column: string, why: string): InputError {
  return new InputError(`--order-by ${column}: ${why} in ${table}. Name a column that says when a row was made`);
}

export function notOnSqlite(): CommandFailedError {
  return new CommandFailedError(
    'adopt --from uuid works on MariaDB, MySQL and PostgreSQL. On SQLite give the rows a second column: ' +
      '@GeneratedSnowflake({ primary: false, unique: true, nullable: true }) number!: string',
  );
}
