import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { describeConcurrentAcquirers } from '../../../../../test/proof/contract/concurrent-acquirers.contract.js';
import { describeWorkerStore } from '../../../../../test/proof/contract/worker-store.contract.js';
import { takeRow } from '../../../../../test/support/stores/open-store.js';
import { serverUrl } from '../../../../../test/support/servers/server-url.js';
import { systemPorts } from '../../system/system-ports.js';
import { initRedisWorkers } from './redis-workers.js';
import { RedisWorkerStore } from './redis-worker-store.js';

const { timers } = systemPorts('exact');

/** A key that is nobody else's, on the Redis of this run. */
async function makeBench(): Promise<{
  readonly redis: Redis;
  readonly key: string;
  open(): RedisWorkerStore;
  dispose(): Promise<void>;
}> {
  const connection = serverUrl('redis');
  const key = `raindrop.test:${randomBytes(8).toString('hex')}`;
  await initRedisWorkers({ connection, key });
  const redis = new Redis(connection);
  const stores: RedisWorkerStore[] = [];
  return {
    ...{ redis, key },
    open: () => {
      const store = new RedisWorkerStore({ connection, key, opTimeoutMs: 5_000, reachMs: 185_000, timers });
      stores.push(store);
      return store;
    },
    dispose: async () => {
      await Promise.all(stores.map((store) => store.close()));
      await redis.del(key);
      redis.disconnect();
    },
  };
}

describeWorkerStore('Redis', async () => {
  const bench = await makeBench();
  const { redis, key } = bench;
  return {
    ...bench,
    foreignWrite: async (id) => {
      const row = (await redis.hget(key, String(id)))!;
      const [version, ...others] = row.split('\n');
      await redis.hset(key, String(id), [Number(version) + 1, ...others].join('\n'));
    },
    markDeleted: async (id) => {
      await redis.hset(key, `deleted:${id}`, 1);
    },
  };
});

describeConcurrentAcquirers('Redis', makeBench);

describe("A Redis over the application's client, whatever its settings", () => {
  it.each([{}, { stringNumbers: true }, { enableAutoPipelining: true, stringNumbers: true }])(
    '%j',
    async (settings) => {
      const key = `raindrop.test:${randomBytes(8).toString('hex')}`;
      const connection = new Redis(serverUrl('redis'), settings);
      await initRedisWorkers({ connection, key });
      await expect(initRedisWorkers({ connection, key })).rejects.toMatchObject({ errorCode: 'REDIS_WORKERS_IN_USE' });
      const store = new RedisWorkerStore({ connection, key, opTimeoutMs: 5_000, reachMs: 185_000, timers });
      const workers = { min: 1, max: 3 };
      await store.prepare(workers);
      expect(await takeRow(store, 2)).toBe(true);
      expect(await takeRow(store, 2)).toBe(true);
      const sample = await store.readSample({ workers, from: 1, atMost: 9, graceMs: 0 });
      expect(sample).toMatchObject({ total: 3, live: 1, foreign: 0 });
      expect(sample.rows.map(({ id }) => id)).toEqual([1, 3]);
      expect(await store.fence(0)).toBe(3);
      await store.close();
      await connection.del(key);
      connection.disconnect();
    },
  );
});
