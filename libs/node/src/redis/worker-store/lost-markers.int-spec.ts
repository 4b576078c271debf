import { startVolatileRedis } from '../../../../../test/support/redis/volatile-redis.js';
import { REACH_MS, WorkerBench } from '../../../../../test/support/redis/worker-bench.js';
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
