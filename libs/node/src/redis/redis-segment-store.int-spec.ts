import { RedisBench } from '../../../../test/support/redis/redis-bench.js';
import { onEmptyRedis } from '../../../../test/support/redis/empty-redis.js';
import type { PrivateServer } from '../../../../test/support/servers/private-server.js';
import {
  MemoryAppSegmentStore,
  MemoryAppSegmentTable,
  MemorySegmentStore,
  MemorySegmentTable,
  SegmentGenerator,
  ShardedGenerator,
} from '@raindrop/core/internal';
import { systemPorts } from '../system/system-ports.js';
import { RedisAppSegmentStore, RedisSegmentStore } from './redis-segment-buffer.js';

/** On a busy machine Redis and this process wait for each other. */
const PATIENT = { opTimeoutMs: 30_000, asyncTimeoutMs: 60_000 };

const PHONE = { app: 7, gatePass: '13900139000' };

describe('Processes that share their segments in Redis', () => {
  let server: PrivateServer;
  let bench: RedisBench;
  let table: MemoryAppSegmentTable;

  onEmptyRedis(RedisBench, (...given) => ([server, bench] = given));

  beforeEach(() => {
    table = new MemoryAppSegmentTable();
  });

  const store = (): RedisAppSegmentStore =>
    new RedisAppSegmentStore(new MemoryAppSegmentStore(table), bench.buffer(server));

  async function sharded(): Promise<ShardedGenerator> {
    const ids = new ShardedGenerator(store(), systemPorts('exact'), PATIENT);
    await ids.start();
    return ids;
  }

  it('issue sharded IDs that differ, densely, with a reservation per thousand', async () => {
    const processes = [await sharded(), await sharded(), await sharded()];
    await processes[0]!.registerApp(7, 'shop');
    await Promise.all(processes.slice(1).map((each) => each.registerApp(7, 'shop')));
    const issued = await Promise.all(
      processes.map(async (each) => {
        const ids: bigint[] = [];
        for (let i = 0; i < 5_000; i++) ids.push(await each.nextShardedAsync(PHONE));
        return ids;
      }),
    );
    expect(new Set(issued.flat()).size).toBe(15_000);
    await Promise.all(processes.map((each) => each.close()));
  });

  it('give the ends of their runs back when they close, so that the next one goes on without a gap', async () => {
    const first = await sharded();
    await first.registerApp(7, 'shop');
    const last = await first.nextShardedAsync(PHONE);
    await first.close();
    const second = await sharded();
    expect(await second.nextShardedAsync(PHONE)).toBe(last + 16_384n);
    await second.close();
  });

  it('issue numbers of codes that differ', async () => {
    const codes = new MemorySegmentTable();
    const generators = Array.from({ length: 3 }, () => {
      const database = new MemorySegmentStore(codes);
      return new SegmentGenerator(new RedisSegmentStore(database, bench.buffer(server)), systemPorts('exact'), PATIENT);
    });
    await Promise.all(generators.map((each) => each.start(['ORDER'])));
    const issued = await Promise.all(generators.map((each) => each.nextIdsAsync(3_000, 'ORDER')));
    expect(new Set(issued.flat()).size).toBe(9_000);
    await Promise.all(generators.map((each) => each.close()));
  });

  describe('clear what Redis has of an app', () => {
    const keys = async (): Promise<string[]> => bench.admin(server).keys('*7_*');

    async function filled(): Promise<RedisAppSegmentStore> {
      const one = store();
      await one.registerApp(7, 'shop', '');
      await one.apps();
      await one.source(7, 48).reserve({ above: 0n });
      expect(await keys()).toHaveLength(1);
      return one;
    }

    it('that was removed from the table, when they look again', async () => {
      const one = await filled();
      table.rows.delete(7);
      expect(await one.apps()).toEqual([]);
      expect(await keys()).toEqual([]);
    });

    it('that was removed, when the one with the lock wants to refill it', async () => {
      const one = await filled();
      table.rows.delete(7);
      const source = one.source(7, 48);
      const popAll = async (): Promise<void> => {
        for (let above = 100n; above <= 1_000n; above += 100n) await source.reserve({ above });
      };
      await expect(popAll()).rejects.toMatchObject({ errorCode: 'UNKNOWN_APP' });
      expect(await keys()).toEqual([]);
    });

    it('that is registered anew, or its numbers would be reserved a second time', async () => {
      const one = await filled();
      table.rows.delete(7);
      await one.registerApp(7, 'another shop', '');
      expect(await one.source(7, 48).reserve({ above: 0n })).toMatchObject({ first: 1n });
      expect(table.rows.get(7)!.shards.get(48)!.maxId).toBe(1_000n);
    });
  });
});
