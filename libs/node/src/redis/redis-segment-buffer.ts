import type {
  App,
  AppSegmentStore,
  MonotonicClock,
  Randomness,
  SegmentSource,
  SegmentStore,
  Timers,
} from '@raindrop/core';
import { pause, resolveOptions, SHARDS } from '@raindrop/core/internal';
import type { SegmentBuffer } from '../ports/worker.js';
import {
  type RedisBufferContext,
  type RedisBufferCounters,
  RedisRanges,
  RedisSegmentSource,
} from './redis-segment-source.js';
import { RedisConnection } from './redis-connection.js';
import { RedisKeys } from './redis-keys.js';
import { type RedisBufferOptions, redisBufferOptions } from './redis-options.js';

/** How the buffer is doing. */
interface RedisBufferStatus extends Readonly<RedisBufferCounters> {
  readonly isConnected: boolean;
  /** The last failure of Redis or of a refill; undefined when there was none. */
  readonly lastError: string | undefined;
}

/** One Redis as the shared buffer in front of any number of segment sources. */
export class RedisSegmentBuffer {
  private readonly context: RedisBufferContext;
  private readonly counters: RedisBufferCounters = { runs: 0, refills: 0, direct: 0 };
  private readonly running = new Set<Promise<void>>();
  private lastError: string | undefined;
  /** How many runs had been taken when something failed last. */
  private runsBefore = 0;

  /**
   * @param scope names the database and the table: processes with one scope share ranges, so databases that share a
   * Redis must not share a scope
   * @throws ConfigurationError naming every option that is wrong
   */
  constructor(
    options: RedisBufferOptions,
    private readonly scope: string,
    ports: { readonly timers: Timers; readonly monotonic: MonotonicClock; readonly randomness: Randomness },
    private readonly warn: (message: string) => void = () => undefined,
  ) {
    const resolved = resolveOptions(redisBufferOptions, options);
    const { timers, monotonic, randomness } = ports;
    this.context = {
      connection: new RedisConnection(resolved.connection, timers, resolved.redisTimeoutMs),
      options: resolved,
      timers,
      monotonic,
      randomness,
      counters: this.counters,
      nextToken: () => randomness.token(),
      inBackground: (work) => this.inBackground(work),
      failed: (error) => this.failed(error),
    };
  }

  /** In front of the row of an app's shard. */
  shard(app: number, shard: number, database: SegmentSource): RedisSegmentSource {
    return new RedisSegmentSource(this.shardKeys(app, shard), database, this.context);
  }

  /** Forgets what Redis has for an app's shard; a refill under way is refused. @throws RedisUnavailableError */
  dropShard(app: number, shard: number): Promise<void> {
    return new RedisRanges(this.context.connection, this.shardKeys(app, shard)).drop();
  }

  /** In front of the row of a code. */
  code(code: string, database: SegmentSource): RedisSegmentSource {
    const { keyPrefix } = this.context.options;
    return new RedisSegmentSource(RedisKeys.ofCode(keyPrefix, this.scope, code), database, this.context);
  }

  /** How the buffer is doing. */
  status(): RedisBufferStatus {
    return { ...this.counters, isConnected: this.context.connection.isReady, lastError: this.lastError };
  }

  /**
   * Lets refills under way end, for twice the time limit of a command at most, and closes a connection of its own; a
   * client of the application stays open. Safe to call more than once. Never rejects.
   */
  async close(): Promise<void> {
    const { connection, timers, options } = this.context;
    if (this.running.size > 0) {
      await Promise.race([Promise.all(this.running), pause(timers, 2 * options.redisTimeoutMs, 'background')]);
    }
    connection.close();
  }

  /** Warns once for each trouble, not once for each attempt. */
  private failed(error: unknown): void {
    const isNew = this.lastError === undefined || this.counters.runs > this.runsBefore;
    this.lastError = error instanceof Error ? error.message : String(error);
    this.runsBefore = this.counters.runs;
    if (isNew) this.warn(`the shared buffer of numbers cannot be used: ${this.lastError}`);
  }

