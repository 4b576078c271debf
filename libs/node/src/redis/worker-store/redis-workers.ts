import { grantReachMs, option, type OptionsOf, PermanentError, resolveOptions, text } from '@raindrop/core/internal';
import type { ReservingAssigner } from '../../ports/worker.js';
import { RedisConnection, type RedisTarget } from '../redis-connection.js';
import { readConnection } from '../redis-options.js';
import { systemPorts } from '../../system/system-ports.js';
import { LEAST_REACH_MS, RedisWorkerStore } from './redis-worker-store.js';
import { workerScripts } from './worker-scripts.js';

/** The options of Redis as the memory of worker ids. */
export const redisWorkersOptions = {
  /**
   * A client stays yours and open; the others make a connection of its own.
   * @range an ioredis client, a URL, or ioredis' options
   */
  connection: option<RedisTarget, RedisTarget>(readConnection, { isRequired: true }),
  /**
   * The hash that holds everything. Services with one key share worker ids.
   * @range 1-128 letters, digits or any of `. : _ - { }` @defaultValue `raindrop.worker`
   */
  key: text({
    pattern: /^[\w.:{}-]{1,128}$/,
    legal: '1 to 128 letters, digits or any of . : _ - { }',
    default: 'raindrop.worker',
  }),
};

/** Redis, from version 5, as the memory of worker ids; its user needs INFO besides scripts and hashes. */
export interface RedisWorkersOptions extends OptionsOf<typeof redisWorkersOptions> {}

/** Added to the reach: until the tick has ended and the next attempt has come. */
const WAIT_LONGER_MS = 10_000;

/**
 * Leases worker ids from Redis instead of the database, by the same protocol.
 *
 * Redis may forget. When it has, or shows an older memory, a process that holds a worker id goes on if its row is still
 * there. No other process gets a worker id until all that can have been granted before is past: the longer of lease +
 * grace + horizon and horizon + 3 x `maxClockSkewMs`, 185 s by default and at least. The first start of all is such a
 * case; see {@link initRedisWorkers}. Services that share a key need the same lease options.
 *
 * @throws ConfigurationError naming every option that is wrong
 */
export function redisWorkers(options: RedisWorkersOptions): ReservingAssigner {
  return redisWorkersOf(options);
}

/**
 * @param leastReachMs shorter in tests, which wait for the end of a loss: every process with the key has this reach
 * there
 */
export function redisWorkersOf(options: RedisWorkersOptions, leastReachMs: number = LEAST_REACH_MS): ReservingAssigner {
  const resolved = resolveOptions(redisWorkersOptions, options);
  return {
    name: 'redis',
    openStore: ({ lease, timers, warn }) => {
      const { opTimeoutMs, maxClockSkewMs } = lease;
      const limits = { opTimeoutMs, maxClockSkewMs, reachMs: grantReachMs(lease), leastReachMs };
      return new RedisWorkerStore({ ...resolved, ...limits, timers, warn });
    },
    defaultWaitMs: (lease) => Math.max(grantReachMs(lease), leastReachMs) + WAIT_LONGER_MS,
  };
}

/** The key exists already in which worker ids were to begin. */
export class RedisWorkersInUseError extends PermanentError {
  static override readonly name = 'RedisWorkersInUseError';
  readonly errorCode = 'REDIS_WORKERS_IN_USE';

  constructor(
    readonly key: string,
    /** How many fields the key has. */
    readonly fields: number,
  ) {
    super(
      `The Redis key ${key} already exists, with ${fields} fields: nothing was changed. If no ID was ever issued ` +
        `from it, delete it and call initRedisWorkers() again; otherwise wait until worker ids are given again.`,
    );
  }
}

const TIMEOUT_MS = 5_000;

/**
 * Says that no worker id of this key was ever used, so that the first start need not wait: for operators, once, before
 * that start. Nothing in Raindrop calls it.
 *
 * Never call it from a program that starts by itself: after Redis has lost its memory that would be a false statement,
 * and IDs repeat.
 *
 * @throws ConfigurationError; RedisWorkersInUseError when the key exists; RedisUnavailableError
 */
export async function initRedisWorkers(options: RedisWorkersOptions): Promise<void> {
  const { connection, key } = resolveOptions(redisWorkersOptions, options);
  const { timers } = systemPorts('exact');
  const redis = new RedisConnection(connection, timers, TIMEOUT_MS, 'foreground');
  try {
    const [fields] = await redis.run(
      'preparing the workers',
      workerScripts.init,
      [key],
      [`0 0 0 ${Number.MAX_SAFE_INTEGER} 0 0 0 `],
    );
    if (fields !== '0') throw new RedisWorkersInUseError(key, Number(fields));
  } finally {
    redis.close();
  }
}
