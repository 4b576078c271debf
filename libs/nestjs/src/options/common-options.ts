import type { LoggerService } from '@nestjs/common';
import type { OptionReader } from '@raindrop/core';
import {
  DATABASE_CONFIG_RULE,
  databaseOptionsOf,
  type DatabaseConfig,
  type DatabaseOptions,
} from '../typeorm/database-config.js';
import { isTableName, TABLE_NAME_RULE } from '../typeorm/database/table-name.js';
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
   * A database of its own for the tables; like `tableName` refused with worker ids that need none.
   * @range TypeORM `DataSourceOptions`, or a `mysql:`, `mariadb:`, `postgres:`, `sqlite:` URL
   * @defaultValue the application's DataSource
   */
  dbConfig?: DatabaseConfig | undefined;
  /**
   * Accept an in-memory database, whose workers only this process (or worker thread) knows.
   * @range true, false
   * @defaultValue false
   */
  allowVolatile?: boolean;
  /**
   * Warn, 10 s after the start, when nobody listens to SIGTERM or SIGINT: the worker id would not be given back.
   * False where something else calls `app.close()`.
   * @range true, false
   * @defaultValue true
   */
  checkShutdownHooks?: boolean;
  /**
   * Entities that cannot work with their driver, layout or services: do not start, log it, do not look.
   * @range `error`, `warn`, `off`
   * @defaultValue `error`
   */
  lint?: 'error' | 'warn' | 'off';
  /**
   * Where to log.
   * @range a Nest `LoggerService`
   * @defaultValue Nest's `Logger`
   */
  logger?: LoggerService;
}

export interface ResolvedCommonOptions {
  readonly tableName: string;
  readonly autoCreateTable: boolean;
  readonly dbConfig: DatabaseOptions | undefined;
  readonly allowVolatile: boolean;
  readonly checkShutdownHooks: boolean;
  readonly lint: 'error' | 'warn' | 'off';
  readonly logger: LoggerService | undefined;
}

export function readCommonOptions(reader: OptionReader, defaultTable: string): ResolvedCommonOptions {
  return {
    tableName: readTableName(reader, 'tableName', defaultTable),
    autoCreateTable: reader.boolean('autoCreateTable', true),
    dbConfig: readDbConfig(reader),
    allowVolatile: reader.boolean('allowVolatile', false),
    checkShutdownHooks: reader.boolean('checkShutdownHooks', true),
    lint: reader.oneOf('lint', ['error', 'warn', 'off'], 'error'),
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

function readDbConfig(reader: OptionReader): DatabaseOptions | undefined {
  const given = reader.value('dbConfig');
  if (given === undefined) return undefined;
  const database = databaseOptionsOf(given);
  // A URL may hold a password, which belongs into no message.
  if (database === undefined)
    reader.problem('dbConfig', typeof given === 'string' ? '(hidden)' : given, `must be ${DATABASE_CONFIG_RULE}`);
  return database;
}
