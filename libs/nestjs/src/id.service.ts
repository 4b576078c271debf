import { EventEmitter } from 'node:events';
import { inspect } from 'node:util';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type {
  BoundCode,
  IssuedByCode,
  IssuedByCodeOptions,
  Layout,
  ParsedId,
  RaindropError,
  SnowflakeGenerator,
  WaitOptions,
} from '@raindrop/core';
import type { IdServiceEvents, IdServiceStatus } from './id-service-status.js';
import { Saturation } from './lease/saturation.js';
import { tellListeners } from './lease/tell-listeners.js';
import type { Worker } from './lease/worker.js';
import { AttachedSnowflakes, type SnowflakeTarget } from './typeorm/generated-snowflake/attached-snowflakes.js';
import type { EntityLint } from './typeorm/generated-snowflake/entity-lint.js';
import type { AppDataSource } from './typeorm/open-worker-store.js';

/**
 * Issues IDs, from the moment it can be injected until the application has shut down.
 *
 * The plain calls never wait: they answer at once or throw a typed error, whose `retryable` says whether the same call
 * can succeed later. The `...Async` calls wait where waiting helps. Every call takes an optional `code`, a business kind
 * with a sequence of its own: the same ID may appear under two codes.
 */
@Injectable()
export class IdService implements OnApplicationBootstrap, OnApplicationShutdown {
  /**
   * Events of the lease, from the moment the service can be injected; what happens during the start is in the log. A
   * listener that throws or rejects is reported as a process warning; the others are told all the same.
   */
  readonly events = new EventEmitter<IdServiceEvents>();

  private readonly attached: AttachedSnowflakes;
  private readonly saturation: Saturation;

  constructor(
    /** The service's name; `default` when it has none. */
    readonly name: string,
    private readonly generator: SnowflakeGenerator,
    private readonly worker: Worker,
    lint?: EntityLint,
  ) {
    this.attached = new AttachedSnowflakes(this, lint);
    this.saturation = new Saturation(generator.layout.idsPerSecond, performance.now());
    worker.onEvent((event) => {
      if (event.type === 'lease-renewed') this.saturation.measure(generator.counters.issued, performance.now());
      tellListeners(this.events, event);
    });
  }

  /** The worker id of now; undefined while none is held. It changes when a lost one is replaced. */
  get workerId(): number | undefined {
    return this.worker.status().workerId;
  }

  get layout(): Layout {
    return this.generator.layout;
  }

  nextId(code?: string): bigint {
    return this.generator.nextId(code);
  }

  /** The ID as decimal text: what belongs into JSON. */
  nextString(code?: string): string {
    return this.generator.nextString(code);
  }

  /** @throws UnsafeIntegerError above 2^53 - 1, before a position is consumed */
  nextNumber(code?: string): number {
    return this.generator.nextNumber(code);
  }

  /** `count` IDs, 1 to `maxBatch`; all or nothing, without waiting. */
  nextIds(count: number, code?: string): bigint[] {
    return this.generator.nextIds(count, code);
  }

  nextStrings(count: number, code?: string): string[] {
    return this.generator.nextStrings(count, code);
  }

  /** Fills an array of yours; all or nothing, without waiting. */
  fill(target: BigInt64Array, code?: string): BigInt64Array {
    return this.generator.fill(target, code);
  }

  nextIdAsync(code?: string, wait?: WaitOptions): Promise<bigint> {
    return this.generator.nextIdAsync(code, wait);
  }

  nextStringAsync(code?: string, wait?: WaitOptions): Promise<string> {
    return this.generator.nextStringAsync(code, wait);
  }

  nextIdsAsync(count: number, code?: string, wait?: WaitOptions): Promise<bigint[]> {
    return this.generator.nextIdsAsync(count, code, wait);
  }

  nextStringsAsync(count: number, code?: string, wait?: WaitOptions): Promise<string[]> {
    return this.generator.nextStringsAsync(count, code, wait);
  }

  fillAsync(target: BigInt64Array, code?: string, wait?: WaitOptions): Promise<BigInt64Array> {
    return this.generator.fillAsync(target, code, wait);
  }

  /** The calls above for one code, without the look-up. */
  forCode(code: string): BoundCode {
    return this.generator.forCode(code);
  }

  /** What an ID of this layout says, whoever issued it. @throws InvalidIdError; TimestampOverflowError */
  parse(id: bigint | string | number): ParsedId {
    return this.generator.parse(id);
  }

  /** Why an ID would be refused at this moment; undefined when it would not be. Nothing is issued. @throws InvalidCodeError */
  refusal(code?: string): RaindropError | undefined {
    return this.generator.refusal(code);
  }

  /** Worker, lease, lanes, clock, lifetime, load and counters. */
  status(): IdServiceStatus {
    const { expiresAt, fingerprint } = this.layout;
    const daysLeft = expiresAt === null ? null : Math.floor((expiresAt.getTime() - Date.now()) / 86_400_000);
    const { name: service, generator } = this;
    const saturation = this.saturation.share;
    const lease = this.worker.status();
    return { service, fingerprint, expiresAt, daysLeft, saturation, ...lease, counters: generator.counters };
  }

  /**
   * Begins to count the IDs of some codes apart, those issued so far included: for metrics of your own.
   * @throws ConfigurationError naming every option that is wrong
   */
  issuedByCode(options?: IssuedByCodeOptions): IssuedByCode {
    return this.generator.issuedByCode(options);
  }

  /** What a log shows of it, in either form: its status, and nothing of the databases behind it and their passwords. */
  toJSON(): IdServiceStatus {
    return this.status();
  }

  [inspect.custom](): IdServiceStatus {
    return this.status();
  }

  /** To be called when this process's memory was restored from a snapshot: nothing granted before is used any more. */
  afterRestore(): void {
    this.worker.afterRestore();
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
    await this.worker.close();
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
}
