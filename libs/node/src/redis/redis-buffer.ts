import type { SegmentBuffer } from '../ports/segment-buffer.js';
import { RedisAppSegmentStore } from './redis-app-segment-store.js';
import { resolveRedisBufferOptions, type RedisBufferOptions } from './redis-options.js';
import { RedisSegmentBuffer } from './redis-segment-buffer.js';
import { RedisSegmentStore } from './redis-segment-store.js';

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
  const resolved = resolveRedisBufferOptions(options);
  return {
    codes: (store, ...buffer) => new RedisSegmentStore(store, new RedisSegmentBuffer(resolved, ...buffer)),
    apps: (store, ...buffer) => new RedisAppSegmentStore(store, new RedisSegmentBuffer(resolved, ...buffer)),
  };
}
