import type { Layout } from '@raindrop/core';
import type { AppDataSource } from './app-data-source.js';

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
