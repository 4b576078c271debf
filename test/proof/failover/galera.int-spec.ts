import { once } from 'node:events';
import { openIdService } from '../../../libs/node/src/service/open-id-service.js';
import type { DatabaseSettings } from '../../../libs/node/src/drivers/database-settings.js';
import type { OwnDatabase } from '../../../libs/node/src/database/own-database.js';
import type { SqlWorkerStore } from '../../../libs/node/src/worker-table/sql-worker-store.js';
import { openSegmentStore } from '../../support/stores/open-segment-store.js';
import { openStore, takeRow } from '../../support/stores/open-store.js';
import { repeated } from '../../support/processes/repeated.js';
import { OPTIONS } from '../../support/module/module-fixture.js';
import { GaleraCluster } from '../../support/servers/galera-cluster.js';
import { PAIR_ACCOUNTS } from '../../support/servers/server-pair.js';
import type { PrivateServer } from '../../support/servers/private-server.js';
import { serverAddress } from '../../support/servers/server-address.js';
import { withMysqlSession } from '../../support/servers/sql-session.js';
import { until } from '../../support/until.js';

jest.setTimeout(120_000);

const LEASE = { heartbeatIntervalMs: 1_000, opTimeoutMs: 2_000, leaseMs: 30_000 };

const QUERY_MS = 10_000;

describe('A Galera cluster', () => {
  let cluster: GaleraCluster;
  let nodes: [PrivateServer, PrivateServer, PrivateServer];
  const stores: { close(): Promise<void> }[] = [];

  const at = ({ port }: PrivateServer): DatabaseSettings & { type: 'mariadb' } => ({
    host: '127.0.0.1',
    port,
    ...PAIR_ACCOUNTS.mariadb,
  });

  const opened = <Store extends { close(): Promise<void> }>(store: Store): Store => {
    stores.push(store);
    return store;
  };

  /** The second node shows nothing new until that is over. */
  const whileItLags = (work: (goOn: () => Promise<unknown>) => Promise<void>): Promise<void> =>
    withMysqlSession(serverAddress(nodes[1].url, nodes[1].port), QUERY_MS, async (run) => {
      await run('FLUSH TABLES WITH READ LOCK');
      await work(() => run('UNLOCK TABLES'));
      await run('UNLOCK TABLES');
    });

  beforeAll(async () => {
    cluster = await GaleraCluster.start(3);
    nodes = cluster.nodes as typeof nodes;
    await until('the database on the second node', async () => {
      await opened(openStore(at(nodes[1]))).prepare({ min: 1, max: 2 });
      return true;
    });
  });

  afterEach(() => Promise.all(stores.splice(0).map((store) => store.close())));

  afterAll(() => cluster?.stop());

  it('is read as all nodes have it, from one that lags', async () => {
    const [writer, reader] = nodes.map((node) => opened(openStore(at(node)))) as [SqlWorkerStore, SqlWorkerStore];
    const careless = opened(openStore(at(nodes[1])));
    const own = (careless as unknown as { database: OwnDatabase }).database;
    const { freshReads, sessionAtOnce, ...stale } = own.dialect;
    for (const sql of [freshReads, sessionAtOnce?.all]) expect(sql).toContain('wsrep_sync_wait');
    own.dialect = stale;
    expect(await takeRow(writer, 1, 'before')).toBe(true);
    await reader.readRow(1);
    await until('the second node to have it', async () => (await careless.readRow(1)).row?.token === 'before');

    await whileItLags(async (goOn) => {
      expect(await takeRow(writer, 1, 'after')).toBe(true);
      let answer: string | undefined;
      const reading = reader.readRow(1).then(({ row }) => (answer = row!.token));
      // The control.
      expect((await careless.readRow(1)).row!.token).toBe('before');
      expect(answer).toBeUndefined();
      await goOn();
      expect(await reading).toBe('after');
    });
  });

  it('grants nothing to who has read what is not so any more', async () => {
    const [writer, late] = nodes.map((node) => opened(openStore(at(node)))) as [SqlWorkerStore, SqlWorkerStore];
    expect(await takeRow(writer, 2, 'one')).toBe(true);
    const { row } = await late.readRow(2);
    const taking = async (): Promise<boolean> =>
      late.write({
        id: 2,
        expected: { version: row!.version, token: row!.token },
        token: 'late',
        odometers: row!.odometers,
        holder: 'test',
        layout: '',
        lane: 0,
        code: 'test',
        timeUnit: 1,
        leaseMs: 60_000,
      });
    await whileItLags(async (goOn) => {
      expect(await takeRow(writer, 2, 'two')).toBe(true);
      const taken = taking().catch(() => false);
      await goOn();
      expect(await taken).toBe(false);
    });
    expect((await late.readRow(2)).row!.token).toBe('two');
  });

  it('reserves no number twice, whichever node is asked', async () => {
    const sources = nodes.map((node) => opened(openSegmentStore(at(node), { defaultStep: 10 })));
    for (const each of sources) await each.prepare();
    const firsts: bigint[] = [];
    const reserveAll = async (source: ReturnType<(typeof sources)[number]['source']>): Promise<void> => {
      for (let count = 0; count < 100;) {
        const segment = await source.reserve({ above: 0n }).catch(() => undefined);
        if (segment === undefined) continue;
        firsts.push(segment.first);
        count++;
      }
    };
    await Promise.all(sources.map((store) => reserveAll(store.source('order'))));
    expect([firsts.length, repeated(firsts)]).toEqual([300, 0]);
  });

  it('is one database at several addresses: a holder goes on at the next node, as if nothing had happened', async () => {
    const options = { ...OPTIONS, ...LEASE, serviceMaxWorkId: 4, dbConfig: nodes.map(at) };
    const ids = opened(await openIdService(options));
    const { workerId } = ids;
    const issued = ids.nextIds(1_000);
    const told: string[] = [];
    for (const event of ['lease-lost', 'database-regression'] as const) ids.events.on(event, () => told.push(event));
    await once(ids.events, 'lease-renewed');
    await nodes[0].kill();
    await once(ids.events, 'lease-trouble');
    await once(ids.events, 'lease-renewed');
    issued.push(...ids.nextIds(1_000));
    expect([repeated(issued), ids.workerId, told]).toEqual([0, workerId, []]);
    // Nothing is barred: every start gets a row at once.
    const next = opened(await openIdService(options));
    expect(next.workerId).not.toBe(workerId);
  });
});
