import { RaindropError } from '@raindrop/core';
import { systemPorts } from '../../system/system-ports.js';
import { RedisConnection } from '../redis-connection.js';
import { resolveRedisWorkersOptions, type RedisWorkersOptions } from './redis-workers.js';
import { workerScripts } from './worker-scripts.js';

/** There is something where a memory of worker ids was to begin. */
export class RedisWorkersInUseError extends RaindropError {
  readonly errorCode = 'REDIS_WORKERS_IN_USE';

  constructor(
    readonly key: string,
    /** How many fields the key has. */
    readonly fields: number,
  ) {
    super(
      `The Redis key ${key} exists already, with ${fields} fields: nothing was changed. Only where no ID was ever issued ` +
        `from it, delete it and call initRedisWorkers() again; anywhere else wait until worker ids are given again.`,
      { retryable: false },
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
  const { connection, key } = resolveRedisWorkersOptions(options);
  const { timers } = systemPorts('exact');
  const redis = new RedisConnection(connection, timers, TIMEOUT_MS);
  // Whoever waits for an answer keeps the process alive; the connection by itself does not.
  const waiting = timers.setTimer(() => undefined, TIMEOUT_MS, 'foreground');
  try {
    const [fields] = await redis.run(
      'preparing the workers',
      workerScripts.init,
      [key],
      [`0 0 0 ${Number.MAX_SAFE_INTEGER} `],
    );
    if (fields !== '0') throw new RedisWorkersInUseError(key, Number(fields));
  } finally {
    waiting.cancel();
    redis.close();
  }
}
