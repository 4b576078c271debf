import { EventEmitter } from 'node:events';
import { inspect } from 'node:util';
import { parseId, type Layout, type ParsedId, type ShardedIdRequest, type WaitOptions } from '@raindrop/core';
import type { ShardedGenerator } from '@raindrop/core/internal';
import {
  type IdEngine,
  type IdServiceEvents,
  type IdServiceStatus,
  IssuingCalls,
  NoLayoutError,
  NoShardedIdsError,
  type SegmentServiceStatus,
  type SnowflakeServiceStatus,
} from '../ports/id-engine.js';
import { noteOpened } from './opened-services.js';

/**
 * A service of either mode: what {@link IdService} and {@link NumberService} have in common.
 *
 * The modes are two types of one class, because Nest injects by the class: options that a factory reads at the start
 * decide the mode, and the token is `IdService` before that.
 */
export class OpenService<Status extends IdServiceStatus = IdServiceStatus> extends IssuingCalls {
  /**
   * The events of the lease once the service is open; those of its start are in the log. A listener that throws or
   * rejects becomes a process warning, and the other listeners are called all the same. Numbers from segments have no
   * events.
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
   * Returns a number for the public that does not show how many were issued: every user draws from one of many shards.
   * Needs the option `sharded`.
   * @param request the app, 0-255, and a user name, a phone number or the like
   * @throws NoShardedIdsError; UnknownAppError; NoShardedIdLeftError when the shard has none left now, see {@link
   * nextShardedAsync}
   */
  nextSharded(this: NumberService, request: ShardedIdRequest): bigint {
    return this.sharded().nextSharded(request);
  }

  /** As {@link nextSharded}, but waits until the shard has a number. */
  async nextShardedAsync(this: NumberService, request: ShardedIdRequest, wait?: WaitOptions): Promise<bigint> {
    return this.sharded().nextShardedAsync(request, wait);
  }

  /**
   * Registers an app for {@link nextSharded}: in this process at once, in others within two minutes. An app that was
   * registered before keeps its numbers.
   * @param app 0-255
   * @throws NoShardedIdsError; InvalidAppError; SegmentStoreUnavailableError
   */
  async registerApp(this: NumberService, app: number, name: string, description?: string): Promise<void> {
    await this.sharded().registerApp(app, name, description);
  }

  /** Returns the health and the counters of the service, and the worker id and its lease if it has one. */
  status(): Status {
    return this.engine.status(this.name) as Status;
  }

  /**
   * Returns the status, for logs that write objects as JSON: the databases behind it and their passwords are left out.
   */
  toJSON(): Status {
    return this.status();
  }

  /** Returns the status, for `console.log`. */
  [inspect.custom](): Status {
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

/**
 * Issues IDs until it is closed.
 *
 * The plain calls never wait: they answer at once or throw a typed error, whose `retryable` says whether the same call
 * can succeed later. The `...Async` calls wait where waiting helps. Every call takes an optional `code`, a business
 * kind with a sequence of its own: the same ID may appear under two codes.
 */
export class IdService extends OpenService<SnowflakeServiceStatus> {
  /**
   * Returns the worker id; undefined while none is held. It changes when a lost worker id is replaced.
   */
  get workerId(): number | undefined {
    const status: IdServiceStatus = this.engine.status(this.name);
    return status.idMode === 'snowflake' ? status.workerId : undefined;
  }

  /** Returns the layout of the IDs. @throws NoLayoutError when the service is in fact a {@link NumberService} */
  get layout(): Layout {
    const { layout } = this.engine;
    if (layout === undefined) throw new NoLayoutError(this.name);
    return layout;
  }

  /**
   * Reads time, worker and sequence out of an ID of this layout, whichever process issued it.
   * @throws InvalidIdError; TimestampOverflowError; NoLayoutError when the service is in fact a {@link NumberService}
   */
  parse(id: bigint | string | number): ParsedId {
    return parseId(this.layout, id);
  }
}

/**
 * The service of `idMode: 'numberSection'`: it issues numbers from segments by code, and sharded IDs. They have no layout.
 *
 * `openIdService()` returns it for such options. In Nest inject it by its token, `@InjectIdService() ids: NumberService`.
 */
export type NumberService = OpenService<SegmentServiceStatus>;
