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
  /** The table, `name` or `schema.name`. */
  tableName?: string;
  /** Create tables that are missing. Default true. */
  autoCreateTable?: boolean;
  /** A database of its own, as TypeORM options or a URL. Default: that of the application's DataSource. */
  dbConfig?: DatabaseConfig | undefined;
  /** Accept an in-memory database, which only this process knows. Default false. */
  allowVolatile?: boolean;
  /** Warn when nobody listens to SIGTERM or SIGINT 10 s after the start: nothing would be given back. Default true. */
  checkShutdownHooks?: boolean;
  /**
   * What is done about `@GeneratedSnowflake()` columns that cannot work with their driver, layout or services: refuse to
   * start, log a warning, or nothing. Default `error`.
   */
  lint?: 'error' | 'warn' | 'off';
  /** Where to log. Default Nest's `Logger`. */
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
