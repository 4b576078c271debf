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
} from './ports/id-engine.js';

/**
 * Issues IDs, from the moment it is there until it is closed.
 *
 * The plain calls never wait: they answer at once or throw a typed error, whose `retryable` says whether the same call
 * can succeed later. The `...Async` calls wait where waiting helps. Every call takes an optional `code`, a business kind
 * with a sequence of its own: the same ID may appear under two codes.
 */
export class IdService extends IssuingCalls {
  /**
   * Events of the lease, from the moment the service is there; what happens during the start is in the log. A
   * listener that throws or rejects is reported as a process warning; the others are told all the same.
   */
  readonly events = new EventEmitter<IdServiceEvents>();

  constructor(
    /** The service's name; `default` when it has none. */
    readonly name: string,
    protected readonly engine: IdEngine,
  ) {
    super(engine.calls);
    engine.tell(this.events);
  }

  /**
   * Returns the worker id of now; undefined while none is held, and for numbers from segments. It changes when a lost
   * one is replaced.
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
   * Returns a number for the public, whose steps are blurred: it is sharded by who asks. Needs `sharded`.
   * @param request the app, 0-255, and a user name, a phone number or the like
   * @throws NoShardedIdsError; UnknownAppError; NoShardedIdLeftError when none is at hand, see {@link nextShardedAsync}
   */
  nextSharded(request: ShardedIdRequest): bigint {
    return this.sharded().nextSharded(request);
  }

  /** Returns a number for the public; waits for numbers to come. */
  async nextShardedAsync(request: ShardedIdRequest, wait?: WaitOptions): Promise<bigint> {
    return this.sharded().nextShardedAsync(request, wait);
  }

  /**
   * Makes an app known for {@link nextSharded}: here at once, in other processes within two minutes. Its numbers go on
   * when it was known before.
   * @param app 0-255
   * @throws NoShardedIdsError; InvalidAppError; SegmentStoreUnavailableError
   */
  async registerApp(app: number, name: string, description?: string): Promise<void> {
    await this.sharded().registerApp(app, name, description);
  }

  /**
   * Tells what an ID of this layout says, whoever issued it.
   * @throws InvalidIdError; TimestampOverflowError; NoLayoutError
   */
  parse(id: bigint | string | number): ParsedId {
    return parseId(this.layout, id);
  }

  /** Tells what the service issues with, its health and its counters. */
  status(): IdServiceStatus {
    return this.engine.status(this.name);
  }

  /**
   * Returns what a log shows of the service: its status, and nothing of the databases behind it and their passwords.
   */
  toJSON(): IdServiceStatus {
    return this.status();
  }

  /** Returns what `console.log` shows of the service. */
  [inspect.custom](): IdServiceStatus {
    return this.status();
  }

  /** Call it when this process's memory was restored from a snapshot: nothing granted before is used any more. */
  afterRestore(): void {
    this.engine.afterRestore();
  }

  /** Gives the worker id back. After that every call throws `ClosedError`. Never rejects, and can be called again. */
  close(): Promise<void> {
    return this.engine.close();
  }

  private sharded(): ShardedGenerator {
    const { sharded } = this.engine;
    if (sharded === undefined) throw new NoShardedIdsError(this.name);
    return sharded;
  }
}
