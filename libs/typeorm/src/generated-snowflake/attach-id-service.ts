import type { Layout } from '@raindrop/core';
import type { IdService } from '@raindrop/node';
import type { DataSource } from 'typeorm';
import { AttachedSnowflakes } from './attached-snowflakes.js';
import type { EntityLint } from './entity-lint.js';

/** The part of an `IdService` that columns need. */
export type AttachedService = Pick<IdService, 'name' | 'status' | 'layout' | 'nextId' | 'nextString' | 'nextIdAsync'>;

/** The options of {@link attachIdService}. */
export interface AttachOptions {
  /** What is done about entities that cannot work. Default: the first one is an error, and warnings are process warnings. */
  readonly lint?: EntityLint;
}

/**
 * Lets a service fill the `@GeneratedSnowflake()` columns of a DataSource, without Nest: in scripts, seeds and servers of
 * any kind. In Nest, RaindropModule does it for the application's DataSources.
 * @param dataSource initialised; after `destroy()` and `initialize()` attach again
 * @param ids what `openIdService()` returns
 * @returns detaches; safe to call twice
 * @throws DataSourceNotInitializedError; EntityLintError; AlreadyAttachedError for another service of this name
 */
export function attachIdService(dataSource: DataSource, ids: AttachedService, options: AttachOptions = {}): () => void {
  return new AttachedSnowflakes(
    {
      name: ids.name,
      layout: layoutOf(ids),
      nextId: (code) => ids.nextId(code),
      nextString: (code) => ids.nextString(code),
      nextIdAsync: (code) => ids.nextIdAsync(code),
    },
    options.lint,
  ).attach(dataSource);
}

function layoutOf(ids: AttachedService): Layout | undefined {
  return ids.status().idMode === 'snowflake' ? ids.layout : undefined;
}
