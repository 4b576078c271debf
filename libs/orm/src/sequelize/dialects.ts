/** What differs between Sequelize's dialects. */

import { type Database, DATABASES } from '../databases.js';

/** Those that Raindrop is not tested with. */
const OTHER = {
  database: 'postgres' as Database,
  /** Whether IDs are texts in SQL. MySQL compares a `bigint` with a quoted text as doubles in places, and takes neighbours for one. */
  quotesIds: true,
  /** Whether a list of IDs, as of `Op.any` and `Op.all`, must be one of numbers: PostgreSQL compares no bigint with texts. */
  listsNumbers: false,
  /** Whether Sequelize can read back the keys of the rows that a bulk insert has found. */
  returnsFoundRows: false,
  /** Whether an upsert names what is unique. MySQL finds the row by all that is. */
  namesUnique: true,
  /** Whether its query interface has an `upsert()` of its own, which finds rows by the primary key alone. */
  hasOwnUpsert: false,
  /** The schema of tables that name none. */
  ownSchema: undefined as string | undefined,
  /** What to do about a rounded key. On PostgreSQL Sequelize reads by the type parsers of the process. */
  cureOf: (() => DATABASES.postgres.cureOf(undefined)) as (dialectOptions: object | undefined) => string,
};

const MYSQL: typeof OTHER = {
  ...OTHER,
  database: 'mysql',
  quotesIds: false,
  namesUnique: false,
  // Sequelize sets it to true by default.
  cureOf: (dialectOptions) => DATABASES.mysql.cureOf({ supportBigNumbers: true, ...dialectOptions }),
};

const DIALECTS: Readonly<Record<string, typeof OTHER>> = {
  postgres: { ...OTHER, ownSchema: 'public', listsNumbers: true, returnsFoundRows: true },
  mysql: MYSQL,
  mariadb: MYSQL,
  sqlite: {
    ...OTHER,
    database: 'sqlite',
    hasOwnUpsert: true,
    cureOf: () => 'sqlite3 makes a number of every integer: make the column a text',
  },
};

/** @param name as Sequelize names it; undefined as long as an attribute is in no model */
export function dialectNamed(name: string | undefined): Readonly<typeof OTHER> {
  return DIALECTS[name ?? ''] ?? OTHER;
}
