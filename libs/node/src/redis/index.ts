/**
 * Worker ids and number ranges kept in Redis; needs ioredis.
 *
 * @module @raindrop/node/redis
 */

import { requireSupported } from '../system/peer-versions.js';
export { redisBuffer } from './redis-segment-buffer.js';
export type { RedisBufferOptions } from './redis-options.js';
export { type RedisTarget, RedisUnavailableError } from './redis-connection.js';
export {
  redisWorkers,
  type RedisWorkersOptions,
  initRedisWorkers,
  RedisWorkersInUseError,
} from './worker-store/redis-workers.js';
export { CorruptRedisWorkerError } from './worker-store/worker-text.js';

requireSupported('ioredis', () => __filename);
