import { grantReachMs, resolveLeaseOptions } from '@raindrop/core/internal';
import type { SqlWorkerStore } from '../../../libs/node/src/worker-table/sql-worker-store.js';
import { openStore, takeRow } from '../../support/stores/open-store.js';
import { GaleraCluster } from '../../support/servers/galera-cluster.js';
import { PAIR_ACCOUNTS, PAIR_DATABASE } from '../../support/servers/server-pair.js';

jest.setTimeout(300_000);

const REACH_MS = grantReachMs(resolveLeaseOptions({}));

describe('A worker table on a Galera cluster', () => {
  let cluster: GaleraCluster;
  const stores: SqlWorkerStore[] = [];

  const prepared = async (node: number): Promise<SqlWorkerStore> => {
    const { port } = cluster.nodes[node]!;
    const account = PAIR_ACCOUNTS.mariadb;
    const store = openStore({ ...account, host: '127.0.0.1', port }, { reachMs: REACH_MS });
    stores.push(store);
    await store.prepare({ min: 1, max: 3 });
    await store.readTable();
    return store;
  };

  const barredUntil = async (store: SqlWorkerStore): Promise<number | undefined> =>
    (await store.readTable()).barredUntilMs;

  const state = async (column: string): Promise<unknown> => {
    const [row] = await cluster.query(
      cluster.nodes[0]!.port,
      `SELECT ${column} AS answer FROM ${PAIR_DATABASE}.soc_raindrop_worker_state`,
    );
    return row!['answer'];
  };

  beforeAll(async () => {
    cluster = await GaleraCluster.start(3);
  });

  // Undefined when it did not start.
  afterAll(() => cluster?.stop());

  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
  });

  it('bars nothing after a hop to another node, which writes the same rows', async () => {
    const holder = await prepared(0);
    expect(await takeRow(holder, 1)).toBe(true);
    expect(await state('term')).toMatch(/^cluster [0-9a-f-]{36}$/);
    for (const node of [1, 2, 0]) {
      const store = await prepared(node);
      expect(await barredUntil(store)).toBeUndefined();
      expect(await takeRow(store, 1)).toBe(true);
    }
    expect(await state('lost_at_ms')).toBe(0);
  });

  it('bars nothing after a node was restarted, or killed and copied anew', async () => {
    await prepared(1);
    const [, second, third] = cluster.nodes;
    await cluster.restart(second!);
    expect(await barredUntil(await prepared(1))).toBeUndefined();
    await third!.kill('SIGKILL');
    expect(await barredUntil(await prepared(0))).toBeUndefined();
    await cluster.restart(third!);
    expect(await barredUntil(await prepared(2))).toBeUndefined();
  });

  it('bars every row when it was last seen in another cluster: the control', async () => {
    const store = await prepared(0);
    await cluster.query(
      cluster.nodes[1]!.port,
      `UPDATE ${PAIR_DATABASE}.soc_raindrop_worker_state SET term = 'cluster of others'`,
    );
    expect(await barredUntil(store)).toBeGreaterThan(0);
  });
});
