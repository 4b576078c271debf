import { grantReachMs, resolveLeaseOptions } from '@raindrop/core/internal';
import { startVolatileRedis } from '../../../../../test/support/redis/volatile-redis.js';
import { weakenWorkerScripts } from '../../../../../test/support/redis/weakened-worker-scripts.js';
import { KEY, LEASE, REACH_MS, WorkerBench } from '../../../../../test/support/redis/worker-bench.js';
import type { PrivateServer } from '../../../../../test/support/servers/private-server.js';
import { until } from '../../../../../test/support/until.js';

/** The next second has begun, and the next attempt was made. */
const TICK_MS = 2_000;

/** Of a service that renews seldom: its reach is 65 s. */
const LONG_LEASE = resolveLeaseOptions({
  heartbeatIntervalMs: 15_000,
  leaseMs: 20_000,
  horizonMs: 25_000,
  graceMs: 20_000,
  opTimeoutMs: 1_000,
  maxClockSkewMs: 5_000,
  waitForWorkerMs: 1_000,
});

/** A lease that outlives a restart of Redis on a busy machine. */
const PATIENT_LEASE = resolveLeaseOptions({
  heartbeatIntervalMs: 300,
  leaseMs: 5_000,
  horizonMs: 5_000,
  graceMs: 200,
  opTimeoutMs: 1_000,
  maxClockSkewMs: 300,
  waitForWorkerMs: 60_000,
});
const PATIENT_REACH_MS = grantReachMs(PATIENT_LEASE);

/** For what has to wait for a reach first. */
const PATIENTLY = { withinMs: 60_000 };

/** Follows what recognises a memory that was lost. */
const IS_JUDGED = 'local knownReach = tonumber(meta[4] or 0)';

