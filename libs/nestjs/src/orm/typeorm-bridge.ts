import type { InjectionToken } from '@nestjs/common';
import { ConfigurationError } from '@raindrop/core';
import { isMissingPackage, requireSupported } from '@raindrop/node/internal';
import type * as bridge from '@raindrop/typeorm/internal';
import type { DataSource } from 'typeorm';
import type { AppDataSource } from './app-data-source.js';

export type { AttachedSnowflakes, SnowflakeSource } from '@raindrop/typeorm/internal';
export type { SnowflakeTarget as EntityTarget } from '@raindrop/typeorm';

/**
 * Loads what the module needs of TypeORM. An application without TypeORM does not call it.
 * @throws ConfigurationError when TypeORM is not installed
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

/** Returns the token of a DataSource of `TypeOrmModule`; undefined when `@nestjs/typeorm` is not installed. */
export function dataSourceToken(name?: string): InjectionToken | undefined {
  requireSupported('@nestjs/typeorm', () => __filename);
  try {
    // eslint-disable-next-line @typescript-eslint/no-require-imports
    const nestTypeorm = require('@nestjs/typeorm') as { getDataSourceToken(name?: string): InjectionToken };
    return nestTypeorm.getDataSourceToken(name);
  } catch (error) {
    if (isMissingPackage(error, '@nestjs/typeorm', 'typeorm')) return undefined;
    throw error;
  }
}

/** Gives a DataSource the type that TypeORM declares. */
export function asDataSource(given: AppDataSource): DataSource {
  return given as DataSource;
}
