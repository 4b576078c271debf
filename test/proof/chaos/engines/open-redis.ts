import { Cluster } from 'ioredis';
import type { RedisTarget } from '../../../../libs/node/src/redis/redis-connection.js';
import type { Way } from './engine.js';

/** What an application gives for a Redis: ioredis' options, those of Sentinel among them, or a client of a cluster. */
export function openRedis({ nodes, ...options }: Way): RedisTarget {
  if (nodes === undefined) return options;
  const client = new Cluster(nodes as { host: string; port: number }[], {
    slotsRefreshTimeout: 1_000,
    enableOfflineQueue: false,
    clusterRetryStrategy: () => 200,
    redisOptions: { commandTimeout: 1_000, connectTimeout: 1_000 },
  });
  return client.on('error', () => undefined);
}
