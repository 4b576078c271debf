// A place of our own on the Redis server.
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';

/** Where the server is, unless somebody says otherwise. */
export const REDIS = process.env.RAINDROP_TEST_REDIS_URL ?? 'redis://127.0.0.1:6379';

/** @returns a prefix for keys, and what drops them; undefined when no server answers */
export async function openRedis() {
  const client = new Redis(REDIS, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch {
    return undefined;
  }
  const keyPrefix = `raindrop.bench.${randomBytes(6).toString('hex')}.`;
  const drop = async () => {
    for await (const keys of client.scanStream({ match: `${keyPrefix}*`, count: 1_000 })) {
      if (keys.length > 0) await client.unlink(...keys);
    }
    client.disconnect();
  };
  return { keyPrefix, drop };
}
