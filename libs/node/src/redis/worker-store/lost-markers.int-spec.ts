import type { Redis } from 'ioredis';
import { startVolatileRedis } from '../../../../../test/support/redis/volatile-redis.js';
import { KEY, REACH_MS, WorkerBench } from '../../../../../test/support/redis/worker-bench.js';
import type { PrivateServer } from '../../../../../test/support/servers/private-server.js';
import { TcpSwitch } from '../../../../../test/support/proxies/tcp-switch.js';
import { writeTo } from '../../../../../test/proof/contract/worker-store.contract.js';
import { takeRow } from '../../../../../test/support/stores/open-store.js';
import { until } from '../../../../../test/support/until.js';
import type { RedisWorkerStore } from './redis-worker-store.js';
import { fenceRequest } from '../../../../../test/support/stores/fence-request.js';

const WORKERS = { min: 1, max: 2 };

jest.setTimeout(60_000);

describe('A Redis whose marker is another one than a process has seen', () => {
  let first: PrivateServer;
  let second: PrivateServer;
  let bench: WorkerBench;
  let way: TcpSwitch;
  const open: RedisWorkerStore[] = [];

  const portOf = ({ url }: PrivateServer): number => Number(new URL(url).port);

  const replicationOf = async (server: PrivateServer): Promise<Record<string, string>> => {
    const lines = (await bench.admin(server).info('replication')).split('\r\n');
    return Object.fromEntries(lines.map((line) => line.split(':') as [string, string]));
  };

  const opened = async (port: number): Promise<RedisWorkerStore> => {
    const store = bench.store(first, { connection: `redis://127.0.0.1:${port}` });
    open.push(store);
    await store.prepare(WORKERS);
    await store.readRow(1);
    return store;
  };

  /** A call over the new connection: the first one may find the old one cut. */
  const lead = async (store: RedisWorkerStore, server: PrivateServer): Promise<void> => {
    way.pointTo(portOf(server));
    await store.readRow(1).catch(() => undefined);
  };

  beforeEach(async () => {
    [first, second] = [await startVolatileRedis(), await startVolatileRedis()];
    bench = new WorkerBench();
    way = await TcpSwitch.atFreePort();
    way.pointTo(portOf(first));
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.close()));
    await bench.close();
    await Promise.all([way.stop(), first.stop(), second.stop()]);
  });

  it.each([false, true])('serves the processes that run, after a flush (a fence before: %s)', async (isFenced) => {
    const living = await opened(way.port);
    await living.readRow(1);
    if (isFenced) await living.fence(fenceRequest(100));
    await living.readRow(1);
    await bench.admin(first).flushall();
    await opened(portOf(first));
    expect((await living.readRow(1)).row).toBeDefined();
  });

  it('is refused where another one took its place, by processes that have seen that, until it is fenced', async () => {
    const living = await opened(way.port);
    const replica = bench.admin(second);
    await replica.replicaof('127.0.0.1', portOf(first));
    await until('the replica to follow', async () =>
      (await replica.info('replication')).includes('master_link_status:up'),
    );
    // Its first replica gives it another replication id.
    await living.readRow(1);
    const { master_repl_offset: written } = await replicationOf(first);
    await until('the replica to have that', async () => (await replicationOf(second)).master_repl_offset === written);
    await replica.replicaof('NO', 'ONE');
    await lead(living, second);
    const { row } = await living.readRow(1);
    await lead(living, first);
    const former = { errorCode: 'FORMER_PRIMARY', retryable: true };
    await expect(living.readRow(1)).rejects.toMatchObject(former);
    await expect(living.write(writeTo(row!))).rejects.toMatchObject(former);
    await lead(living, second);
    expect(await takeRow(living, 1)).toBe(true);
    // A process that has seen no other one cannot know: an operator decides.
    expect(await (await opened(portOf(first))).fence(fenceRequest(5_000))).toBe(2);
    await lead(living, first);
    const { nowMs, row: fenced } = await living.readRow(1);
    // As long as its successor's grants may reach.
    expect(fenced!.odometers[0].ms - nowMs).toBeGreaterThan(REACH_MS - 10_000);
  });

  /** Whether a loss is recorded. A process that reads records one. */
  const isLost = async (store: RedisWorkerStore, server = first): Promise<boolean> => {
    const { lostUntilMs = 0 } = await store.readTable();
    const lostAt = Number(await bench.admin(server).hget(KEY, 'lostAt'));
    expect(lostUntilMs).toBe(lostAt && lostAt + REACH_MS);
    return lostAt > 0;
  };

  it.each<[string, (admin: Redis, dump: Buffer, row: string) => Promise<unknown>]>([
    ['the key is restored', (admin, dump) => admin.restore(KEY, 0, dump, 'REPLACE')],
    ['one row is put back', (admin, _, row) => admin.hset(KEY, '1', row)],
    ['one row is deleted', (admin) => admin.hdel(KEY, '1')],
  ])('has lost what it had when %s under processes that run, once for all of them', async (_, change) => {
    await bench.init(first);
    const [living, other] = [await opened(way.port), await opened(way.port)];
    expect(await takeRow(living, 1)).toBe(true);
    const admin = bench.admin(first);
    const [dump, row] = [await admin.dumpBuffer(KEY), await admin.hget(KEY, '1')];
    expect(await takeRow(living, 1)).toBe(true);
    expect(await isLost(living)).toBe(false);
    await change(admin, dump, row!);
    await living.readRow(2);
    expect(await isLost(living)).toBe(true);
    const marker = await admin.hget(KEY, 'generation');
    await Promise.all([other.readTable(), living.readRow(1)]);
    expect(await admin.hget(KEY, 'generation')).toBe(marker);
    expect((await living.readTable()).rows).toHaveLength(2);
  });

  it('has lost nothing where a process finds its own write, and where its row is marked deleted', async () => {
    await bench.init(first);
    const living = await opened(way.port);
    for (let times = 0; times < 3; times++) {
      expect(await takeRow(living, 1)).toBe(true);
      await living.readRow(1);
    }
    await bench.admin(first).hset(KEY, 'deleted:1', 1);
    expect(await isLost(living)).toBe(false);
  });

  it('has lost what it had when it is flushed and made ready anew under processes that run', async () => {
    await bench.init(first);
    const living = await opened(way.port);
    expect(await takeRow(living, 1)).toBe(true);
    await bench.admin(first).flushall();
    await bench.init(first);
    expect(await isLost(living)).toBe(true);
  });

  it('has lost what it had when a key from before a fence is restored', async () => {
    await bench.init(first);
    const living = await opened(way.port);
    const dump = await bench.admin(first).dumpBuffer(KEY);
    await living.fence(fenceRequest(100));
    await living.readRow(1);
    await bench.admin(first).restore(KEY, 0, dump, 'REPLACE');
    await living.readRow(1);
    expect(await bench.admin(first).hget(KEY, 'lostAt')).not.toBe('0');
  });

  it('has lost what another one has, for a process that has seen that, where it was made ready by hand', async () => {
    const living = await opened(way.port);
    expect(await takeRow(living, 1)).toBe(true);
    await bench.init(second);
    // A process that has seen no other one goes by what was recorded.
    expect(await isLost(await opened(portOf(second)), second)).toBe(false);
    await lead(living, second);
    expect(await isLost(living, second)).toBe(true);
  });

  it('has lost nothing once it was fenced, for a process that comes back from another one', async () => {
    await bench.init(first);
    const living = await opened(way.port);
    const dump = await bench.admin(first).dumpBuffer(KEY);
    await bench.admin(second).restore(KEY, 0, dump);
    await lead(living, second);
    await living.readRow(1);
    expect(await takeRow(living, 1)).toBe(true);
    await bench.store(first).fence(fenceRequest(REACH_MS, { servedAlone: 'ours' }));
    const fenced = await bench.admin(first).hgetall(KEY);
    await lead(living, first);
    await living.readRow(1);
    const now = await bench.admin(first).hgetall(KEY);
    const { generation, floor, lostAt, servedAlone } = fenced;
    expect(now).toMatchObject({ generation, floor, lostAt, servedAlone });
    expect(lostAt).toBe('0');
  });

  it('records no more than one loss beside another one with the same moment, while both clocks are behind it', async () => {
    const [a, b] = [await opened(portOf(first)), await opened(portOf(second))];
    const ahead = Math.floor(Date.now() / 1_000) + 3_600;
    for (const server of [first, second]) {
      const marker = await bench.admin(server).hget(KEY, 'generation');
      await bench.admin(server).hset(KEY, 'generation', marker!.replace(/:.*/, `:${ahead}.0`));
    }
    await Promise.all([a, b].map((each) => each.close()));
    const ways = [await TcpSwitch.atFreePort(), await TcpSwitch.atFreePort()] as const;
    try {
      ways[0].pointTo(portOf(first));
      ways[1].pointTo(portOf(second));
      const led = [await opened(ways[0].port), await opened(ways[1].port)];
      const markers = new Set<string>();
      const refused = new Set<string>();
      for (let times = 0; times < 8; times++) {
        const to = times % 2 === 0 ? [second, first] : [first, second];
        for (const at of [0, 1]) {
          ways[at]!.pointTo(portOf(to[at]!));
          await led[at]!.readRow(1).catch(() => undefined);
          const found = await led[at]!.readRow(1).catch((error: { errorCode: string }) => error.errorCode);
          if (found === 'FORMER_PRIMARY') refused.add(to[at]!.url);
          else expect(found).toMatchObject({ row: { id: 1 } });
        }
        for (const server of [first, second]) markers.add((await bench.admin(server).hget(KEY, 'generation'))!);
      }
      expect(markers.size).toBeLessThanOrEqual(4);
      expect(refused.size).toBe(1);
    } finally {
      await Promise.all(ways.map((each) => each.stop()));
    }
  });

  it('takes no row that was read before it was flushed twice', async () => {
    const living = await opened(way.port);
    const { row } = await living.readRow(1);
    for (let times = 0; times < 2; times++) {
      await bench.admin(first).flushall();
      await opened(portOf(first));
    }
    const { odometers, version, token } = row!;
    const write = {
      id: 1,
      expected: { version, token },
      token: 'ghost',
      holder: '',
      layout: '',
      lane: 0 as const,
      odometers,
      code: '',
      timeUnit: 1,
      leaseMs: 1_000,
    };
    expect(await living.write(write)).toBe(false);
  });
});
