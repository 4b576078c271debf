import { type Layout, type LayoutConflictError } from '@raindrop/core';
import { judgeLayouts, layoutsLostUntilMs, wallClock } from '@raindrop/core/internal';
import { resolveLayout } from '../../../../core/src/layout/layout-options.js';
import { startVolatileRedis } from '../../../../../test/support/redis/volatile-redis.js';
import { weakenWorkerScripts } from '../../../../../test/support/redis/weakened-worker-scripts.js';
import { KEY, LEASE, REACH_MS, WorkerBench } from '../../../../../test/support/redis/worker-bench.js';
import type { PrivateServer } from '../../../../../test/support/servers/private-server.js';
import { until } from '../../../../../test/support/until.js';
import { fenceRequest } from '../../../../../test/support/stores/fence-request.js';

/** The next second has begun. */
const TICK_MS = 2_000;

// What processes that issue meanwhile make of it is in lost-memory.e2e-spec.ts.
describe('Worker ids of a Redis that loses its memory', () => {
  let server: PrivateServer;
  let bench: WorkerBench;

  beforeAll(async () => {
    server = await startVolatileRedis();
  });

  afterAll(() => server.stop());

  /** A server without a memory, ready for use. */
  beforeEach(async () => {
    bench = new WorkerBench();
    await bench.admin(server).flushall();
    await bench.init(server);
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await bench.close();
  });

  it('are not given to a write whose row was read before, although the row looks the same', async () => {
    const early = bench.store(server);
    await early.prepare({ min: 1, max: 1 });
    const { row } = await early.readRow(1);
    await bench.admin(server).flushall();
    const later = bench.store(server);
    await later.prepare({ min: 1, max: 1 });
    expect((await later.readRow(1)).row).toMatchObject({ version: row!.version, token: row!.token });
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
    expect(await early.write(write)).toBe(false);
    weakenWorkerScripts('if seen ~= marker then return answer(0) end', '');
    expect(await early.write(write)).toBe(true);
    await Promise.all([early.close(), later.close()]);
  });

  it('are noted as lost by no clock that is refused, and a fence cures what was noted so before, once its operator says what was issued', async () => {
    const store = bench.store(server, { maxClockSkewMs: 30_000 });
    await store.prepare({ min: 1, max: 1 });
    await bench.admin(server).flushall();
    const now = Date.now.bind(Date);
    jest.spyOn(wallClock, 'now').mockImplementation(() => now() - 86_400_000);
    await expect(store.readTable()).rejects.toMatchObject({ errorCode: 'CLOCK_SKEW' });
    expect(await bench.admin(server).exists(KEY)).toBe(0);
    jest.restoreAllMocks();
    expect((await store.readTable()).rows).toHaveLength(1);

    const aheadMs = now() + 86_400_000;
    await bench.admin(server).hset(KEY, { lostAt: aheadMs, floor: aheadMs + REACH_MS });
    expect((await store.readTable()).lostUntilMs).toBe(aheadMs + REACH_MS);
    await expect(store.fence(fenceRequest(1_000))).rejects.toMatchObject({
      errorCode: 'CLOCK_BEHIND',
      laterMs: aheadMs,
    });
    expect((await store.readTable()).lostUntilMs).toBe(aheadMs + REACH_MS);
    await store.fence(fenceRequest(1_000, { issuedUntilMs: now() }));
    expect((await store.readTable()).lostUntilMs).toBeLessThanOrEqual(now() + REACH_MS);
    await store.close();
  });

  /** Its clock cannot be set: the operator's is an hour ahead instead. */
  it('are not fenced while its clock is an hour behind', async () => {
    const store = bench.store(server);
    await store.prepare({ min: 1, max: 2 });
    const before = await store.readTable();
    const realNow = Date.now.bind(Date);
    const fence = (): Promise<number> => store.fence(fenceRequest(95_000));
    jest.spyOn(wallClock, 'now').mockImplementation(() => realNow() + 3_600_000);
    await expect(fence()).rejects.toMatchObject({ errorCode: 'CLOCK_SKEW' });
    expect((await store.readTable()).rows).toEqual(before.rows);
    weakenWorkerScripts('if math.abs(tonumber(wall) - now) > maxSkew then', 'if false then');
    expect(await fence()).toBe(2);
  });

  it('of a key that was restored into another server are no loss for the layout that has served alone', async () => {
    const store = bench.store(server);
    await store.prepare({ min: 1, max: 2 });
    await store.readTable();
    const dump = await bench.admin(server).dumpBuffer(KEY);
    const another = await startVolatileRedis();
    try {
      await bench.admin(another).restore(KEY, 0, dump);
      await bench.store(another).fence(fenceRequest(5_000, { servedAlone: 'ours' }));
      const service = bench.store(another);
      await service.prepare({ min: 1, max: 2 });
      const table = await service.readTable();
      expect(layoutsLostUntilMs(table, 'ours')).toBe(0);
      expect(layoutsLostUntilMs(table, 'another')).toBeGreaterThan(table.nowMs);
    } finally {
      await bench.close();
      await another.stop();
    }
  });

  it('wait as long as the longest reach asks for, also when it comes later', async () => {
    await bench.admin(server).flushall();
    const [short, long] = [bench.store(server), bench.store(server, { reachMs: 60_000 })];
    await short.prepare({ min: 1, max: 1 });
    const { row, nowMs } = await short.readRow(1);
    await long.prepare({ min: 1, max: 1 });
    const { row: later } = await short.readRow(1);
    expect(row!.odometers[0].ms - nowMs).toBeLessThanOrEqual(REACH_MS);
    expect(later!.odometers[1].ms - row!.odometers[1].ms).toBe(60_000 - REACH_MS);
    await Promise.all([short.close(), long.close()]);
  });

  it('wait after the next loss as long as the longest reach that was ever heard of', async () => {
    const [short, long] = [bench.store(server), bench.store(server, { reachMs: 60_000 })];
    await long.prepare({ min: 1, max: 1 });
    await short.prepare({ min: 1, max: 1 });
    await bench.admin(server).flushall();
    const { row, nowMs } = await short.readRow(1);
    expect(row!.odometers[0].ms - nowMs).toBeGreaterThan(60_000 - TICK_MS);
    await Promise.all([short.close(), long.close()]);
  });

  it.each([
    ['a flush', undefined],
    ['an old snapshot', '1000'],
  ])('wait 185 s at least after %s, whatever the lease', async (_, reach) => {
    await bench.admin(server).flushall();
    if (reach !== undefined) await bench.admin(server).hset(KEY, { generation: 'old', floor: 0, lostAt: 0, reach });
    const store = bench.store(server, { leastReachMs: undefined });
    await store.prepare({ min: 1, max: 1 });
    const { row, nowMs } = await store.readRow(1);
    expect(row!.odometers[0].ms - nowMs).toBeGreaterThan(185_000 - TICK_MS);
    expect((await store.durabilityWarnings()).join()).toContain('for 185 s no process gets a new worker id');
    await store.close();
  });

  it('are lost with the key, be it deleted or evicted: never a row without the marker', async () => {
    const store = bench.store(server);
    await store.prepare({ min: 1, max: 1 });
    await bench.admin(server).del(KEY);
    const { nowMs, lostUntilMs } = await store.readTable();
    expect(lostUntilMs).toBeGreaterThan(nowMs + REACH_MS - 100);
    expect((await store.readRow(1)).row!.odometers[0].ms).toBe(lostUntilMs);
    await store.close();
  });

  it('come with the layouts that a living process knows', async () => {
    await bench.started(server, { workers: 2 });
    await bench.admin(server).flushall();
    const store = bench.store(server);
    await until('it to tell', async () => (await store.readTable()).layouts.length > 0);
    expect((await store.readTable()).layouts).toEqual(['1000@1704067200:t33.w3.b1.s26']);
    await store.close();
    const other = bench.issuer(server, { workers: 2, timeStampLength: 34 });
    await expect(other.start()).rejects.toMatchObject({ errorCode: 'LAYOUT_CONFLICT' });
  });

  it('of a Redis that was never used are given at once when an operator says so, once', async () => {
    const taken = { errorCode: 'REDIS_WORKERS_IN_USE', retryable: false, key: KEY, fields: 4 };
    await expect(bench.init(server)).rejects.toMatchObject(taken);
    await bench.started(server, {}, { ...LEASE, waitForWorkerMs: 0 });
  });

  it('count for layouts of the past as issued up to there, with a row or without, until ours goes on', async () => {
    const shape = { timeUnit: 'second', timeStampLength: 33, workIdLength: 3, serviceMaxWorkId: 1 } as const;
    const layoutOf = (startTimeStamp: number): Layout => resolveLayout({ ...shape, startTimeStamp }, Date.now()).layout;
    const epochMs = Date.parse('2024-01-01');
    // What it issues we issue ten minutes later.
    const [ours, other] = [layoutOf(epochMs), layoutOf(epochMs - 600_000)];
    const store = bench.store(server);
    await store.prepare({ min: 1, max: 1 });
    await store.rememberLayout(other.fingerprint);
    const write = async (layout: string, ms: number): Promise<void> => {
      const { row } = await store.readRow(1);
      const { version, token } = row!;
      const odometers = [
        { ms, sequence: 0 },
        { ms: 0, sequence: -1 },
      ] as const;
      const rest = { token: '', holder: '', lane: 0 as const, code: 'x', timeUnit: 2, leaseMs: 0 };
      expect(await store.write({ id: 1, expected: { version, token }, layout, odometers, ...rest })).toBe(true);
    };
    const clearsAtMs = async (): Promise<number | undefined> => {
      try {
        judgeLayouts(await store.readTable(), ours, 0);
      } catch (error) {
        return (error as LayoutConflictError).clearsAtMs;
      }
      return undefined;
    };
    const longAgo = Date.now() - 3_600_000;
    await write(ours.fingerprint, longAgo);
    expect(await clearsAtMs()).toBeUndefined();
    await bench.admin(server).hset(KEY, { generation: 'of another server' });
    const { rows, lostUntilMs = 0, barredUntilMs } = await store.readTable();
    // What makes the starts wait are the odometers of the rows.
    expect([rows[0]!.odometers[0].ms, barredUntilMs]).toEqual([longAgo, undefined]);
    expect((await store.readRow(1)).row!.odometers[0].ms).toBe(lostUntilMs);
    const ends = (Math.floor((lostUntilMs + 600_000) / 1_000) + 1) * 1_000;
    expect(await clearsAtMs()).toBe(ends);
    await write(other.fingerprint, longAgo);
    expect(await clearsAtMs()).toBe(ends);
    await write(ours.fingerprint, lostUntilMs + 1);
    expect(await clearsAtMs()).toBeUndefined();
    await store.close();
  });

  it('are waited for with a word to the operator, once for each loss', async () => {
    await bench.admin(server).flushall();
    const warnings: string[] = [];
    const store = bench.store(server, { warn: (message) => warnings.push(message) });
    await store.prepare({ min: 1, max: 1 });
    await store.readTable();
    await bench.admin(server).flushall();
    await store.readTable();
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/^Redis lost .* raindrop\.worker.* none is given before 20..-.*Z\. /);
    await store.close();
  });
});
