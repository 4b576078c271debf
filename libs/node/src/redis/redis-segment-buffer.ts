import type { MonotonicClock, Randomness, SegmentSource, Timers } from '@raindrop/core';
import type { RedisBufferContext, RedisBufferCounters } from './redis-buffer-context.js';
import { RedisConnection } from './redis-connection.js';
import { RedisKeys } from './redis-keys.js';
import { resolveRedisBufferOptions, type RedisBufferOptions } from './redis-options.js';
import { RedisRanges } from './redis-ranges.js';
import { RedisSegmentSource } from './redis-segment-source.js';
import { sleep } from './sleep.js';

/** How the buffer is doing. */
export interface RedisBufferStatus extends Readonly<RedisBufferCounters> {
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
    const resolved = resolveRedisBufferOptions(options);
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
      await Promise.race([Promise.all(this.running), sleep(timers, 2 * options.redisTimeoutMs)]);
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
