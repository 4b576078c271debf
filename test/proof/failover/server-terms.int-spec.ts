import { type Layout, type WorkerTable, type WorkerWrite, LayoutConflictError } from '@raindrop/core';
import { judgeLayouts, grantReachMs, resolveLeaseOptions } from '@raindrop/core/internal';
import { resolveLayout } from '../../../libs/core/src/layout/layout-options.js';
import { caught } from '../../support/engine/caught.js';
import { ReplicaError } from '../../../libs/node/src/database/server-term.js';
import type { SqlWorkerStore } from '../../../libs/node/src/worker-table/sql-worker-store.js';
import { openStore, takeRow } from '../../support/stores/open-store.js';
import { MariadbPair } from '../../support/servers/mariadb-pair.js';
import { PostgresPair } from '../../support/servers/postgres-pair.js';
import type { PrivateServer } from '../../support/servers/private-server.js';
import { PAIR_DATABASE, type ServerPair } from '../../support/servers/server-pair.js';
import { until } from '../../support/until.js';

jest.setTimeout(120_000);

const REACH_MS = grantReachMs(resolveLeaseOptions({}));
const WORKERS = { min: 1, max: 3 };

const guardOf = (store: SqlWorkerStore): { believed: object } =>
  (store as unknown as { server: { guard: { believed: object } } }).server.guard;

const EPOCH_MS = Date.parse('2024-01-01');

const layoutOf = (startTimeStamp: number): Layout =>
  resolveLayout({ timeUnit: 'second', timeStampLength: 33, workIdLength: 3, startTimeStamp }, Date.now()).layout;

/** Who may do what a service does, and nothing else. */
const ENGINES = [
  {
    engine: 'PostgreSQL',
    start: (): Promise<ServerPair> => PostgresPair.start(),
    account: { type: 'postgres', username: 'plain', password: 'x', database: 'postgres' },
    grants: [`CREATE ROLE plain LOGIN PASSWORD 'x'`, 'GRANT CREATE, USAGE ON SCHEMA public TO plain'],
  },
  {
    engine: 'MariaDB',
    start: (): Promise<ServerPair> => MariadbPair.start(),
    account: { type: 'mariadb', username: 'plain', password: 'x', database: PAIR_DATABASE },
    grants: [
      `CREATE USER plain@'127.0.0.1' IDENTIFIED BY 'x'`,
      `GRANT SELECT, INSERT, UPDATE, CREATE, INDEX ON ${PAIR_DATABASE}.* TO plain@'127.0.0.1'`,
    ],
  },
] as const;

describe.each(ENGINES)('A worker table on $engine', ({ start, account, grants }) => {
  let pair: ServerPair;
  const stores: SqlWorkerStore[] = [];

  const open = ({ port }: PrivateServer): SqlWorkerStore => {
    const store = openStore({ ...account, host: '127.0.0.1', port }, { reachMs: REACH_MS });
    stores.push(store);
    return store;
  };

  const prepared = async (server: PrivateServer): Promise<SqlWorkerStore> => {
    const store = open(server);
    await store.prepare(WORKERS);
    await store.readTable();
    return store;
  };

  beforeEach(async () => {
    pair = await start();
    for (const sql of grants) await pair.query(pair.primary, sql);
  });

  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
    await pair.stop();
  });

  it('bars every row from the first answer of a promoted server on, for an account without privileges', async () => {
    const holder = await prepared(pair.primary);
    expect(await takeRow(holder, 1)).toBe(true);
    await holder.rememberLayout(layoutOf(EPOCH_MS - 600_000).fingerprint);
    await pair.addStandby();
    const { standby } = pair;
    const newcomer = open(standby);
    // Rows are there, and a look that comes too early is refused.
    await expect(newcomer.prepare(WORKERS)).resolves.toBeUndefined();
    await expect(newcomer.readTable()).rejects.toBeInstanceOf(ReplicaError);

    const promotion = pair.promote();
    let first: WorkerTable | undefined;
    await until('the promoted server to answer', async () => {
      first = await newcomer.readTable().catch(() => undefined);
      return first !== undefined;
    });
    const { nowMs, barredUntilMs } = first!;
    expect(barredUntilMs! - nowMs).toBeGreaterThan(REACH_MS - 5_000);
    // The other layout may have issued up to then on rows that were lost: ten minutes later our IDs are past that.
    const { clearsAtMs } = caught(LayoutConflictError, () => judgeLayouts(first!, layoutOf(EPOCH_MS), 0));
    expect(clearsAtMs).toBe(1_000 * (Math.floor(barredUntilMs! / 1_000) + 1) + 600_000);
    await promotion;

    // For every later process the same moment counts, and the holders of rows renew them.
    const later = await prepared(pair.primary);
    expect((await later.readTable()).barredUntilMs).toBe(barredUntilMs);
    expect(await takeRow(later, 1)).toBe(true);
  });

  it('bars nothing after a plain restart', async () => {
    await prepared(pair.primary);
    await pair.primary.kill('SIGKILL');
    await pair.primary.restart();
    expect((await (await prepared(pair.primary)).readTable()).barredUntilMs).toBeUndefined();
  });

  it('writes no row on another server than the one on which it was read', async () => {
    const before = await prepared(pair.primary);
    await pair.addStandby();
    const { row } = await before.readRow(1);
    await pair.killPrimary();
    await pair.promote();
    const after = await prepared(pair.primary);
    const write: WorkerWrite = {
      id: 1,
      expected: { version: row!.version, token: row!.token },
      token: 'a1',
      odometers: row!.odometers,
      holder: 'test',
      layout: '',
      lane: 0,
      code: 'test',
      timeUnit: 1,
      leaseMs: 60_000,
    };
    // What the first store has read is of the server before.
    guardOf(after).believed = guardOf(before).believed;
    expect(await after.write(write)).toBe(false);
    await after.readRow(1);
    expect(await after.write(write)).toBe(true);
  });

  it('bars all starts for longer when a process with longer leases comes', async () => {
    await prepared(pair.primary);
    await pair.addStandby();
    await pair.killPrimary();
    await pair.promote();
    const short = await prepared(pair.primary);
    const { barredUntilMs } = await short.readTable();
    const long = openStore({ ...account, host: '127.0.0.1', port: pair.primary.port }, { reachMs: 10 * REACH_MS });
    stores.push(long);
    await long.prepare(WORKERS);
    await long.readTable();
    expect((await short.readTable()).barredUntilMs).toBe(barredUntilMs! + 9 * REACH_MS);
  });
});
