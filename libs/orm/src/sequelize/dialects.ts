/** What differs between Sequelize's dialects. */

import { type Database, DATABASES } from '../databases.js';

interface SequelizeDialect {
  readonly database: Database;
  /** Whether IDs are texts in SQL. MySQL compares a `bigint` with a quoted text as doubles in places, and takes neighbours for one. */
  readonly quotesIds: boolean;
  /** Whether a list of IDs, as of `Op.any` and `Op.all`, must be one of numbers: PostgreSQL compares no bigint with texts. */
  readonly listsNumbers: boolean;
  /** Whether Sequelize can read back the keys of the rows that a bulk insert has found. */
  readonly returnsFoundRows: boolean;
  /** Whether an upsert names what is unique. MySQL finds the row by all that is. */
  readonly namesUnique: boolean;
  /** Whether its query interface has an `upsert()` of its own, which finds rows by the primary key alone. */
  readonly hasOwnUpsert: boolean;
  /** What to do about a rounded key. @param options `dialectOptions` */
  readonly cureOf: (options: object | undefined) => string;
}

/** Those that Raindrop is not tested with, too. */
const OTHER: SequelizeDialect = {
  database: 'postgres',
  quotesIds: true,
  listsNumbers: false,
  returnsFoundRows: false,
  namesUnique: true,
  hasOwnUpsert: false,
  // On PostgreSQL Sequelize reads by the type parsers of the process.
  cureOf: () => DATABASES.postgres.cureOf(undefined),
};

const MYSQL: SequelizeDialect = {
  ...OTHER,
  database: 'mysql',
  quotesIds: false,
  namesUnique: false,
  // Sequelize sets it to true by default.
  cureOf: (options) => DATABASES.mysql.cureOf({ supportBigNumbers: true, ...options }),
};

const DIALECTS: Readonly<Record<string, SequelizeDialect>> = {
  postgres: { ...OTHER, listsNumbers: true, returnsFoundRows: true },
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
export function dialectNamed(name: string | undefined): SequelizeDialect {
  return DIALECTS[name ?? ''] ?? OTHER;
}
