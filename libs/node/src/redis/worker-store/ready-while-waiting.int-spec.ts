import { startVolatileRedis } from '../../../../../test/support/redis/volatile-redis.js';
import { KEY, WorkerBench } from '../../../../../test/support/redis/worker-bench.js';
import type { PrivateServer } from '../../../../../test/support/servers/private-server.js';
import { takeRow } from '../../../../../test/support/stores/open-store.js';

describe('A Redis from which no ID was ever issued', () => {
  let server: PrivateServer;
  let bench: WorkerBench;

  beforeEach(async () => {
    server = await startVolatileRedis();
    bench = new WorkerBench();
  });

  afterEach(async () => {
    await bench.close();
    await server.stop();
  });

  // The first process waits; the operator deletes the key, and calls initRedisWorkers() to skip the wait.
  it('is made ready by hand while the first process waits', async () => {
    const store = bench.store(server);
    try {
      await store.prepare({ min: 1, max: 2 });
      await store.readTable();
      await bench.admin(server).del(KEY);
      await bench.init(server);
      await store.readTable();
      expect(await bench.admin(server).hget(KEY, 'lostAt')).toBe('0');
      expect(await takeRow(store, 1)).toBe(true);
    } finally {
      await store.close();
    }
  });
});
