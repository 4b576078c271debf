import { EventEmitter } from 'node:events';
import { inspect } from 'node:util';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  parseId,
  type Layout,
  type ParsedId,
  type ShardedGenerator,
  type ShardedIdRequest,
  type WaitOptions,
} from '@raindrop/core';
import type { IdEngine } from './id-engine.js';
import type { IdServiceEvents, IdServiceStatus } from './id-service-status.js';
import { IssuingCalls } from './issuing-calls.js';
import { NoLayoutError } from './no-layout-error.js';
import { NoShardedIdsError } from './no-sharded-ids-error.js';
import { AttachedSnowflakes, type SnowflakeTarget } from './typeorm/generated-snowflake/attached-snowflakes.js';
import type { EntityLint } from './typeorm/generated-snowflake/entity-lint.js';
import type { SnowflakeSource } from './typeorm/generated-snowflake/snowflake-source.js';
import type { AppDataSource } from './typeorm/application-database.js';

/**
 * Issues IDs, from the moment it can be injected until the application has shut down.
 *
 * The plain calls never wait: they answer at once or throw a typed error, whose `retryable` says whether the same call
 * can succeed later. The `...Async` calls wait where waiting helps. Every call takes an optional `code`, a business kind
 * with a sequence of its own: the same ID may appear under two codes.
 */
@Injectable()
export class IdService extends IssuingCalls implements OnApplicationBootstrap, OnApplicationShutdown {
  /**
   * Events of the lease, from the moment the service can be injected; what happens during the start is in the log. A
   * listener that throws or rejects is reported as a process warning; the others are told all the same.
   */
  readonly events = new EventEmitter<IdServiceEvents>();

  private readonly attached: AttachedSnowflakes;

  constructor(
    /** The service's name; `default` when it has none. */
    readonly name: string,
    private readonly engine: IdEngine,
    lint?: EntityLint,
  ) {
    super(engine.calls);
    this.attached = new AttachedSnowflakes(this.asSource(), lint);
    engine.tell(this.events);
  }

  /** The worker id of now; undefined while none is held, and for numbers from segments. It changes when a lost one is replaced. */
  get workerId(): number | undefined {
    const status = this.status();
    return status.idMode === 'snowflake' ? status.workerId : undefined;
  }

  /** @throws NoLayoutError for numbers from segments */
  get layout(): Layout {
    const { layout } = this.engine;
    if (layout === undefined) throw new NoLayoutError(this.name);
    return layout;
  }

  /**
   * A number for the public, whose steps are blurred: sharded by who asks. Needs `sharded`.
   * @param request the app, 0-255, and a user name, a phone number or the like
   * @throws NoShardedIdsError; UnknownAppError; NoShardedIdLeftError when none is at hand, see {@link nextAsync}
   */
  next(request: ShardedIdRequest): bigint {
    return this.sharded().next(request);
  }

  /** As {@link next}, but waits for numbers to come. */
  async nextAsync(request: ShardedIdRequest, wait?: WaitOptions): Promise<bigint> {
    return this.sharded().nextAsync(request, wait);
  }

  /**
   * Makes an app known for {@link next}: here at once, in other processes within two minutes. Its numbers go on when it
   * was known before.
   * @param app 0-255
   * @throws NoShardedIdsError; InvalidAppError; SegmentStoreUnavailableError
   */
  async registerApp(app: number, name: string, description?: string): Promise<void> {
    await this.sharded().registerApp(app, name, description);
  }

  /** What an ID of this layout says, whoever issued it. @throws InvalidIdError; TimestampOverflowError; NoLayoutError */
  parse(id: bigint | string | number): ParsedId {
    return parseId(this.layout, id);
  }

  /** What it issues with, its health and counters. */
  status(): IdServiceStatus {
    return this.engine.status(this.name);
  }

  /** What a log shows of it, in either form: its status, and nothing of the databases behind it and their passwords. */
  toJSON(): IdServiceStatus {
    return this.status();
  }

  /** What `console.log` shows of it. */
  [inspect.custom](): IdServiceStatus {
    return this.status();
  }

  /** To be called when this process's memory was restored from a snapshot: nothing granted before is used any more. */
  afterRestore(): void {
    this.engine.afterRestore();
  }

  /**
   * Looks for entities that name a service nobody has imported; Nest calls it when every module is up.
   * @throws EntityLintError, with the worker ids given back: Nest calls no hooks of an application that does not start
   */
  async onApplicationBootstrap(): Promise<void> {
    try {
      this.attached.lintServices();
    } catch (error) {
      await Promise.all([...this.attached.services()].map(async (each) => each.onApplicationShutdown?.()));
      throw error;
    }
  }

  /** Gives the worker id back; Nest calls it when the server has closed. After that every call throws `ClosedError`. */
  async onApplicationShutdown(): Promise<void> {
    await this.engine.close();
    this.attached.detachAll();
  }

  /**
   * Lets this service fill the `@GeneratedSnowflake()` columns of a DataSource made outside Nest: seeds, the TypeORM CLI,
   * tenants. The module does it for the application's own.
   * @param dataSource initialised; after `destroy()` and `initialize()` attach again
   * @returns detaches, also what the module itself has attached; shutting down does so too
   * @throws DataSourceNotInitializedError; EntityLintError; AlreadyAttachedError for another service of this name
   */
  attach(dataSource: AppDataSource): () => void {
    return this.attached.attach(dataSource);
  }

  /**
   * Gives an entity, or each of an array, the IDs it lacks, before it is saved: for ways of inserting that call no
   * subscribers, or to know the ID early. Its own columns only, not those of its relations; an ID that is set stays.
   * @param target whose columns they are: for a plain object, its entity
   * @returns the entity
   * @throws UnknownEntityError when no attached DataSource has the entity, or it has no column of this service
   */
  assign<Entity extends object>(entity: Entity, target?: SnowflakeTarget): Entity {
    return this.attached.assign(entity, target);
  }

  private sharded(): ShardedGenerator {
    const { sharded } = this.engine;
    if (sharded === undefined) throw new NoShardedIdsError(this.name);
    return sharded;
  }

  /** For the columns: straight to the generator, a layer less for each row. */
  private asSource(): SnowflakeSource {
    const { calls, name } = this;
    return {
      name,
      layout: this.engine.layout,
      nextId: (code) => calls.nextId(code),
      nextString: (code) => calls.nextString(code),
      nextIdAsync: (code) => calls.nextIdAsync(code),
      onApplicationShutdown: () => this.onApplicationShutdown(),
    };
  }
}
