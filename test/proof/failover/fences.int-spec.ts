import { openSegmentStore } from '../../support/stores/open-segment-store.js';
import { openStore, takeRow } from '../../support/stores/open-store.js';
import type { SqlWorkerStore } from '../../../libs/node/src/worker-table/sql-worker-store.js';
import { MariadbPair } from '../../support/servers/mariadb-pair.js';
import { PostgresPair } from '../../support/servers/postgres-pair.js';
import { PAIR_ACCOUNTS, type ServerPair } from '../../support/servers/server-pair.js';
import { until } from '../../support/until.js';
import { TcpSwitch } from '../../support/proxies/tcp-switch.js';
import { fenceRequest } from '../../support/stores/fence-request.js';

jest.setTimeout(120_000);

const REACH_MS = 60_000;
const DAY_MS = 86_400_000;
const WORKERS = { min: 1, max: 3 };

interface Database {
  run(sql: string, values?: readonly unknown[]): Promise<unknown>;
  connection: { isUsable: boolean } | undefined;
}

const databaseOf = (store: SqlWorkerStore): Database => (store as unknown as { database: Database }).database;

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
      await operator.fence(fenceRequest(95_000)).catch(() => undefined);
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
    await opened(old).fence(fenceRequest(1_000));
    await pair.query(first, `UPDATE ${schema}raindrop_segment_state SET epoch = epoch + 1000`);
    await expect(process.readTable()).resolves.toBeDefined();
    expect((await numbers.reserve({ count: 1, above: 0n })).first).toBeGreaterThan(last);
  });
});
