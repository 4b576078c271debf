import { EventEmitter } from 'node:events';
import { inspect } from 'node:util';
import { parseId, type Layout, type ParsedId, type ShardedIdRequest, type WaitOptions } from '@raindrop/core';
import type { ShardedGenerator } from '@raindrop/core/internal';
import { noteOpened } from './opened-services.js';
import {
  type IdEngine,
  type IdServiceEvents,
  type IdServiceStatus,
  IssuingCalls,
  NoLayoutError,
  NoShardedIdsError,
} from '../ports/id-engine.js';

/**
 * Issues IDs until it is closed.
 *
 * The plain calls never wait: they answer at once or throw a typed error, whose `retryable` says whether the same call
 * can succeed later. The `...Async` calls wait where waiting helps. Every call takes an optional `code`, a business
 * kind with a sequence of its own: the same ID may appear under two codes.
 */
export class IdService extends IssuingCalls {
  /**
   * The events of the lease once the service is open; those of its start are in the log. A listener that throws or
   * rejects becomes a process warning, and the other listeners are called all the same.
   */
  readonly events = new EventEmitter<IdServiceEvents>();
  private readonly noteClosed: () => void;

  constructor(
    /** The service's name; `default` when it has none. */
    readonly name: string,
    protected readonly engine: IdEngine,
  ) {
    super(engine.calls);
    engine.emitTo(this.events);
    this.noteClosed = noteOpened(this);
  }

  /**
   * Returns the worker id; undefined while none is held, and for numbers from segments. It changes when a lost worker
   * id is replaced.
   */
  get workerId(): number | undefined {
    const status = this.status();
    return status.idMode === 'snowflake' ? status.workerId : undefined;
  }

  /** Returns the layout of the IDs. @throws NoLayoutError for numbers from segments */
  get layout(): Layout {
    const { layout } = this.engine;
    if (layout === undefined) throw new NoLayoutError(this.name);
    return layout;
  }

  /**
   * Returns a number for the public that does not show how many were issued: every user draws from one of many shards.
   * Needs the option `sharded`.
   * @param request the app, 0-255, and a user name, a phone number or the like
   * @throws NoShardedIdsError; UnknownAppError; NoShardedIdLeftError when the shard has none left now, see {@link
   * nextShardedAsync}
   */
  nextSharded(request: ShardedIdRequest): bigint {
    return this.sharded().nextSharded(request);
  }

  /** As {@link nextSharded}, but waits until the shard has a number. */
  async nextShardedAsync(request: ShardedIdRequest, wait?: WaitOptions): Promise<bigint> {
    return this.sharded().nextShardedAsync(request, wait);
  }

  /**
   * Registers an app for {@link nextSharded}: in this process at once, in others within two minutes. An app that was
   * registered before keeps its numbers.
   * @param app 0-255
   * @throws NoShardedIdsError; InvalidAppError; SegmentStoreUnavailableError
   */
  async registerApp(app: number, name: string, description?: string): Promise<void> {
    await this.sharded().registerApp(app, name, description);
  }

  /**
   * Reads time, worker and sequence out of an ID of this layout, whichever process issued it.
   * @throws InvalidIdError; TimestampOverflowError; NoLayoutError
   */
  parse(id: bigint | string | number): ParsedId {
    return parseId(this.layout, id);
  }

  /** Returns the worker id and its lease, the health and the counters of the service. */
  status(): IdServiceStatus {
    return this.engine.status(this.name);
  }

  /**
   * Returns the status, for logs that write objects as JSON: the databases behind it and their passwords are left out.
   */
  toJSON(): IdServiceStatus {
    return this.status();
  }

  /** Returns the status, for `console.log`. */
  [inspect.custom](): IdServiceStatus {
    return this.status();
  }

  /** Call it when this process's memory was restored from a snapshot: no ID granted before is issued any more. */
  afterRestore(): void {
    this.engine.afterRestore();
  }

  /** Gives the worker id back. After that every call throws `ClosedError`. Never rejects, and can be called again. */
  close(): Promise<void> {
    this.noteClosed();
    return this.engine.close();
  }

  private sharded(): ShardedGenerator {
    const { sharded } = this.engine;
    if (sharded === undefined) throw new NoShardedIdsError(this.name);
    return sharded;
  }
}
