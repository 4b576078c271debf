import { randomBytes } from 'node:crypto';
import { Cluster, Redis } from 'ioredis';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeConcurrentAcquirers } from '../../../../../test/proof/contract/concurrent-acquirers.contract.js';
import { describeWorkerStore } from '../../../../../test/proof/contract/worker-store.contract.js';
import { takeRow } from '../../../../../test/support/stores/open-store.js';
import { serverUrl } from '../../../../../test/support/servers/server-url.js';
import { systemPorts } from '../../system/system-ports.js';
import { FlakyProxy } from '../../../../../test/support/proxies/flaky-proxy.js';
import { onEmptyRedis } from '../../../../../test/support/redis/empty-redis.js';
import { startRedisCluster, startVolatileRedis } from '../../../../../test/support/redis/volatile-redis.js';
import { KEY, WorkerBench } from '../../../../../test/support/redis/worker-bench.js';
import type { PrivateServer } from '../../../../../test/support/servers/private-server.js';
import { until } from '../../../../../test/support/until.js';
import type { RedisTarget } from '../redis-connection.js';
import { initRedisWorkers } from './redis-workers.js';
import { RedisWorkerStore } from './redis-worker-store.js';
import { fenceRequest } from '../../../../../test/support/stores/fence-request.js';

const { timers } = systemPorts('exact');

/** A key of this test alone, on the Redis of this run. */
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
    redis,
    key,
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
      expect(await store.fence(fenceRequest(0))).toBe(3);
      await store.close();
      await connection.del(key);
      connection.disconnect();
    },
  );
});

const tests = join(__dirname, '../../../../../test');

describe('A worker store on Redis', () => {
  let server: PrivateServer;
  let bench: WorkerBench;
  const stores: RedisWorkerStore[] = [];

  onEmptyRedis(WorkerBench, (...given) => ([server, bench] = given));

  beforeEach(() => bench.init(server));

  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
  });

  function open(connection: RedisTarget = server.url, opTimeoutMs = 2_000): RedisWorkerStore {
    const store = new RedisWorkerStore({
      connection,
      key: KEY,
      opTimeoutMs,
      reachMs: 1_000,
      timers,
      leastReachMs: 1_000,
    });
    stores.push(store);
    return store;
  }

  it('refuses a row that it cannot have written, in a sample as in the whole table', async () => {
    const store = open();
    await store.prepare({ min: 1, max: 3 });
    await bench.admin(server).hset(KEY, '2', 'nonsense');
    const corrupt = { errorCode: 'CORRUPT_REDIS_WORKER', retryable: false, workerId: '2', key: KEY };
    const request = { workers: { min: 1, max: 1 }, from: 1, atMost: 1, graceMs: 0 };
    await expect(store.readTable()).rejects.toMatchObject(corrupt);
    await expect(store.readSample(request)).rejects.toMatchObject(corrupt);
    await expect(store.readRow(2)).rejects.toMatchObject(corrupt);
    await expect(store.fence(fenceRequest(1))).rejects.toMatchObject(corrupt);
    await bench.admin(server).hset(KEY, 'deleted:2', 1);
    expect((await store.readTable()).deleted).toEqual([]);
    expect((await store.readSample(request)).rows).toHaveLength(1);
    expect(await store.fence(fenceRequest(1))).toBe(3);
  });

  it('makes and fences as many rows as a range and a key may have', async () => {
    const wide = open(server.url, 20_000);
    await wide.prepare({ min: 1, max: 4_095 });
    expect((await wide.readTable()).rows).toHaveLength(4_095);
    await open(server.url, 20_000).prepare({ min: 4_096, max: 8_190 });
    expect(await wide.fence(fenceRequest(60_000))).toBe(8_190);
    const { nowMs, rows } = await wide.readTable();
    expect(new Set(rows.map(({ id }) => id)).size).toBe(8_190);
    for (const { odometers } of rows) expect(odometers[0].ms).toBeGreaterThan(nowMs + 50_000);
    await expect(wide.prepare({ min: 2, max: 4_097 })).rejects.toMatchObject({ errorCode: 'CONFIGURATION' });
  });

  it('connects anew after a silent connection', async () => {
    const proxy = await FlakyProxy.start({ host: '127.0.0.1', port: server.port });
    const store = open(`redis://127.0.0.1:${proxy.port}`, 1_000);
    await store.prepare({ min: 1, max: 3 });
    proxy.silenceAfter(0);
    const unavailable = { errorCode: 'REDIS_UNAVAILABLE', retryable: true };
    await expect(store.readTable()).rejects.toMatchObject(unavailable);
    await expect(store.readTable()).rejects.toMatchObject(unavailable);
    proxy.recover();
    expect((await store.readTable()).rows).toHaveLength(3);
    await store.close();
    await proxy.stop();
  });

  it('answers again when the server is back', async () => {
    const store = open();
    await store.prepare({ min: 1, max: 3 });
    await server.kill();
    await expect(store.readRow(1)).rejects.toMatchObject({ errorCode: 'REDIS_UNAVAILABLE' });
    await server.restart();
    expect((await store.readRow(1)).row).toMatchObject({ id: 1, token: '' });
  });

  it('leaves a client of the application open, and does not use what an abandoned call answers', async () => {
    const client = new Redis(server.url);
    const store = open(client);
    await store.prepare({ min: 1, max: 3 });
    const call = store.readTable();
    store.abandon();
    await expect(call).rejects.toThrow('the call was abandoned');
    expect((await store.readTable()).rows).toHaveLength(3);
    await store.close();
    await expect(store.readTable()).rejects.toThrow('the connection is closed');
    await expect(client.ping()).resolves.toBe('PONG');
    client.disconnect();
  });

  it('may be on a cluster: it has one key', async () => {
    const node = await startRedisCluster();
    const cluster = new Cluster([node.url], { lazyConnect: true });
    try {
      const admin = bench.admin(node);
      await admin.cluster('ADDSLOTSRANGE', 0, 16_383);
      await until('the cluster', async () => (await admin.cluster('INFO')).includes('cluster_state:ok'));
      await initRedisWorkers({ connection: cluster, key: KEY });
      const store = open(cluster);
      await store.prepare({ min: 1, max: 3 });
      expect((await store.readTable()).rows).toHaveLength(3);
    } finally {
      cluster.disconnect();
      await node.stop();
    }
  });

  it('does not serve from a replica', async () => {
    const replica = await startVolatileRedis('--replicaof', '127.0.0.1', String(server.port));
    await expect(open(replica.url).prepare({ min: 1, max: 3 })).rejects.toMatchObject({
      errorCode: 'REDIS_UNAVAILABLE',
      message: expect.stringContaining('READONLY') as string,
    });
    await replica.stop();
  });

  it('lets a script end that forgot to close it, and not while it waits', async () => {
    const script = [
      '--require',
      join(tests, 'typescript-hook.cjs'),
      join(tests, 'support/redis/write-worker-and-end.ts'),
    ];
    const env = { ...process.env, RAINDROP_TEST_REDIS: server.url };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, script, { env, timeout: 100_000 });
    expect({ stdout, stderr }).toEqual({ stdout: 'written true, rows 2\n', stderr: '' });
  });
});
