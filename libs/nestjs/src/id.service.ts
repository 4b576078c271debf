import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { IdService as IssuingService, type IdEngine } from '@raindrop/node';
import type { AppDataSource, ColumnLint, SnowflakeTarget } from './orm/app-data-source.js';
import {
  asDataSource,
  type AttachedSnowflakes,
  type EntityTarget,
  type SnowflakeSource,
  typeormBridge,
} from './orm/typeorm-bridge.js';

/**
 * Issues IDs, from its injection until the application has shut down.
 *
 * The plain calls never wait: they answer at once or throw a typed error, whose `retryable` says whether the same call
 * can succeed later. The `...Async` calls wait where waiting helps. Every call takes an optional `code`, a business
 * kind with a sequence of its own: the same ID may appear under two codes.
 */
@Injectable()
export class IdService extends IssuingService implements OnApplicationBootstrap, OnApplicationShutdown {
  private attached: AttachedSnowflakes | undefined;

  constructor(
    name: string,
    engine: IdEngine,
    private readonly lint?: ColumnLint,
  ) {
    super(name, engine);
  }

  /**
   * Called by Nest when every module is up: looks for entities that name a service that is not imported.
   * @throws EntityLintError; the worker ids are given back before, because Nest calls no hooks of an application that
   * does not start
   */
  async onApplicationBootstrap(): Promise<void> {
    try {
      this.attached?.lintServices();
    } catch (error) {
      await Promise.all([...this.columns().services()].map(async (each) => each.close?.()));
      throw error;
    }
  }

  /** Called by Nest when the server has closed: gives the worker id back. Then every call throws `ClosedError`. */
  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }

  override async close(): Promise<void> {
    await super.close();
    this.attached?.detachAll();
  }

  /**
   * Lets this service fill the `@GeneratedSnowflake()` columns of a DataSource made outside Nest: in seeds, in the
   * TypeORM CLI, for tenants. The module attaches the DataSources of the application itself.
   * @param dataSource an initialised one; after `destroy()` and `initialize()` attach it again
   * @returns a function that detaches it, also when the module has attached it; a shutdown detaches it as well
   * @throws DataSourceNotInitializedError; EntityLintError; AlreadyAttachedError for another service of this name
   */
  attach(dataSource: AppDataSource): () => void {
    return this.columns().attach(asDataSource(dataSource));
  }

  /**
   * Gives an entity, or each of an array, the IDs it lacks, before it is saved: to know the ID early, or for inserts
   * that call no subscribers. It fills the entity's own columns, not those of its relations; an ID that is set stays.
   * @param target the entity's class, schema or name, for a plain object
   * @returns the entity
   * @throws UnknownEntityError when no attached DataSource has the entity, or the entity has no column of this service
   */
  assign<Entity extends object>(entity: Entity, target?: SnowflakeTarget): Entity {
    return this.columns().assign(entity, target as EntityTarget | undefined);
  }

  private columns(): AttachedSnowflakes {
    const { AttachedSnowflakes } = typeormBridge();
    this.attached ??= new AttachedSnowflakes(this.asSource(), this.lint);
    return this.attached;
  }

  private asSource(): SnowflakeSource {
    const { name } = this;
    const { calls, layout } = this.engine;
    return {
      name,
      layout,
      nextId: (code) => calls.nextId(code),
      nextString: (code) => calls.nextString(code),
      nextIdAsync: (code) => calls.nextIdAsync(code),
      close: () => this.close(),
    };
  }
}
