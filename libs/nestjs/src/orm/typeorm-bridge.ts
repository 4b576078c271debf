import type { InjectionToken } from '@nestjs/common';
import { ConfigurationError } from '@raindrop/core';
import { isMissingPackage } from '@raindrop/node/internal';
import type * as bridge from '@raindrop/typeorm/internal';
import type { DataSource } from 'typeorm';
import type { AppDataSource } from './app-data-source.js';

export type { AttachedSnowflakes, SnowflakeSource } from '@raindrop/typeorm/internal';
export type { SnowflakeTarget as EntityTarget } from '@raindrop/typeorm';

/**
 * What the module needs of TypeORM; an application without TypeORM never gets here.
 * @throws ConfigurationError when it is not installed
 */
export function typeormBridge(): typeof bridge {
  try {
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    return require('@raindrop/typeorm/internal') as typeof bridge;
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

/** A DataSource, where TypeORM is there. */
export function asDataSource(given: AppDataSource): DataSource {
  return given as DataSource;
}
