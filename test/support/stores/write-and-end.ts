import { SqlWorkerStore } from '../../../libs/node/src/worker-table/sql-worker-store.js';
import { sqlDatabase } from './sql-database.js';

/** A script that uses a store and forgets to close it. */
async function main(): Promise<void> {
  const dataSource = JSON.parse(process.env['RAINDROP_TEST_DATABASE']!) as object;
  const store = new SqlWorkerStore(sqlDatabase(dataSource), {
    tableName: 'soc_raindrop_worker',
    autoCreateTable: true,
    opTimeoutMs: 600_000,
  });
  await store.prepare({ min: 1, max: 2 });
  const { rows } = await store.readTable();
  const { id, version, token, odometers } = rows[0]!;
  const written = await store.write({
    id,
    expected: { version, token },
    token: 'a1',
    odometers,
    leaseMs: 60_000,
    holder: 'script',
    layout: '',
    lane: 0,
    code: 'script',
    timeUnit: 1,
  });
  // Idle first, and then busy once more: the second call must keep the process alive although the socket was let go.
  setTimeout(() => {
    void store.readTable().then((table) => console.log(`written ${written}, rows ${table.rows.length}`));
  }, 50);
}

void main();
