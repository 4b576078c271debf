import { PoppedNumbers } from '../../../../test/support/redis/popped-numbers.js';
import { weakenScripts } from '../../../../test/support/redis/weakened-scripts.js';
import { onEmptyRedis } from '../../../../test/support/redis/empty-redis.js';
import { Popper, RedisBench } from '../../../../test/support/redis/redis-bench.js';
import type { PrivateServer } from '../../../../test/support/servers/private-server.js';
import { until } from '../../../../test/support/until.js';
import { systemPorts } from '../system/system-ports.js';
import { startVolatileRedis } from '../../../../test/support/redis/volatile-redis.js';
import { RedisConnection } from './redis-connection.js';
import { RedisKeys } from './redis-keys.js';
import { type PoppedRun, RedisRanges, type RefillLock } from './redis-segment-source.js';
import type { RedisBufferOptions } from './redis-options.js';

const TOKEN_CHECK = "if redis.call('GET', KEYS[2]) ~= token then return {'refused'} end";

const FORWARD_GUARD = 'or (r[4] and not isAbove(first, r[4]))';

const VERSION_CHECK = 'or r[2] ~= version';

describe('A range in Redis', () => {
  let server: PrivateServer;
  let bench: RedisBench;
  let ranges: RedisRanges;
  let connection: RedisConnection;
  let popped: PoppedNumbers;
  let tokens = 0;

  onEmptyRedis(RedisBench, (...given) => ([server, bench] = given));

  beforeEach(() => {
    connection = new RedisConnection(server.url, systemPorts('exact').timers, 1_000);
    ranges = new RedisRanges(connection, RedisKeys.ofShard('id.gen.', 'test', 1, 2));
    popped = new PoppedNumbers();
  });

  afterEach(() => {
    jest.restoreAllMocks();
    connection.close();
  });

  async function pop(count: number, options: { lockMs?: number; above?: bigint } = {}): Promise<PoppedRun> {
    const { lockMs = 60_000, above = 0n } = options;
    const answer = await ranges.pop({ count, above, idle: 0.2, token: `token ${tokens++}`, lockMs });
    if (answer.run !== undefined) popped.add(answer.run);
    return answer;
  }

  async function lock(options: { lockMs?: number } = {}): Promise<RefillLock> {
    const { lock } = await pop(10, options);
    expect(lock).toBeDefined();
    return lock!;
  }

  const push = (first: bigint, last: bigint, right: RefillLock): Promise<boolean> =>
    ranges.push({ first, last }, right);

  it('is handed out in runs, and the lock to the process that finds less than the idle part left', async () => {
    expect(await pop(10)).toMatchObject({ run: undefined, newest: 0n, lock: { token: expect.any(String) as string } });
    expect((await pop(10)).lock).toBeUndefined();
    await bench.admin(server).flushall();
    expect(await push(1n, 100n, await lock())).toBe(true);
    expect(await pop(79)).toMatchObject({ run: { first: 1n, last: 79n }, lock: undefined, newest: 100n });
    const low = await pop(1);
    expect(low).toMatchObject({ run: { first: 80n, last: 80n } });
    expect((await pop(1)).lock).toBeUndefined();
    expect(await push(101n, 200n, low.lock!)).toBe(true);
    expect(await pop(100)).toMatchObject({ run: { first: 82n, last: 100n }, newest: 200n });
    expect(await pop(100)).toMatchObject({ run: { first: 101n, last: 200n } });
  });

  it('has no key that lives for ever', async () => {
    await push(1n, 100n, await lock());
    await pop(90);
    const admin = bench.admin(server);
    const keys = await admin.keys('*');
    expect(keys.map((key) => key.replace(/\.\w{40}\.\w{40}$/, '')).sort()).toEqual([
      'id.gen.idList_{1_2@test}',
      'id.gen.lock_{1_2@test}',
    ]);
    for (const key of keys) expect(await admin.pttl(key)).toBeGreaterThan(0);
  });

  describe('that is sent twice', () => {
    async function sentTwice(between: () => Promise<unknown>): Promise<void> {
      const right = await lock();
      await push(1n, 100n, right);
      await pop(100);
      await between();
      await push(1n, 100n, right);
      await pop(100);
    }

    it('is there once, also when everything was flushed in between', async () => {
      await sentTwice(() => Promise.resolve());
      await bench.admin(server).flushall();
      await sentTwice(() => bench.admin(server).flushall());
      expect(popped.count).toBe(200);
    });

    it('would be there twice after a flush, without the check of the token', async () => {
      weakenScripts(TOKEN_CHECK, '');
      await sentTwice(() => bench.admin(server).flushall());
      expect(popped.repeated).toBe(100);
    });

    it('would be there twice without the token and the forward guard', async () => {
      weakenScripts(TOKEN_CHECK, '');
      weakenScripts(FORWARD_GUARD, '');
      await sentTwice(() => Promise.resolve());
      expect(popped.repeated).toBe(100);
    });
  });

  describe('that a database reserved twice, having lost a commit,', () => {
    async function reservedTwice(): Promise<void> {
      await push(1n, 100n, await lock());
      const { lock: right } = await pop(100);
      await push(1n, 100n, right!);
      await pop(100);
    }

    it('is refused the second time', async () => {
      await reservedTwice();
      expect(popped.repeated).toBe(0);
    });

    it('would be served twice without the forward guard', async () => {
      weakenScripts(FORWARD_GUARD, '');
      await reservedTwice();
      expect(popped.repeated).toBe(100);
    });
  });

  it('is refused from a process that slept longer than its lock', async () => {
    const slept = await lock({ lockMs: 50 });
    const other = await until('the lock to be free', async () => (await pop(10)).lock);
    expect(await push(1n, 100n, slept)).toBe(false);
    expect(await push(101n, 200n, other)).toBe(true);
    expect(await pop(10)).toMatchObject({ run: { first: 101n } });
  });

  it('is refused when its lock was released, or taken under another term', async () => {
    const released = await lock();
    await ranges.release(released);
    expect(await push(1n, 100n, released)).toBe(false);
    const right = await lock();
    expect(await push(1n, 100n, { ...right, term: `${'0'.repeat(40)}.${'0'.repeat(40)}` })).toBe(false);
    expect(await push(1n, 100n, right)).toBe(true);
  });

  describe('takes the end of a run back', () => {
    const unused = { first: 61n, last: 70n };

    async function run(): Promise<NonNullable<PoppedRun['run']>> {
      await push(1n, 100n, await lock());
      return (await pop(70)).run!;
    }

    it('when nothing else has happened to it', async () => {
      const { proof } = await run();
      expect(await ranges.giveBack(proof, unused)).toBe(true);
      expect((await pop(5)).run).toMatchObject({ first: 61n, last: 65n });
    });

    it('but not after another pop, nor after a flush', async () => {
      const { proof } = await run();
      await pop(1);
      expect(await ranges.giveBack(proof, unused)).toBe(false);
      await bench.admin(server).flushall();
      expect(await ranges.giveBack(proof, unused)).toBe(false);
    });

    async function returnedTwice(): Promise<number> {
      const { proof } = await run();
      await ranges.giveBack(proof, unused);
      const handedOut = new PoppedNumbers();
      for (let i = 0; i < 3; i++) {
        handedOut.add((await pop(10)).run!);
        await ranges.giveBack(proof, unused);
      }
      return handedOut.repeated;
    }

    it('and not a second time', async () => {
      expect(await returnedTwice()).toBe(0);
    });

    it('and would a second time, without the version', async () => {
      weakenScripts(VERSION_CHECK, '');
      expect(await returnedTwice()).toBeGreaterThan(0);
    });
  });
});

