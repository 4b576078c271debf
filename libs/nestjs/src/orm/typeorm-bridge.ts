import type { InjectionToken } from '@nestjs/common';
import { ConfigurationError } from '@raindrop/core';
import type { SqlDatabase } from '@raindrop/node';
import { isMissingPackage } from '@raindrop/node/internal';
import type { AppDataSource, SnowflakeTarget } from './app-data-source.js';
import type { SnowflakeColumns, ColumnLint, ColumnSource } from './snowflake-columns.js';

/** What is used of `@raindrop/typeorm`, in types of our own: whoever has no TypeORM can read them. */
export interface TypeormBridge {
  dataSourceDatabase(options: AppDataSource['options']): SqlDatabase;
  readonly AttachedSnowflakes: new (source: ColumnSource, lint?: ColumnLint) => SnowflakeColumns<SnowflakeTarget>;
  /** The services that fill the columns of a DataSource. */
  attachedTo(dataSource: AppDataSource): readonly unknown[];
  /** Throws when entities cannot work with what a service of this name and layout issues. */
  refuseColumns(dataSource: AppDataSource, service: Pick<ColumnSource, 'name' | 'layout'>, lint: ColumnLint): void;
  /** Compares entities with the database, in one query. Throws when its columns or its connection cannot hold an ID. */
  lookAtColumns(
    dataSource: AppDataSource,
    service: Pick<ColumnSource, 'name' | 'layout'>,
    lint: ColumnLint,
  ): Promise<void>;
  lintUnnamed(dataSource: AppDataSource, isMine: (service: string) => boolean): readonly object[];
  report(problems: readonly object[], lint: ColumnLint): void;
}

/**
 * What the module needs of TypeORM; an application without TypeORM never gets here.
 * @throws ConfigurationError when it is not installed
 */
export function typeormBridge(): TypeormBridge {
  try {
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    return require('@raindrop/typeorm/internal') as TypeormBridge;
  } catch (error) {
    if (!isMissingPackage(error, 'typeorm')) throw error;
    const message = 'needs the package typeorm, which is not installed: npm install typeorm @nestjs/typeorm';
    throw new ConfigurationError([{ option: 'dataSource', given: 'a DataSource', message }]);
  }
}

/** The token of a DataSource of `TypeOrmModule`; undefined where `@nestjs/typeorm` is not installed. */
export function dataSourceToken(name?: string): InjectionToken | undefined {
  try {
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    const nestTypeorm = require('@nestjs/typeorm') as { getDataSourceToken(name?: string): InjectionToken };
    return nestTypeorm.getDataSourceToken(name);
  } catch (error) {
    if (isMissingPackage(error, '@nestjs/typeorm', 'typeorm')) return undefined;
    throw error;
  }
}
