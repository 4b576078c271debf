import type { OptionReader } from '@raindrop/core/internal';
import type { SqlDatabase } from '../database/sql-database.js';
import type { Logger } from '../ports/logger.js';
import { isTableName, TABLE_NAME_RULE } from '../database/table-name.js';
import { readDbConfig, type DatabaseAddress } from './db-config.js';
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
   * The database of the tables; like `tableName` refused with worker ids that need none. A URL's `?schema=`,
   * `currentSchema` or `search_path` names the schema of the tables on PostgreSQL. A list has several addresses of it:
   * docs/reliability.md
   * @range a `mysql:`, `mariadb:`, `postgres:`, `sqlite:` URL, its settings (`{ type, host, ... }`), or
   *   `dataSourceDatabase(options)` of `@raindrop/typeorm`; or a list
   * @defaultValue in Nest the application's DataSource
   */
  dbConfig?: DatabaseAddress | readonly DatabaseAddress[] | undefined;
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
