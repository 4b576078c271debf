import { RedisWorkerStore } from '../../../libs/node/src/redis/worker-store/redis-worker-store.js';
import { systemPorts } from '../../../libs/node/src/system/system-ports.js';
import { takeRow } from '../stores/open-store.js';

/** A script that uses a store and forgets to close it. */
async function main(): Promise<void> {
  const store = new RedisWorkerStore({
    connection: process.env['RAINDROP_TEST_REDIS']!,
    key: 'raindrop.worker',
    reachMs: 1_000,
    opTimeoutMs: 600_000,
    timers: systemPorts('exact').timers,
  });
  await store.prepare({ min: 1, max: 2 });
  const written = await takeRow(store, 1);
  // Idle first, and then busy once more: the second call must keep the process alive although the socket was let go.
  setTimeout(() => {
    void store.readTable().then((table) => console.log(`written ${written}, rows ${table.rows.length}`));
  }, 50);
}

void main();
