import { EventEmitter } from 'node:events';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type {
  BoundCode,
  GeneratorCounters,
  Layout,
  LeaseEvent,
  LeaseStatus,
  ParsedId,
  RaindropError,
  SnowflakeGenerator,
  WaitOptions,
} from '@raindrop/core';
import type { Worker } from './lease/worker.js';
import { attachSnowflakes } from './typeorm/generated-snowflake/attach-snowflakes.js';
import type { AppDataSource } from './typeorm/open-worker-store.js';

/** What happened to a service's worker, by name; `lease-lost` and `lease-regained` are those to alert on. */
export type IdServiceEvents = { [Event in LeaseEvent as Event['type']]: [event: Event] };

/** A service at one moment. */
export interface IdServiceStatus extends LeaseStatus {
  readonly service: string;
  readonly fingerprint: string;
  /** When the layout's timestamps run out; null when beyond what a Date can hold. */
  readonly expiresAt: Date | null;
  /** Whole days until then; null likewise. */
  readonly daysLeft: number | null;
  readonly counters: GeneratorCounters;
}

/**
 * Issues IDs, from the moment it can be injected until the application has shut down.
 *
 * The plain calls never wait: they answer at once or throw a typed error, whose `retryable` says whether the same call
 * can succeed later. The `...Async` calls wait where waiting helps. Every call takes an optional `code`, a business kind
 * with a sequence of its own: the same ID may appear under two codes.
 */
@Injectable()
export class IdService implements OnApplicationShutdown {
  /**
   * Events of the lease, from the moment the service can be injected; what happens during the start is in the log. A
   * listener that throws is reported as a process warning and keeps the event from those behind it, nothing else.
   */
  readonly events = new EventEmitter<IdServiceEvents>();

  private readonly attached = new Set<() => void>();

  constructor(
    /** The service's name; `default` when it has none. */
    readonly name: string,
    private readonly generator: SnowflakeGenerator,
    private readonly worker: Worker,
  ) {
    const emitter: EventEmitter = this.events;
    worker.onEvent((event) => emitter.emit(event.type, event));
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

  /** Worker, lease, lanes, clock, lifetime and counters. */
  status(): IdServiceStatus {
    const { expiresAt, fingerprint } = this.layout;
    const daysLeft = expiresAt === null ? null : Math.floor((expiresAt.getTime() - Date.now()) / 86_400_000);
    const { name: service, generator } = this;
    return { service, fingerprint, expiresAt, daysLeft, ...this.worker.status(), counters: generator.counters };
  }

  /** To be called when this process's memory was restored from a snapshot: nothing granted before is used any more. */
  afterRestore(): void {
    this.worker.afterRestore();
  }

  /**
   * Gives the worker id back; Nest calls it when the server has closed. After that every call throws `ClosedError`.
   */
  async onApplicationShutdown(): Promise<void> {
    await this.worker.close();
    for (const detach of this.attached) detach();
    this.attached.clear();
  }

  /**
   * Lets this service fill the `@GeneratedSnowflake()` columns of a DataSource made outside Nest: seeds, the TypeORM CLI,
   * tenants. The module does it for the application's own.
   * @param dataSource initialised; after `destroy()` and `initialize()` attach again
   * @returns detaches, also what the module itself has attached; shutting down does so too
   * @throws DataSourceNotInitializedError; UnsupportedColumnError; AlreadyAttachedError for another service of this name
   */
  attach(dataSource: AppDataSource): () => void {
    const detach = attachSnowflakes(dataSource, this);
    this.attached.add(detach);
    return () => {
      this.attached.delete(detach);
      detach();
    };
  }
}
