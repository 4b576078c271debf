import type { redisWorkers, RedisWorkersOptions } from '@raindrop/node/redis';
import { join } from 'node:path';

/** What `redisWorkers()` makes, in a built package. */
type Made = ReturnType<typeof redisWorkers>;

interface RedisWorkersFile {
  redisWorkersOf(options: RedisWorkersOptions, leastReachMs: number): Made;
}

/** `redisWorkers()` of the built package that waits after a loss for its own reach, where all have the same lease. */
export function quickRedisWorkers(options: RedisWorkersOptions): Made {
  // No export: no user may choose the least wait.
  const file = join(process.env['NODE_PATH']!, '@raindrop/node/dist/redis/worker-store/redis-workers.js');
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { redisWorkersOf } = require(file) as RedisWorkersFile;
  return redisWorkersOf(options, 0);
}
