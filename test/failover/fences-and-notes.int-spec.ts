import { DataSource } from 'typeorm';
import { openSegmentStore } from '../contract/open-segment-store.js';
import { openStore, takeRow } from '../contract/open-store.js';
import type { SqlWorkerStore, SqlWorkerStoreOptions } from '../../libs/node/src/worker-table/sql-worker-store.js';
import type { SqlSegmentStore } from '../../libs/node/src/segment-table/sql-segment-store.js';
import { writeTo } from '../contract/worker-store.contract.js';
import { MariadbPair } from '../servers/mariadb-pair.js';
import { PostgresPair } from '../servers/postgres-pair.js';
import { PAIR_ACCOUNTS, type ServerPair } from '../servers/server-pair.js';
import { testDatabase, type TestDatabase } from '../servers/test-databases.js';
import { until } from '../waiting/until.js';
import { TcpSwitch } from './tcp-switch.js';

jest.setTimeout(120_000);

const REACH_MS = 60_000;
const DAY_MS = 86_400_000;
const WORKERS = { min: 1, max: 3 };

interface Database {
  run(sql: string, values?: readonly unknown[]): Promise<unknown>;
  connection: { isUsable: boolean } | undefined;
}

const databaseOf = (store: SqlWorkerStore): Database => (store as unknown as { database: Database }).database;

describe.each(['mariadb', 'postgres'] as const)('One %s', (kind) => {
  let database: TestDatabase;
  let admin: DataSource;
  const open: { close(): Promise<void> }[] = [];

  const looked = async (options: Partial<SqlWorkerStoreOptions> = {}, workers = WORKERS): Promise<SqlWorkerStore> => {
    const opened = openStore(database.options, { reachMs: REACH_MS, ...options });
    open.push(opened);
    await opened.prepare(workers);
    await opened.readTable();
    return opened;
  };

  const segments = async (): Promise<SqlSegmentStore> => {
    const opened = openSegmentStore(database.options, { skipAfterFailover: 1_000 });
    open.push(opened);
    await opened.prepare();
    return opened;
  };

  beforeEach(async () => {
    database = await testDatabase(kind);
    admin = await new DataSource(database.options).initialize();
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await Promise.all(open.splice(0).map((each) => each.close()));
    await admin.destroy();
    await database.drop();
  });

  it.each([false, true])(
    'serves the processes that run, where its state is dropped and noted by a fresh one (a fence before: %s)',
    async (isFenced) => {
      const living = await looked();
      if (isFenced) await living.fence(100);
      await living.readTable();
      await admin.query('DELETE FROM soc_raindrop_worker_state');
      await looked();
      await expect(living.readTable()).resolves.toBeDefined();
    },
  );

  it('gives numbers to the processes that run, where the tables of numbers are emptied after a failover', async () => {
    const living = await segments();
    const source = living.source('order');
    await source.reserve({ count: 100, above: 0n });
    await admin.query(`UPDATE raindrop_segment_state SET term = 'the server before'`);
    await source.reserve({ count: 1, above: 0n });
    await living.source('other').reserve({ count: 1, above: 0n });
    await admin.query('DELETE FROM raindrop_segment_state');
    await admin.query('DELETE FROM raindrop_segment');
    await (await segments()).source('third').reserve({ count: 1, above: 0n });
    await expect(living.source('fourth').reserve({ count: 1, above: 0n })).resolves.toBeDefined();
  });

  it('is noted once by ten processes at the same moment', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => looked()));
    await admin.query(`UPDATE soc_raindrop_worker_state SET term = 'the server before'`);
    const tables = await Promise.all(all.map((each) => each.readTable()));
    expect(new Set(tables.map(({ barredUntilMs }) => barredUntilMs)).size).toBe(1);
    const rows = await Promise.all(all.map((each) => each.readRow(1)));
    const taken = await Promise.all(all.map((each, index) => each.write(writeTo(rows[index]!.row!))));
    expect(taken.filter(Boolean)).toHaveLength(1);
  });

  it('is noted by ten processes that reserve numbers at the same moment, and fails none of them', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => segments()));
    const sources = all.map((each, index) => each.source(`code ${index % 3}`));
    await Promise.all(sources.map((each) => each.reserve({ count: 1, above: 0n })));
    const failures = new Set<unknown>();
    for (let times = 0; times < 30; times++) {
      const fresh = all.map((each, index) => each.source(`code ${index % 3}`));
      const reserving = [...sources, ...fresh].map((each) => each.reserve({ count: 1, above: 0n }));
      await admin.query(`UPDATE raindrop_segment_state SET term = 'the server before', epoch = epoch`);
      for (const each of await Promise.allSettled(reserving)) {
        if (each.status === 'rejected') failures.add((each.reason as { cause: unknown }).cause);
      }
    }
    expect([...failures]).toEqual([]);
  });
});

