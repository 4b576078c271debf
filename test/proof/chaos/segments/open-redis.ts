import type { SegmentBuffer } from '@raindrop/nestjs';
import { redisBuffer } from '@raindrop/node/redis';
import { OP_TIMEOUT_MS, REDIS_RUN, type SegmentOrders } from './segment-messages.js';

/** Redis as the shared buffer, with times as short as the run. */
export function openRedis({ redis }: SegmentOrders): SegmentBuffer {
  return redisBuffer({
    connection: { ...redis },
    run: REDIS_RUN,
    redisTimeoutMs: OP_TIMEOUT_MS,
    refillWaitMs: 100,
    lockMs: 3_000,
  });
}