const TERM = "local term = run .. '.' .. replid";

describe('A range that comes back', () => {
  let server: PrivateServer;
  let second: PrivateServer;
  let bench: RedisBench;

  beforeAll(async () => {
    [server, second] = await Promise.all([startVolatileRedis(), startVolatileRedis()]);
  });

  afterAll(() => Promise.all([server.stop(), second.stop()]));

  beforeEach(async () => {
    bench = new RedisBench();
    for (const each of [server, second]) {
      await bench.admin(each).replicaof('NO', 'ONE');
      await bench.admin(each).flushall();
    }
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await bench.close();
  });

  /** The server is killed some time after it wrote a snapshot, and starts with that. */
  async function oldSnapshot(): Promise<void> {
    const poppers = bench.poppers(3, server);
    await Promise.all(poppers.map((popper) => popper.pop(3)));
    await saved(server);
    await Promise.all(poppers.map((popper) => popper.pop(3)));
    await server.kill();
    await server.restart();
    for (const each of [bench.poppers(3, server), poppers]) await Promise.all(each.map((popper) => popper.pop(10)));
  }

  /** The replica becomes a primary while the old one goes on. */
  async function splitBrain(): Promise<void> {
    const poppers = bench.poppers(3, server);
    await Promise.all(poppers.map((popper) => popper.pop(3)));
    await follow(second, server);
    await bench.admin(second).replicaof('NO', 'ONE');
    const all = [...poppers, ...bench.poppers(3, second)];
    await Promise.all(all.map((popper) => popper.pop(30)));
  }

  /** A primary is demoted, gets the other's older copy of its own range, and is promoted again: one process all along. */
  async function thereAndBack(): Promise<void> {
    await bench.popper(server).pop(3);
    await follow(second, server);
    await bench.admin(second).replicaof('NO', 'ONE');
    await bench.popper(server).pop(3);
    await follow(server, second);
    await bench.admin(server).replicaof('NO', 'ONE');
    await bench.popper(server).pop(10);
  }

  /** A replica may be getting its copy just now, and two snapshots at a time are refused. */
  async function saved(primary: PrivateServer): Promise<void> {
    const admin = bench.admin(primary);
    await until('the copy', async () => !(await admin.info('persistence')).includes('rdb_bgsave_in_progress:1'));
    await admin.save();
  }

  async function follow(replica: PrivateServer, primary: PrivateServer): Promise<void> {
    const admin = bench.admin(replica);
    await admin.replicaof('127.0.0.1', primary.port);
    await until('the link', async () => (await admin.info('replication')).includes('master_link_status:up'));
  }

  const ways = [
    ['with an old snapshot', oldSnapshot],
    ['on a promoted replica, while the old primary still answers', splitBrain],
    ['on a server that was demoted and promoted again', thereAndBack],
  ] as const;

  it.each(ways)('%s is never served', async (_, comeBack) => {
    await comeBack();
    expect(bench.popped.repeated).toBe(0);
  });

  it.each(ways)('%s would be, without the term in its key', async (_, comeBack) => {
    weakenScripts(TERM, "local term = 'always'");
    await comeBack();
    expect(bench.popped.repeated).toBeGreaterThan(0);
  });

  it('on a server that was demoted and promoted again would be, if the term were the run_id alone', async () => {
    weakenScripts(TERM, 'local term = run');
    await thereAndBack();
    expect(bench.popped.repeated).toBeGreaterThan(0);
  });

  it('is not taken from a replica, which answers as a Redis that is down', async () => {
    await follow(second, server);
    const refused = bench.popper(second, { onRedisDown: 'throw' }).pop();
    await expect(refused).rejects.toMatchObject({ errorCode: 'REDIS_UNAVAILABLE', retryable: true });
  });
});

/** More than all poppers have under way. */
const ENOUGH = 1_000;

/** Long enough for the server and for this process on a busy machine. */
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

  it('was out of reach are passed over by a process that has gone on in the database', async () => {
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
