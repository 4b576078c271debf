import type { DataSource, EntityTarget, ObjectLiteral } from 'typeorm';
import { attachedTo, attachSnowflakes } from './attach-snowflakes.js';
import { report, STRICT_LINT, type EntityLint } from './entity-lint.js';
import { lintServices } from './lint-columns.js';
import type { InsertRun } from './row-claims.js';
import { UnknownEntityError } from './snowflake-errors.js';
import type { SnowflakeSource } from './snowflake-source.js';
import type { SnowflakeSubscriber } from './snowflake-subscriber.js';

/** Whose column it is, for a plain object: a class, an `EntitySchema`, or an entity's name. */
export type SnowflakeTarget = EntityTarget<ObjectLiteral>;

/** The DataSources whose columns one service fills. */
export class AttachedSnowflakes {
  private readonly subscribers = new Map<DataSource, SnowflakeSubscriber>();

  constructor(
    private readonly source: SnowflakeSource,
    private readonly lint: EntityLint = STRICT_LINT,
  ) {}

  /** @returns detaches; safe to call twice */
  attach(dataSource: DataSource): () => void {
    const subscriber = attachSnowflakes(dataSource, this.source, this.lint);
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
      // One service speaks for all of a DataSource.
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

function nameOf(target: EntityTarget<object>): string {
  if (typeof target === 'string') return target;
  if (typeof target === 'function') return target.name;
  return 'options' in target ? target.options.name : target.name;
}
