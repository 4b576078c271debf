import { Cluster, Redis } from 'ioredis';
import { FlakyProxy } from '../../../../test/support/proxies/flaky-proxy.js';
import { Popper, RedisBench } from '../../../../test/support/redis/redis-bench.js';
import { onEmptyRedis } from '../../../../test/support/redis/empty-redis.js';
import { startRedisCluster } from '../../../../test/support/redis/volatile-redis.js';
import { freePort } from '../../../../test/support/servers/free-port.js';
import type { PrivateServer } from '../../../../test/support/servers/private-server.js';
import { until } from '../../../../test/support/until.js';
import { RedisUnavailableError } from './redis-connection.js';
import type { RedisBufferOptions } from './redis-options.js';

describe('The connection to Redis', () => {
  let server: PrivateServer;
  let bench: RedisBench;

  onEmptyRedis(RedisBench, (...given) => ([server, bench] = given));

  it('that cannot be made leaves the database to serve, or is an error', async () => {
    const connection = `redis://127.0.0.1:${await freePort()}`;
    const popper = bench.popper(server, { connection });
    await popper.pop(3);
    expect([bench.popped.count, bench.row.reservations]).toEqual([30, 3]);
    const strict = bench.popper(server, { connection, onRedisDown: 'throw' });
    await expect(strict.pop()).rejects.toBeInstanceOf(RedisUnavailableError);
    expect(bench.row.reservations).toBe(3);
  });

  it('is made again when the server is back, without a timer that waits for it', async () => {
    const buffer = bench.buffer(server);
    const source = buffer.shard(9, 1, bench.row);
    await source.reserve({ count: 5, above: 0n });
    await server.kill();
    await source.reserve({ count: 5, above: 5n });
    const whileDown = buffer.status();
    await server.restart();
    expect(whileDown).toMatchObject({
      runs: 1,
      refills: 1,
      direct: 1,
      lastError: expect.stringContaining('Redis is unavailable') as string,
    });
    await source.reserve({ count: 5, above: 1_000n });
    expect(buffer.status()).toMatchObject({ runs: 2, direct: 1, isConnected: true });
  });

  it.each([
    ['maxclients', '1', '10000'],
    ['requirepass', 'geheim', ''],
  ])(
    'that %s refuses costs calls at the start, at a reconnect and at the end, and nothing else',
    async (name, no, yes) => {
      const admin = bench.admin(server);
      const options: Partial<RedisBufferOptions> = { onRedisDown: 'throw' };
      const running = bench.popper(server, options);
      const closing = bench.buffer(server, options);
      await running.pop();
      await closing.code('X', bench.row).reserve({ above: 0n });
      await admin.config('SET', name, no);
      await admin.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      const last = closing.code('X', bench.row).reserve({ above: 0n });
      await Promise.all([closing.close(), expect(last).rejects.toBeInstanceOf(RedisUnavailableError)]);
      const starting = bench.popper(server, options);
      for (const popper of [running, starting, running, starting]) {
        await expect(popper.pop()).rejects.toBeInstanceOf(RedisUnavailableError);
      }
      await admin.config('SET', name, yes);
      for (const popper of [running, starting]) await popper.pop();
    },
  );

  it('that has fallen silent is dropped, and the next one is used', async () => {
    const proxy = await FlakyProxy.start({ host: '127.0.0.1', port: server.port });
    const buffer = bench.buffer(server, { connection: `redis://127.0.0.1:${proxy.port}`, redisTimeoutMs: 300 });
    const popper = new Popper(buffer.code('X', bench.row), bench.popped);
    await popper.pop();
    proxy.silenceAfter(0);
    await popper.pop();
    expect(buffer.status()).toMatchObject({ runs: 1, direct: 1 });
    await until('the silent connection to be dropped', () => proxy.open === 0);
    proxy.recover();
    // Until it is connected, the database serves.
    const later = new Popper(buffer.code('Y', bench.row), bench.popped);
    await until('a run from Redis again', async () => {
      await later.pop();
      return buffer.status().runs > 1;
    });
    expect(buffer.status()).toMatchObject({ isConnected: true });
    expect(bench.popped.repeated).toBe(0);
    await buffer.close();
    await proxy.stop();
  });

  it('of the application is used and left open, also where it sends commands again on its own', async () => {
    const clients = Array.from({ length: 4 }, () => new Redis(server.url));
    for (const client of clients) client.on('error', () => undefined);
    const poppers = clients.map((connection) => bench.popper(server, { connection }));
    for (const popper of poppers) popper.start();
    const admin = bench.admin(server);
    for (let i = 0; i < 60 || bench.popped.count <= 200; i++) {
      await admin.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      if (i % 10 === 0) await admin.flushall();
      await bench.morePopped();
    }
    await bench.morePopped(1_000);
    await Promise.all(poppers.map((popper) => popper.stop()));
    await bench.close();
    expect(bench.popped.repeated).toBe(0);
    await expect(clients[0]!.ping()).resolves.toBe('PONG');
    for (const client of clients) client.disconnect();
  });

  it('may be that of a cluster', async () => {
    const node = await startRedisCluster();
    const cluster = new Cluster([node.url], { lazyConnect: true });
    try {
      const admin = bench.admin(node);
      await admin.cluster('ADDSLOTSRANGE', 0, 16_383);
      await until('the cluster', async () => (await admin.cluster('INFO')).includes('cluster_state:ok'));
      const buffer = bench.buffer(node, { connection: cluster, onRedisDown: 'throw' });
      const codes = ['ORDER', 'a}b', '', '}{'];
      for (const code of codes)
        expect((await buffer.code(code, bench.row).reserve({ above: 0n })).last % 200n).toBe(100n);
      expect(buffer.status()).toMatchObject({ runs: 4, direct: 0 });
    } finally {
      cluster.disconnect();
      await node.stop();
    }
  });

  it('answers nothing once it is closed, while the database still does', async () => {
    const buffer = bench.buffer(server);
    await buffer.close();
    await buffer.close();
    const source = buffer.code('X', bench.row);
    expect(await source.reserve({ count: 7, above: 0n })).toMatchObject({ first: 1n, last: 7n });
    expect(buffer.status()).toMatchObject({ runs: 0, direct: 1 });
  });
});
