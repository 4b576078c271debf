/**
 * Worker ids and number ranges kept in Redis; needs ioredis.
 *
 * @module @raindrop/node/redis
 */

export { redisBuffer } from './redis-buffer.js';
export type { RedisBufferOptions } from './redis-options.js';
export type { RedisTarget } from './redis-connection.js';
export { RedisUnavailableError } from './redis-errors.js';
export { redisWorkers, type RedisWorkersOptions } from './worker-store/redis-workers.js';
export { initRedisWorkers, RedisWorkersInUseError } from './worker-store/init-redis-workers.js';
export { CorruptRedisWorkerError } from './worker-store/worker-text.js';