const ENGINES = [
  { engine: 'MariaDB', start: (): Promise<ServerPair> => MariadbPair.start(), account: PAIR_ACCOUNTS.mariadb },
  { engine: 'PostgreSQL', start: (): Promise<ServerPair> => PostgresPair.start(), account: PAIR_ACCOUNTS.postgres },
] as const;

describe.each(ENGINES)('A pair of $engine', ({ start, account }) => {
  let pair: ServerPair;
  let way: TcpSwitch;
  const open: { close(): Promise<void> }[] = [];

  const opened = (port: number): SqlWorkerStore => {
    const store = openStore({ ...account, host: '127.0.0.1', port }, { reachMs: REACH_MS });
    open.push(store);
    return store;
  };

  const looked = async (port: number): Promise<SqlWorkerStore> => {
    const store = opened(port);
    await store.prepare(WORKERS);
    await store.readTable();
    return store;
  };

  const lead = async (store: SqlWorkerStore, port: number): Promise<void> => {
    way.pointTo(port);
    await store.readTable().catch(() => undefined);
  };

  beforeEach(async () => {
    pair = await start();
    way = await TcpSwitch.atFreePort();
    way.pointTo(pair.primary.port);
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await Promise.all(open.splice(0).map((each) => each.close()));
    await Promise.all([pair.stop(), way.stop()]);
  });

  it.each([false, true])(
    'whose primary is fenced while the way to it moves to the old one: that stays refused (lost the connection: %s)',
    async (isLost) => {
      const process = await looked(way.port);
      // It took over itself, a year ago.
      const first = pair.primary;
      const schema = pair.kind === 'mariadb' ? 'raindrop.' : '';
      await pair.query(
        first,
        `UPDATE ${schema}soc_raindrop_worker_state SET lost_at_ms = ${Date.now() - 365 * DAY_MS}`,
      );
      await pair.addStandby();
      way.pointNewOnesTo(0);
      await pair.divide();
      const successor = await looked(pair.primary.port);
      await lead(process, pair.primary.port);
      await process.readTable();
      // What was granted at the successor.
      expect(await takeRow(successor, 1)).toBe(true);
      const operator = opened(way.port);
      const database = databaseOf(operator);
      const run = database.run.bind(database);
      jest.spyOn(database, 'run').mockImplementationOnce(async (...statement) => {
        const result = await run(...statement);
        if (isLost) {
          way.pointTo(first.port);
          await until('the connection to be lost', () => database.connection?.isUsable !== true);
        }
        return result;
      });
      await operator.fence(95_000).catch(() => undefined);
      await lead(process, first.port);
      const former = { errorCode: 'FORMER_PRIMARY' };
      await expect(process.readTable()).rejects.toMatchObject(former);
      await lead(process, pair.primary.port);
      await expect(process.readTable()).resolves.toBeDefined();
    },
  );

  /** As docs/operations.md says. */
  it('gives numbers again on the old primary, once that is alone and was fenced', async () => {
    const options = { ...account, host: '127.0.0.1', port: way.port };
    const segments = openSegmentStore(options, { skipAfterFailover: 100_000 });
    open.push(segments);
    await segments.prepare();
    const process = await looked(way.port);
    const numbers = segments.source('order');
    await numbers.reserve({ count: 100, above: 0n });
    await pair.addStandby();
    const { port: old } = pair.primary;
    const schema = pair.kind === 'mariadb' ? 'raindrop.' : '';
    const first = pair.primary;
    way.pointNewOnesTo(0);
    await pair.divide();
    way.pointTo(pair.primary.port);
    await Promise.allSettled([process.readTable(), numbers.reserve({ above: 0n })]);
    await process.readTable();
    const { last } = await numbers.reserve({ count: 100, above: 0n });
    await pair.primary.kill();
    way.pointTo(old);
    await Promise.allSettled([process.readTable(), numbers.reserve({ above: 0n })]);
    await opened(old).fence(1_000);
    await pair.query(first, `UPDATE ${schema}raindrop_segment_state SET epoch = epoch + 1000`);
    await expect(process.readTable()).resolves.toBeDefined();
    expect((await numbers.reserve({ count: 1, above: 0n })).first).toBeGreaterThan(last);
  });
});