describe('Worker ids of a Redis that loses its memory under processes that issue', () => {
  let server: PrivateServer;
  let second: PrivateServer;
  let bench: WorkerBench;

  beforeAll(async () => {
    [server, second] = await Promise.all([startVolatileRedis(), startVolatileRedis()]);
  });

  afterAll(() => Promise.all([server.stop(), second.stop()]));

  beforeEach(() => begin());

  afterEach(async () => {
    jest.restoreAllMocks();
    await bench.close();
  });

  /** Two servers without a memory, the first of them ready for use. */
  async function begin(): Promise<void> {
    bench = new WorkerBench();
    for (const each of [server, second]) {
      await each.restart();
      await bench.admin(each).replicaof('NO', 'ONE');
      await bench.admin(each).flushall();
    }
    await bench.init(server);
  }

  const issued = (count: number): Promise<boolean> => until(`${count} IDs`, () => bench.ids.size >= count);

  /** Waits until a process has issued 500 IDs after the wait that follows a loss, or an ID was repeated. */
  async function goneOn(lostAt: number): Promise<void> {
    const over = lostAt + REACH_MS + TICK_MS;
    await until('a process to go on', () => bench.ids.repeated > 0 || bench.ids.countAfter(over) > 500, PATIENTLY);
  }

  /** Who has the row again first is a matter of luck: where it is the holder, nothing comes twice. */
  async function untilRepeated(safeguard: string, replacement: string, lose: () => Promise<void>): Promise<void> {
    for (let tries = 1; bench.ids.repeated === 0 && tries <= 10; tries++) {
      if (tries > 1) {
        await bench.close();
        jest.restoreAllMocks();
        await begin();
      }
      weakenWorkerScripts(safeguard, replacement);
      await lose();
    }
    expect(bench.ids.repeated).toBeGreaterThan(0);
  }

  /** Another process wants the row, until one of the two has issued after the wait that follows the loss. */
  async function successor(of: PrivateServer): Promise<void> {
    const lostAt = Date.now();
    bench
      .issuer(of)
      .start()
      .catch(() => undefined);
    await goneOn(lostAt);
  }

  /** Everything is gone while one process holds the only row. */
  async function flushed(): Promise<void> {
    await bench.started(server);
    await issued(1_000);
    await bench.admin(server).flushall();
    await successor(server);
  }

  /** The server is killed and starts with what it wrote before the last holder came. */
  async function oldSnapshot(): Promise<void> {
    const first = await bench.started(server);
    await bench.admin(server).save();
    await first.close();
    const holder = await bench.started(server);
    // For longer than the first holder's lease and grace would have lasted.
    await holder.renewals(Math.ceil((LEASE.leaseMs + LEASE.graceMs + 1_000) / LEASE.heartbeatIntervalMs));
    await server.kill();
    await server.restart();
    await successor(server);
  }

  /** The replica lost its connection before the holder came, and the primary dies. */
  async function lateReplica(): Promise<void> {
    const early = bench.store(server);
    await early.prepare({ min: 1, max: 1 });
    await early.close();
    const replica = bench.admin(second);
    await replica.replicaof('127.0.0.1', server.port);
    await until('the link', async () => (await replica.info('replication')).includes('master_link_status:up'));
    await replica.replicaof('NO', 'ONE');
    await bench.started(server);
    await issued(1_000);
    await server.kill();
    await successor(second);
  }

  /** The key is put back to before the holder came, and the server goes on. */
  async function restoredKey(): Promise<void> {
    const early = bench.store(server);
    await early.prepare({ min: 1, max: 1 });
    await early.close();
    const dump = await bench.admin(server).dumpBuffer(KEY);
    const holder = await bench.started(server);
    await issued(1_000);
    await bench.admin(server).restore(KEY, 0, dump, 'REPLACE');
    await until('the holder to notice', () => holder.saw('lease-lost'));
    await successor(server);
  }

  const ways = [
    ['by FLUSHALL', flushed],
    ['by a restart with an old snapshot', oldSnapshot],
    ['by a failover to a replica that was late', lateReplica],
    ['by a key that is restored', restoredKey],
  ] as const;

  it.each(ways)('%s repeat no ID', async (_, lose) => {
    await lose();
    expect(bench.ids.size).toBeGreaterThan(1_000);
    expect(bench.ids.repeated).toBe(0);
  });

  it.each(ways)('%s would repeat IDs if no process noticed', async (_, lose) => {
    await untilRepeated(IS_JUDGED, `isNew = false\n${IS_JUDGED}`, lose);
  });

  it.each([
    ['1, where the old primary stops in time', '1', false],
    ['0: the limit that is documented', '0', true],
  ])('of two primaries at once, with min-replicas-to-write %s', async (_, replicas, repeats) => {
    const replica = bench.admin(second);
    await replica.replicaof('127.0.0.1', server.port);
    const primary = bench.admin(server);
    await until('the replica', async () => (await primary.info('replication')).includes('state=online'));
    await primary.config('SET', 'min-replicas-to-write', replicas);
    const holder = await bench.started(server);
    await holder.renewals(4);
    await replica.replicaof('NO', 'ONE');
    const next = bench.issuer(second);
    const starts = next.start();
    if (repeats) await until('an ID to be repeated', () => bench.ids.repeated > 0, PATIENTLY);
    else {
      await starts;
      await goneOn(Date.now());
      expect(bench.ids.repeated).toBe(0);
    }
    await primary.config('SET', 'min-replicas-to-write', 0);
  });

  it('are given again when the clock has passed all that can have been granted, not before', async () => {
    await bench.started(server, { workers: 2 });
    const from = Date.now();
    await bench.admin(server).flushall();
    const store = bench.store(server);
    await store.prepare({ min: 1, max: 2 });
    const { row, nowMs } = await store.readRow(2);
    expect(row!.odometers[0].ms - nowMs).toBeLessThanOrEqual(REACH_MS);
    await store.close();
    const next = await bench.started(server, { workers: 2 });
    expect(Date.now() - from).toBeGreaterThan(REACH_MS);
    expect(next.saw('lease-acquired')).toBe(true);
  });

  it('stay with their holders where the rows survive: no other process gets one for a while', async () => {
    const holder = await bench.started(server, { workers: 2 }, PATIENT_LEASE);
    await holder.renewals(2);
    await bench.admin(server).save();
    await holder.renewals(2);
    await server.kill();
    const from = Date.now();
    await server.restart();
    const next = await bench.started(server, { workers: 2 }, PATIENT_LEASE);
    expect(Date.now() - from).toBeGreaterThanOrEqual(PATIENT_REACH_MS);
    await until('the holder to notice', () => holder.saw('database-regression'));
    expect(holder.saw('lease-lost')).toBe(false);
    expect([holder.keeper.number, holder.keeper.workerId, next.keeper.workerId].sort()).toEqual([1, 1, 2].sort());
    expect(bench.ids.repeated).toBe(0);
  });

  it('stay with their holders when a server comes back that writes everything down first', async () => {
    const durable = await startVolatileRedis('--appendonly', 'yes', '--appendfsync', 'always');
    await bench.init(durable);
    const holder = await bench.started(durable, { workers: 2 }, PATIENT_LEASE);
    await holder.renewals(2);
    await durable.kill();
    await durable.restart();
    const next = await bench.started(durable, { workers: 2 }, PATIENT_LEASE);
    expect(holder.events.map(({ type }) => type)).not.toContain('database-regression');
    expect(holder.saw('lease-lost')).toBe(false);
    expect([holder.keeper.number, bench.ids.repeated]).toEqual([1, 0]);
    await Promise.all([holder.close(), next.close()]);
    await durable.stop();
  });

  /** One service on the key renews every 15 s; it is still silent when another one, that asks for little, comes anew. */
  async function unequalServices(leastReachMs: number | undefined): Promise<void> {
    await bench.started(server, {}, LONG_LEASE);
    await issued(1_000);
    await bench.admin(server).flushall();
    const lostAt = Date.now();
    const quick = bench.issuer(server, {}, LEASE, { leastReachMs });
    quick.start().catch(() => undefined);
    if (leastReachMs === undefined) await goneOn(lostAt + TICK_MS);
    else await until('an ID to be repeated', () => bench.ids.repeated > 0, PATIENTLY);
  }

  it('repeat no ID where a service that needs longer has not spoken yet', async () => {
    await unequalServices(undefined);
    expect(bench.ids.size).toBeGreaterThan(1_000);
    expect(bench.ids.repeated).toBe(0);
  });

  it('would repeat IDs if only those who have spoken counted', async () => {
    await unequalServices(0);
    expect(bench.ids.repeated).toBeGreaterThan(0);
  });

  it('come without layouts when no process knew them: the limit that is documented', async () => {
    const last = await bench.started(server);
    await last.close();
    await bench.admin(server).flushall();
    const other = bench.issuer(server, { timeUnit: 'millisecond', timeStampLength: 41 });
    await expect(other.start()).resolves.toBeUndefined();
  });
});