  private inBackground(work: Promise<void>): void {
    const settled = work
      .catch((error: unknown) => this.context.failed(error))
      .finally(() => this.running.delete(settled));
    this.running.add(settled);
  }

  private shardKeys(app: number, shard: number): RedisKeys {
    return RedisKeys.ofShard(this.context.options.keyPrefix, this.scope, app, shard);
  }
}

/** A store whose segments several processes share in Redis. */
abstract class BufferedStore<
  Key extends readonly unknown[],
  Store extends SegmentStore<Key>,
> implements SegmentStore<Key> {
  /** @param database where they are reserved; closed together with the buffer */
  constructor(
    protected readonly database: Store,
    protected readonly buffer: RedisSegmentBuffer,
  ) {}

  prepare(): Promise<void> {
    return this.database.prepare();
  }

  abstract source(...key: Key): SegmentSource;

  durabilityWarnings(): Promise<readonly string[]> {
    return this.database.durabilityWarnings();
  }

  async close(): Promise<void> {
    await this.buffer.close();
    await this.database.close();
  }
}

/** The same for codes. */
export class RedisSegmentStore extends BufferedStore<[code: string], SegmentStore> {
  source(code: string): SegmentSource {
    return this.buffer.code(code, this.database.source(code));
  }
}

/** The same for apps and their shards. */
export class RedisAppSegmentStore
  extends BufferedStore<[app: number, shard: number], AppSegmentStore>
  implements AppSegmentStore
{
  private known: ReadonlySet<number> = new Set();

  /**
   * Clears Redis first where the app is new in the table: Redis may still have numbers of an earlier app with the same
   * id, which the table reserves a second time. When several processes register one app at once, a slow one may clear
   * what a quick one has put there already: a gap.
   *
   * @throws RedisUnavailableError when Redis cannot be cleared
   */
  async registerApp(appId: number, name: string, description: string): Promise<void> {
    const apps = await this.database.apps();
    if (!apps.some(({ id }) => id === appId)) await this.drop(appId);
    await this.database.registerApp(appId, name, description);
  }

  /** Also clears what Redis has of apps that were removed from the table since the last call. */
  async apps(): Promise<App[]> {
    const apps = await this.database.apps();
    const now = new Set(apps.map(({ id }) => id));
    const removed = [...this.known].filter((id) => !now.has(id));
    this.known = now;
    // The table decides which apps there are. Where Redis cannot be cleared its ranges expire.
    await Promise.all(removed.map((app) => this.drop(app).catch(() => undefined)));
    return apps;
  }

  source(app: number, shard: number): SegmentSource {
    return this.buffer.shard(app, shard, this.database.source(app, shard));
  }

  private async drop(app: number): Promise<void> {
    const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
    await Promise.all(shards.map((shard) => this.buffer.dropShard(app, shard)));
  }
}

/**
 * Makes Redis the buffer that all processes of a service take numbers from: `redis: redisBuffer({ connection: url })`.
 * So numbers stay dense across processes, and a process that dies loses a hundred and not a whole step.
 *
 * Redis is never the only memory: after a restart, a flush or a failover the next numbers come from the database. Without
 * it numbers are reserved there directly, see `onRedisDown`. The account needs `INFO` and `EVALSHA`.
 *
 * @throws ConfigurationError naming every option that is wrong
 */
export function redisBuffer(options: RedisBufferOptions): SegmentBuffer {
  const resolved = resolveOptions(redisBufferOptions, options);
  return {
    codes: (store, ...buffer) => new RedisSegmentStore(store, new RedisSegmentBuffer(resolved, ...buffer)),
    apps: (store, ...buffer) => new RedisAppSegmentStore(store, new RedisSegmentBuffer(resolved, ...buffer)),
  };
}
