import { boolean, option, type OptionReader, type OptionsOf, type ReadOptions } from '@raindrop/core/internal';
import { ConfigurationError } from '@raindrop/core';
import type { SqlDatabase } from '../database/sql-database.js';
import type { Logger } from '../ports/logger.js';
import { isFileDatabase } from '../database/supported-database.js';
import { isTableName, TABLE_NAME_RULE } from '../database/table-name.js';
import { guarded } from '../system/listeners.js';
import { withAddresses } from '../database/addressed-connection.js';
import {
  databaseAddressesOf,
  type DatabaseSettings,
  describeSettings,
  settingsProblemOf,
} from '../drivers/database-settings.js';
import { settingsDatabases } from '../drivers/settings-database.js';

/** The options that a service has in either mode. */
export const commonOptions = {
  /**
   * The table of this service. Services with different layouts need different worker tables, or different end bits.
   * @range `table` or `schema.table` of letters, digits, underscores
   * @defaultValue `soc_raindrop_worker`; for `disposable` `raindrop_worker_node`; in segment mode `raindrop_segment`
   */
  tableName: option<string, string, DefaultTable>(readTableName, {
    readBy: 'tables',
    flag: ['--table <name>', 'worker table (default: soc_raindrop_worker)'],
  }),
  /**
   * Create missing tables and columns. Missing rows are added in either case.
   * @range true, false @defaultValue true
   */
  autoCreateTable: boolean({ default: true, readBy: 'tables' }),
  /**
   * The database of the tables. Like `tableName`, it is refused where worker ids need no database. On PostgreSQL
   * `?schema=`, `currentSchema` or `search_path` in the URL sets the schema. A list holds several addresses of one
   * database: docs/reliability.md
   * @range a `mysql:`, `mariadb:`, `postgres:`, `sqlite:` URL, its settings (`{ type, host, ... }`), or
   *   `dataSourceDatabase(options)` of `@raindrop/typeorm`; or a list
   * @defaultValue in Nest the application's DataSource
   */
  dbConfig: option<DatabaseAddress | readonly DatabaseAddress[] | undefined, SqlDatabase | undefined>(readDbConfig, {
    isSecret: true,
    readBy: 'tables',
    flag: ['--url <url>', 'database: mysql://, mariadb://, postgres:// or sqlite:file'],
  }),
  /**
   * Accept an in-memory database, although only this process (or worker thread) sees its worker rows.
   * @range true, false @defaultValue false
   */
  allowVolatile: boolean({ default: false, readBy: 'tables' }),
  /**
   * Where to log.
   * @range an object with log(), warn() and error(), such as Nest's `LoggerService`
   * @defaultValue in Nest its `Logger`; elsewhere warnings and errors on standard error
   */
  logger: option<Logger, Logger | undefined>(readLogger, { readBy: 'everyService' }),
};

/** The options that a service has in either mode. */
export interface CommonModuleOptions extends OptionsOf<typeof commonOptions> {}

export interface ResolvedCommonOptions extends ReadOptions<typeof commonOptions> {}

interface DefaultTable {
  readonly defaultTable: string;
}

/** Reads the name of a table. */
export function readTableName(reader: OptionReader, name: string, { defaultTable }: DefaultTable): string {
  const given = reader.value(name);
  if (given === undefined) return defaultTable;
  if (typeof given === 'string' && isTableName(given)) return given;
  reader.problem(name, given, `must be ${TABLE_NAME_RULE}`);
  return defaultTable;
}

/** A list of codes; undefined when none is given. */
export function readCodes(reader: OptionReader, name: string): readonly string[] | undefined {
  const given = reader.value(name);
  const isCode = (each: unknown): boolean => typeof each === 'string' && each.length >= 1 && each.length <= 128;
  if (given === undefined || (Array.isArray(given) && given.every(isCode))) return given;
  reader.problem(name, given, 'must be a list of strings of 1 to 128 characters');
  return [];
}

/** Any logger that can say what has to be said; the finer levels are left out where it has none. */
function readLogger(reader: OptionReader, name: string): Logger | undefined {
  const given = reader.value(name) as Partial<Logger> | null | undefined;
  if (given === undefined || ['log', 'warn', 'error'].every((each) => typeof given?.[each as 'log'] === 'function')) {
    return given as Logger | undefined;
  }
  reader.problem(name, given, 'must have log(), warn() and error(), like a Nest LoggerService');
  return undefined;
}

/** A logger that neither throws nor rejects, whatever the one behind it does. */
export function guardedLogger(logger: Logger): Logger {
  const level = (name: 'log' | 'warn' | 'error') => {
    return (...words: [message: string, ...rest: string[]]): void =>
      guarded(`The logger, called with '${words[0]}',`, () => logger[name](...words));
  };
  return { log: level('log'), warn: level('warn'), error: level('error') };
}

/**
 * Refuses what is no object of options. The value stays out of the message: a text may be a URL with its password.
 * @throws ConfigurationError naming `option`
 */
export function refuseNonObject(option: string, given: unknown, message: string): void {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return;
  const isNothing = given === undefined || given === null;
  const kind = isNothing ? String(given) : Array.isArray(given) ? 'an array' : `a ${typeof given}`;
  throw new ConfigurationError([{ option, given: kind, message }]);
}

/** One address of a database, or several in one URL. */
export type DatabaseAddress = string | DatabaseSettings | SqlDatabase;

/** Reads `dbConfig`: one address, or a list of them. */
export function readDbConfig(reader: OptionReader): SqlDatabase | undefined {
  const given = reader.value('dbConfig');
  if (given === undefined) return undefined;
  if (!Array.isArray(given)) return readAddress(reader, given, '');
  if (given.length === 0) reader.problem('dbConfig', given, 'must name at least one address');
  const databases = given.map((each, index) => readAddress(reader, each, `[${index}]: `));
  const found = databases.flatMap((each) => each?.addresses ?? each ?? []);
  if (found.length < given.length || found.length === 0) return undefined;
  const message = differenceOf(found);
  if (message !== undefined) reader.problem('dbConfig', found.map(({ type }) => type).join(', '), message);
  return withAddresses(found);
}

function readAddress(reader: OptionReader, given: unknown, which: string): SqlDatabase | undefined {
  if (typeof given === 'object' && given !== null && 'driver' in given) return given as SqlDatabase;
  const settings = databaseAddressesOf(given);
  if (settings !== undefined) return settingsDatabases(settings, 'dbConfig');
  // A URL may hold a password, and so may settings: neither belongs into a message.
  reader.problem('dbConfig', `${which}${describeSettings(given)}`, settingsProblemOf(given));
  return undefined;
}

/** Why these cannot be addresses of one database; undefined when they may be. */
function differenceOf(databases: readonly SqlDatabase[]): string | undefined {
  if (databases.length === 1) return undefined;
  const isOne = (of: (database: SqlDatabase) => unknown): boolean => new Set(databases.map(of)).size === 1;
  if (!isOne(({ type }) => type)) return 'must name addresses of one database, but these have different types';
  if (!isOne(({ schema }) => schema)) return 'must name addresses of one database, with the same schema';
  if (!isFileDatabase(databases[0]!.type)) return undefined;
  return 'must name one file: a SQLite database has no second address';
}
