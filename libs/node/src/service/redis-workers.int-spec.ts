import { presets, type LeaseOptions, type PastIds } from '@raindrop/core';
import { Redis } from 'ioredis';
import { startVolatileRedis } from '../../../../test/support/redis/volatile-redis.js';
import type { PrivateServer } from '../../../../test/support/servers/private-server.js';
import type { IdService } from './id-service.js';
import { openIdService } from './open-id-service.js';
import { fenceWorkers } from '../workers/fence-workers.js';
import { openBackfill } from '../workers/open-backfill.js';
import { readWorkers } from '../workers/read-workers.js';
import { initRedisWorkers, redisWorkers, redisWorkersOf } from '../redis/worker-store/redis-workers.js';

const LAYOUT = { timeUnit: 'second', startTimeStamp: '2024-01-01', timeStampLength: 33, workIdLength: 10 } as const;

/** So short that its reach is over within seconds. */
const SHORT_LEASE = {
  heartbeatIntervalMs: 200,
  leaseMs: 1_500,
  horizonMs: 1_500,
  graceMs: 200,
  opTimeoutMs: 1_000,
  maxClockSkewMs: 1_000,
};
const SHORT_REACH_MS = 4_500;

const SILENT = { log: () => {}, warn: () => {}, error: () => {} };

describe('A service with worker ids from Redis', () => {
  let server: PrivateServer;
  let redis: Redis;
  const opened: IdService[] = [];

  beforeAll(async () => {
    server = await startVolatileRedis();
    redis = new Redis(server.url);
  });

  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  beforeEach(() => redis.flushall());

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((ids) => ids.close()));
  });

  async function start(
    workerIdAssigner = redisWorkers({ connection: server.url }),
    lease: LeaseOptions = {},
  ): Promise<IdService> {
    const ids = await openIdService({ ...LAYOUT, ...lease, workerIdAssigner, logger: SILENT });
    opened.push(ids);
    return ids;
  }

  it('needs no database: each instance has an id of its own, and gives it back', async () => {
    await initRedisWorkers({ connection: server.url });
    const [one, other] = await Promise.all([start(), start()]);
    const ids = [one, other, one, other].map((each) => each.nextId());
    expect(new Set(ids).size).toBe(4);
    expect(one.workerId).not.toBe(other.workerId);
    const held = async (): Promise<number> => {
      const rows = Object.entries(await redis.hgetall('raindrop.worker')).filter(([field]) => /^\d+$/.test(field));
      return rows.filter(([, row]) => row.split('\n')[2] !== '').length;
    };
    expect(await held()).toBe(2);
    await Promise.all(opened.splice(0).map((ids) => ids.close()));
    expect(await held()).toBe(0);
  });

  it('goes on next to backfills, which need the rows of an initialised Redis', async () => {
    await initRedisWorkers({ connection: server.url });
    const service = await start();
    const from = Date.parse('2024-02-01');
    const open = (): Promise<PastIds> => {
      const workerIdAssigner = redisWorkers({ connection: server.url });
      return openBackfill({ ...LAYOUT, workerIdAssigner, logger: SILENT, from, tables: [] });
    };
    const past = (await Promise.all([open(), open()])).flatMap((ids) =>
      Array.from({ length: 100 }, (_, second) => ids.at(from + second * 1_000)),
    );
    const now = Array.from({ length: 100 }, () => service.nextId());
    expect(new Set([...past, ...now]).size).toBe(300);
    expect(service.parse(past[99]!).time).toEqual(new Date(from + 99_000));
    await fenceWorkers({ ...LAYOUT, workerIdAssigner: redisWorkers({ connection: server.url }) });
    await expect(open()).rejects.toMatchObject({ errorCode: 'NO_ROW_FOR_PAST' });
  });

  it('waits at its first start, by itself, until no process can have issued the IDs that it will issue', async () => {
    const from = Date.now();
    const ids = await start(redisWorkersOf({ connection: server.url, key: 'raindrop.worker' }, 0), SHORT_LEASE);
    expect(Date.now() - from).toBeGreaterThanOrEqual(SHORT_REACH_MS);
    expect(ids.nextId()).toBeGreaterThan(0n);
  });

  it('can be looked at before its first start, which stays one without a wait', async () => {
    const connection = server.url;
    const workerIdAssigner = redisWorkers({ connection });
    expect(await readWorkers({ ...LAYOUT, workerIdAssigner })).toMatchObject({ workers: [] });
    expect(await redis.dbsize()).toBe(0);
    await initRedisWorkers({ connection });
    const ids = await start();
    const { workers } = await readWorkers({ ...LAYOUT, workerIdAssigner });
    expect(workers.filter(({ state }) => state === 'held').map(({ workerId }) => workerId)).toEqual([ids.workerId]);
  });

  it('shows that no process can acquire a worker id yet after Redis has lost its memory', async () => {
    const workerIdAssigner = redisWorkers({ connection: server.url });
    await initRedisWorkers({ connection: server.url });
    await (await start()).close();
    await redis.hset('raindrop.worker', 'generation', 'of another server');
    const { workers } = await readWorkers({ ...LAYOUT, workerIdAssigner });
    expect(new Set(workers.map(({ state }) => state))).toEqual(new Set(['used-up']));
  });

  describe('and no layout in its options', () => {
    const unnamed = (layout?: 'number'): Promise<IdService> =>
      openIdService({
        workerIdAssigner: redisWorkers({ connection: server.url }),
        logger: SILENT,
        ...(layout !== undefined && { layout }),
      }).then((ids) => {
        opened.push(ids);
        return ids;
      });

    it('takes the default of a Redis that was never used, and goes on with what Redis remembers', async () => {
      await initRedisWorkers({ connection: server.url });
      const ids = await Promise.all([unnamed(), unnamed()]);
      expect(ids.map(({ layout }) => layout.fingerprint)).toEqual(Array(2).fill('1000@1767225600:t33.w10.b1.s18.e1=0'));
      await redis.flushall();
      await initRedisWorkers({ connection: server.url, key: 'raindrop.worker' });
      const number = await unnamed('number');
      await number.close();
      expect((await unnamed()).layout.fingerprint).toBe(number.layout.fingerprint);
    });

    it('is refused by a Redis that may have forgotten the layout of IDs that exist', async () => {
      const refused = expect.objectContaining({ errorCode: 'UNCLEAR_LAYOUT' }) as Error;
      await expect(unnamed()).rejects.toEqual(refused);
      await redis.flushall();
      await initRedisWorkers({ connection: server.url });
      const ids = await unnamed();
      await ids.close();
      await redis.flushall();
      await expect(unnamed()).rejects.toEqual(refused);
    });
  });

  it('is refused a range that Redis would take long to read', async () => {
    const workerIdAssigner = redisWorkers({ connection: server.url });
    const layout = presets.uidGenerator({ startTimeStamp: '2024-01-01' });
    const starting = openIdService({ layout, serviceMaxWorkId: 4_096, workerIdAssigner, logger: SILENT });
    await expect(starting).rejects.toMatchObject({
      errorCode: 'CONFIGURATION',
      problems: [{ option: 'serviceMaxWorkId', given: '4096' }],
      message: expect.stringContaining('at most 4095 worker ids') as string,
    });
    expect(await redis.exists('raindrop.worker')).toBe(0);
  });
});
