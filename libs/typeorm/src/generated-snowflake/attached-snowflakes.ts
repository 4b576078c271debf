import type { DataSource, EntityTarget, ObjectLiteral } from 'typeorm';
import { ConfigurationError, type Layout } from '@raindrop/core';
import type { IdService } from '@raindrop/node';
import { refuseNonObject } from '@raindrop/node/internal';
import { attachedTo, attachSnowflakes } from './attach-snowflakes.js';
import { type EntityLint, report, STRICT_LINT } from './entity-lint.js';
import { lintNumbers, lintServices } from './lint-columns.js';
import { lookAtColumns, wasLookedAt } from './real-columns.js';
import type { InsertRun } from './insert-runs.js';
import { UnknownEntityError } from './snowflake-errors.js';
import type { SnowflakeSource } from './generated-column.js';
import type { SnowflakeSubscriber } from './snowflake-subscriber.js';

/** The entity that a plain object is a row of: a class, an `EntitySchema`, or an entity's name. */
export type SnowflakeTarget = EntityTarget<ObjectLiteral>;

/** The DataSources whose columns one service fills. */
export class AttachedSnowflakes {
  private readonly subscribers = new Map<DataSource, SnowflakeSubscriber>();

  constructor(
    private readonly source: SnowflakeSource,
    private readonly lint: EntityLint = STRICT_LINT,
  ) {}

  /**
   * The first insert looks at the columns in the database, unless that has been done.
   * @returns detaches; safe to call twice
   */
  attach(dataSource: DataSource): () => void {
    if (dataSource.isInitialized) report(lintNumbers(dataSource, this.source), this.lint);
    const subscriber = attachSnowflakes(dataSource, this.source, this.lint);
    subscriber.look = lookFirst(dataSource, subscriber, this.lint);
    this.subscribers.set(dataSource, subscriber);
    return () => {
      subscriber.detach();
      if (this.subscribers.get(dataSource) === subscriber) this.subscribers.delete(dataSource);
    };
  }

  /** @throws UnknownEntityError; SnowflakeNotAssignedError for an object that stands in an array twice */
  assign<Entity extends object>(entity: Entity, target?: SnowflakeTarget): Entity {
    let isOver = false;
    try {
      this.assignIn({ isOver: () => isOver }, entity, target);
      return entity;
    } finally {
      isOver = true;
    }
  }

  private assignIn(run: InsertRun, entity: object, target: SnowflakeTarget | undefined): void {
    if (Array.isArray(entity)) {
      for (const each of entity as object[]) this.assignIn(run, each, target);
      return;
    }
    const of = target ?? entity.constructor;
    for (const [dataSource, subscriber] of this.subscribers) {
      if (dataSource.hasMetadata(of) && subscriber.assign(entity, dataSource.getMetadata(of), run)) return;
    }
    throw new UnknownEntityError(this.source.name, nameOf(of));
  }

  /**
   * Looks for columns whose service is missing, when every service has been attached.
   * @throws EntityLintError
   */
  lintServices(): void {
    for (const dataSource of this.subscribers.keys()) {
      // The first service of a DataSource reports for all of them.
      const isFirst = attachedTo(dataSource)[0] === this.subscribers.get(dataSource);
      if (isFirst) report(lintServices(dataSource), this.lint);
    }
  }

  /** The services of these DataSources, this one among them. */
  services(): Set<SnowflakeSource> {
    return new Set([...this.subscribers.keys()].flatMap(attachedTo).map(({ source }) => source));
  }

  detachAll(): void {
    for (const subscriber of this.subscribers.values()) subscriber.detach();
    this.subscribers.clear();
  }
}

/** Inserts that come first at once share one look. After one that was refused, the next insert looks again. */
function lookFirst(
  dataSource: DataSource,
  subscriber: SnowflakeSubscriber,
  lint: EntityLint,
): SnowflakeSubscriber['look'] {
  if (lint.mode === 'off') return undefined;
  const { source } = subscriber;
  let looking: Promise<unknown> | undefined;
  return async (query) => {
    if (!wasLookedAt(dataSource, source)) {
      looking ??= lookAtColumns(dataSource, source, lint, query).finally(() => (looking = undefined));
      await looking;
    }
    subscriber.look = undefined;
  };
}

function nameOf(target: EntityTarget<object>): string {
  if (typeof target === 'string') return target;
  if (typeof target === 'function') return target.name;
  return 'options' in target ? target.options.name : target.name;
}

/** The part of an `IdService` that columns need. */
export type AttachedService = Pick<IdService, 'name' | 'status' | 'layout' | 'nextId' | 'nextString' | 'nextIdAsync'>;

/** The options of {@link attachIdService}. */
export interface AttachOptions {
  /**
   * The treatment of entities that cannot work. Default: the first one is an error, and warnings are process warnings.
   */
  readonly lint?: EntityLint;
}

/**
 * Lets a service fill the `@GeneratedSnowflake()` columns of a DataSource, without Nest: in scripts, seeds and servers of
 * any kind. In Nest, RaindropModule does it for the application's DataSources.
 *
 * The first insert asks the database once whether the columns can hold IDs, as the start of Nest does, and fails with an
 * EntityLintError if they cannot. A program that reads first awaits `checkPrecision()` instead.
 * @param dataSource initialised; after `destroy()` and `initialize()` attach again
 * @param ids what `openIdService()` returns
 * @returns detaches; safe to call twice
 * @throws ConfigurationError for another value; DataSourceNotInitializedError; EntityLintError; AlreadyAttachedError for another service of this name
 */
export function attachIdService(dataSource: DataSource, ids: AttachedService, options: AttachOptions = {}): () => void {
  refuseNonObject('dataSource', dataSource, 'must be a DataSource of TypeORM');
  requireService(ids);
  refuseNonObject('options', options, 'must be an object with the options');
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

function requireService(ids: Partial<AttachedService> | null | undefined): void {
  const message = 'must be the service that openIdService() promises; is an await missing?';
  refuseNonObject('ids', ids, message);
  if (typeof ids?.status === 'function') return;
  throw new ConfigurationError([{ option: 'ids', given: 'an object without status()', message }]);
}

function layoutOf(ids: AttachedService): Layout | undefined {
  return ids.status().idMode === 'snowflake' ? ids.layout : undefined;
}
