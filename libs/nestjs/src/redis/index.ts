export { redisBuffer } from './redis-buffer.js';
export type { RedisBufferOptions } from './redis-options.js';
export type { RedisTarget } from './redis-connection.js';
export { RedisUnavailableError } from './redis-errors.js';
