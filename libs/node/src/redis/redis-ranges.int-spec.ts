import { PoppedNumbers } from '../../../../test/support/redis/popped-numbers.js';
import { weakenScripts } from '../../../../test/support/redis/weakened-scripts.js';
import { onEmptyRedis } from '../../../../test/support/redis/empty-redis.js';
import { RedisBench } from '../../../../test/support/redis/redis-bench.js';
import type { PrivateServer } from '../../../../test/support/servers/private-server.js';
import { until } from '../../../../test/support/until.js';
import { systemPorts } from '../system/system-ports.js';
import { RedisConnection } from './redis-connection.js';
import { RedisKeys } from './redis-keys.js';
import { RedisRanges, type PoppedRun, type RefillLock } from './redis-segment-source.js';

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

  it('is handed out in runs, and the lock to whoever finds less than the idle part left', async () => {
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
