import { RedisBench, Popper } from '../../../../test/support/redis/redis-bench.js';
import { onEmptyRedis } from '../../../../test/support/redis/empty-redis.js';
import type { RedisBufferOptions } from './redis-options.js';
import type { PrivateServer } from '../../../../test/support/servers/private-server.js';

/** More than all poppers have under way. */
const ENOUGH = 1_000;

/** Nobody is too slow for these, on a busy machine either. */
const PATIENT: Partial<RedisBufferOptions> = { redisTimeoutMs: 20_000, refillWaitMs: 20_000 };

describe('Ranges in a Redis that', () => {
  let server: PrivateServer;
  let bench: RedisBench;

  onEmptyRedis(RedisBench, (...given) => ([server, bench] = given));

  /** Six poppers at work while something happens. */
  async function during(trouble: () => Promise<unknown>, options: Partial<RedisBufferOptions> = {}): Promise<void> {
    const poppers = bench.poppers(6, server, options);
    for (const popper of poppers) popper.start();
    await bench.morePopped(ENOUGH);
    await trouble();
    await bench.morePopped(ENOUGH);
    await Promise.all(poppers.map((popper) => popper.stop()));
  }

  it('works are shared without a gap, with few reservations in the database', async () => {
    await during(() => Promise.resolve(), PATIENT);
    const { popped, row } = bench;
    expect(popped.count).toBeGreaterThan(1_000);
    expect([popped.repeated, popped.missing]).toEqual([0, 0]);
    expect(row.reservations).toBeLessThanOrEqual(popped.count / row.step + 2);
  });

  it('is flushed again and again are lost, and never come back', async () => {
    const admin = bench.admin(server);
    await during(async () => {
      for (let i = 0; i < 50; i++) {
        await admin.flushall();
        await bench.morePopped();
      }
    });
    const { popped } = bench;
    expect(popped.repeated).toBe(0);
    expect(popped.missing).toBeGreaterThan(0);
  });

  it('is killed and comes back empty are lost, while the database serves', async () => {
    await during(async () => {
      await server.kill();
      // More than what was under way.
      await bench.morePopped(1_000);
      await server.restart();
    });
    expect(bench.popped.repeated).toBe(0);
  });

  it('cuts every connection, time and again, are at most lost', async () => {
    const admin = bench.admin(server);
    await during(async () => {
      for (let i = 0; i < 50; i++) {
        await admin.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        await bench.morePopped();
      }
    });
    expect(bench.popped.repeated).toBe(0);
  });

  it('hangs cost a time-out, then the database serves; answers that come late are gaps', async () => {
    const buffer = bench.buffer(server, { redisTimeoutMs: 300 });
    const popper = new Popper(buffer.shard(1, 2, bench.row), bench.popped);
    await popper.pop(3);
    const { direct } = buffer.status();
    process.kill(server.pid!, 'SIGSTOP');
    try {
      await popper.pop();
      expect(buffer.status()).toMatchObject({
        direct: direct + 1,
        lastError: expect.stringContaining('300 ms') as string,
      });
    } finally {
      process.kill(server.pid!, 'SIGCONT');
    }
    await popper.pop(20);
    await bench.popper(server).pop(20);
    expect(bench.popped.repeated).toBe(0);
  });

  it('was out of reach are passed over by whoever has gone on in the database', async () => {
    const [one, other] = bench.poppers(2, server);
    await one!.pop(2);
    const direct = await bench.row.reserve({ above: one!.above });
    one!.above = direct.last;
    await one!.pop();
    expect(one!.above).toBeGreaterThan(direct.last);
    await other!.pop(50);
    expect(bench.popped.repeated).toBe(0);
  });

  it('outlives the database are served to the end; then its error comes, and goes with it', async () => {
    const popper = bench.popper(server);
    await popper.pop();
    bench.row.isDown = true;
    await popper.pop(19);
    await expect(popper.pop()).rejects.toMatchObject({ errorCode: 'SEGMENT_STORE_UNAVAILABLE' });
    bench.row.isDown = false;
    await popper.pop(5);
    expect([bench.popped.count, bench.popped.repeated, bench.popped.missing]).toEqual([250, 0, 0]);
  });

  it('serves the highest numbers there are serves them to the last digit', async () => {
    bench.row.maxId = 2n ** 63n - 1_000n;
    const [one, other] = bench.poppers(2, server);
    for (let i = 0; i < 10; i++) await Promise.all([one!.pop(1, 7), other!.pop(1, 13)]);
    expect([bench.popped.count, bench.popped.repeated, bench.popped.missing]).toEqual([200, 0, 0]);
  });
});
