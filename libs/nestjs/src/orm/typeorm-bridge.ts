import type { InjectionToken } from '@nestjs/common';
import { ConfigurationError, type Layout } from '@raindrop/core';
import type { SqlDatabase } from '@raindrop/node';
import { isMissingPackage } from '@raindrop/node/internal';

/** What is used of `@raindrop/typeorm`, in types of our own: whoever has no TypeORM can read them. */
interface TypeormBridge {
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

/** The part of a service that entities' columns need: straight to its generator, a layer less for each row. */
export interface ColumnSource {
  readonly name: string;
  readonly layout: Layout | undefined;
  nextId(code?: string): bigint;
  nextString(code?: string): string;
  nextIdAsync(code?: string): Promise<bigint>;
  close(): Promise<void>;
}

/** What is done about entities that cannot work, and where the others are logged. */
export interface ColumnLint {
  readonly mode: 'error' | 'warn' | 'off';
  readonly warn: (message: string) => void;
}

/** The columns that a service fills. */
export interface SnowflakeColumns<Target> {
  attach(dataSource: AppDataSource): () => void;
  assign<Entity extends object>(entity: Entity, target?: Target): Entity;
  lintServices(): void;
  services(): Iterable<Pick<ColumnSource, 'close'>>;
  detachAll(): void;
}

/** A TypeORM `DataSource`, as far as the module needs it: its types are of no use to who has no TypeORM. */
export interface AppDataSource {
  readonly options: { readonly type: string };
  readonly isInitialized: boolean;
  readonly entityMetadatas: readonly unknown[];
}

/** Whose column it is, for a plain object: an entity's class, its `EntitySchema`, or its name. */
export type SnowflakeTarget =
  (abstract new (...parameters: never[]) => object) | { readonly options: { readonly name: string } } | string;
