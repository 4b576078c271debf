import type { OptionReader } from '@raindrop/core/internal';
import type { SqlDatabase } from '../database/sql-database.js';
import {
  DATABASE_SETTINGS_RULE,
  databaseSettingsOf,
  describeSettings,
  type DatabaseSettings,
} from '../drivers/database-settings.js';
import { settingsDatabase } from '../drivers/settings-database.js';
import type { Logger } from '../ports/logger.js';
import { isTableName, TABLE_NAME_RULE } from '../database/table-name.js';
import { readLogger } from './logger-option.js';

/** The options that a service has in either mode. */
export interface CommonModuleOptions {
  /**
   * The table of this service. Services with different layouts need different worker tables, or different end bits.
   * @range `table` or `schema.table` of letters, digits, underscores
   * @defaultValue `soc_raindrop_worker`; for `disposable` `raindrop_worker_node`; in segment mode `raindrop_segment`
   */
  tableName?: string;
  /**
   * Create tables and columns that are missing; the rows are added in any case.
   * @range true, false
   * @defaultValue true
   */
  autoCreateTable?: boolean;
  /**
   * The database of the tables; like `tableName` refused with worker ids that need none.
   * @range a `mysql:`, `mariadb:`, `postgres:`, `sqlite:` URL, its settings (`{ type, host, ... }`), or
   *   `dataSourceDatabase(options)` of `@raindrop/typeorm`
   * @defaultValue in Nest the application's DataSource
   */
  dbConfig?: string | DatabaseSettings | SqlDatabase | undefined;
  /**
   * Accept an in-memory database, whose workers only this process (or worker thread) knows.
   * @range true, false
   * @defaultValue false
   */
  allowVolatile?: boolean;
  /**
   * Where to log.
   * @range an object with log(), warn() and error(), such as Nest's `LoggerService`
   * @defaultValue in Nest its `Logger`; elsewhere warnings and errors on standard error
   */
  logger?: Logger;
}

export interface ResolvedCommonOptions {
  readonly tableName: string;
  readonly autoCreateTable: boolean;
  readonly dbConfig: SqlDatabase | undefined;
  readonly allowVolatile: boolean;
  readonly logger: Logger | undefined;
}

export function readCommonOptions(reader: OptionReader, defaultTable: string): ResolvedCommonOptions {
  return {
    tableName: readTableName(reader, 'tableName', defaultTable),
    autoCreateTable: reader.boolean('autoCreateTable', true),
    dbConfig: readDbConfig(reader),
    allowVolatile: reader.boolean('allowVolatile', false),
    logger: readLogger(reader),
  };
}

export function readTableName(reader: OptionReader, option: string, fallback: string): string {
  const given = reader.value(option);
  if (given === undefined) return fallback;
  if (typeof given === 'string' && isTableName(given)) return given;
  reader.problem(option, given, `must be ${TABLE_NAME_RULE}`);
  return fallback;
}

function readDbConfig(reader: OptionReader): SqlDatabase | undefined {
  const given = reader.value('dbConfig') as CommonModuleOptions['dbConfig'] | null;
  if (given === undefined) return undefined;
  if (typeof given === 'object' && given !== null && 'driver' in given) return given;
  const settings = databaseSettingsOf(given);
  if (settings !== undefined) return settingsDatabase(settings, 'dbConfig');
  // A URL may hold a password, and so may settings: neither belongs into a message.
  reader.problem('dbConfig', describeSettings(given), `must be ${DATABASE_SETTINGS_RULE}`);
  return undefined;
}
