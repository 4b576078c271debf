import type { MonotonicClock, Randomness, Timers } from '@raindrop/core';
import type { RedisConnection } from './redis-connection.js';
import type { ResolvedRedisBufferOptions } from './redis-options.js';

/** What has happened since the buffer was made. */
export interface RedisBufferCounters {
  /** Runs taken out of Redis: a round trip each. */
  runs: number;
  /** Times that this process reserved the next range. */
  refills: number;
  /** Reservations past Redis. */
  direct: number;
}

/** What all sources of one buffer share. */
export interface RedisBufferContext {
  readonly connection: RedisConnection;
  readonly options: ResolvedRedisBufferOptions;
  readonly timers: Timers;
  readonly monotonic: MonotonicClock;
  readonly randomness: Randomness;
  readonly counters: RedisBufferCounters;
  /** Another text at every call, in any process. */
  nextToken(): string;
  /** Lets something go on that nobody waits for, except whoever closes the buffer. */
  inBackground(work: Promise<void>): void;
  /** Remembers why something in the background, or a command, failed. */
  failed(error: unknown): void;
}
