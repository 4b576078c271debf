import { RedisBench } from '../../../../test/support/redis/redis-bench.js';
import { startVolatileRedis } from '../../../../test/support/redis/volatile-redis.js';
import { weakenScripts } from '../../../../test/support/redis/weakened-scripts.js';
import type { PrivateServer } from '../../../../test/support/servers/private-server.js';
import { until } from '../../../../test/support/until.js';

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
