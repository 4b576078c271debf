import { once } from 'node:events';
import type { LeaseOptions } from '@raindrop/core';
import { AddressedConnection, withAddresses } from '../../../libs/node/src/database/addressed-connection.js';
import { openIdService } from '../../../libs/node/src/service/open-id-service.js';
import type { SnowflakeModuleOptions } from '../../../libs/node/src/options/service-options.js';
import type { IdService } from '../../../libs/node/src/service/id-service.js';
import type { DatabaseSettings } from '../../../libs/node/src/drivers/database-settings.js';
import { SqlWorkerStore } from '../../../libs/node/src/worker-table/sql-worker-store.js';
import { FlakyProxy } from '../../support/proxies/flaky-proxy.js';
import { repeated } from '../../support/processes/repeated.js';
import { OPTIONS } from '../../support/module/module-fixture.js';
import { sqlDatabase } from '../../support/stores/sql-database.js';
import { MariadbPair } from '../../support/servers/mariadb-pair.js';
import { PostgresPair } from '../../support/servers/postgres-pair.js';
import type { PrivateServer } from '../../support/servers/private-server.js';
import { startMariadb, startPostgres } from '../../support/servers/private-servers.js';
import { PAIR_ACCOUNTS, PAIR_DATABASE, type ServerPair } from '../../support/servers/server-pair.js';
import { until } from '../../support/until.js';

jest.setTimeout(120_000);

const ENGINES = [
  {
    engine: 'PostgreSQL',
    startPair: (): Promise<ServerPair> => PostgresPair.start(),
    startOther: startPostgres,
    grants: [],
    account: PAIR_ACCOUNTS.postgres,
  },
  {
    engine: 'MariaDB',
    startPair: (): Promise<ServerPair> => MariadbPair.start(),
    // Like most it has the default server_id, which the primary has as well.
    startOther: startMariadb,
    grants: [`CREATE DATABASE ${PAIR_DATABASE}`],
    account: PAIR_ACCOUNTS.mariadb,
  },
] as const;

/** A session of the server may be 4 s old. */
const SHORT: LeaseOptions = {
  heartbeatIntervalMs: 150,
  leaseMs: 4_000,
  horizonMs: 4_000,
  graceMs: 4_000,
  opTimeoutMs: 1_000,
  maxClockSkewMs: 1_000,
};

const ORDINARY: LeaseOptions = { heartbeatIntervalMs: 1_000, opTimeoutMs: 2_000, leaseMs: 30_000 };

const ONE: Partial<SnowflakeModuleOptions> = { serviceMaxWorkId: 1 };

describe.each(ENGINES)('Addresses of several $engine servers', ({ startPair, startOther, grants, account }) => {
  let pair: ServerPair;
  const services: IdService[] = [];
  const stores: SqlWorkerStore[] = [];
  const others: PrivateServer[] = [];

  const at = ({ port }: { readonly port: number }): DatabaseSettings => ({ ...account, host: '127.0.0.1', port });

  const start = async (
    servers: readonly { readonly port: number }[],
    lease: LeaseOptions = ORDINARY,
    more: Partial<SnowflakeModuleOptions> = {},
  ): Promise<IdService> => {
    const dbConfig = servers.map(at);
    const ids = await openIdService({ ...OPTIONS, ...lease, dbConfig, serviceMaxWorkId: 2, ...more });
    services.push(ids);
    return ids;
  };

  const store = (...servers: readonly { readonly port: number }[]): SqlWorkerStore => {
    const database = withAddresses(servers.map((server) => sqlDatabase(at(server))));
    const options = { tableName: 'soc_raindrop_worker', autoCreateTable: true, opTimeoutMs: 5_000, reachMs: 185_000 };
    stores.push(new SqlWorkerStore(database, options));
    return stores.at(-1)!;
  };

  const prepared = async (...servers: readonly { readonly port: number }[]): Promise<SqlWorkerStore> => {
    const opened = store(...servers);
    await opened.prepare({ min: 1, max: 2 });
    await opened.readTable();
    return opened;
  };

  const unrelated = async (): Promise<PrivateServer> => {
    const other = await startOther();
    others.push(other);
    for (const sql of grants) await pair.query(other, sql);
    return other;
  };

  const tablesOn = async (server: PrivateServer): Promise<unknown[]> =>
    pair.query(server, `SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'soc_raindrop%'`);

  beforeEach(async () => {
    pair = await startPair();
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    for (const { pid } of others) if (pid !== undefined) process.kill(pid, 'SIGCONT');
    await Promise.all([...services.splice(0), ...stores.splice(0)].map((each) => each.close()));
    await Promise.all([pair.stop(), ...others.splice(0).map((other) => other.stop())]);
  });

  it('pass a replica over, and lead a holder to it once it is promoted', async () => {
    await prepared(pair.primary);
    await pair.addStandby();
    const hosts = [pair.standby, pair.primary].map(({ port }) => `127.0.0.1:${port}`);
    const url = `${account.type}://${account.username}@${hosts.join(',')}/${account.database}`;
    const ids = await start([], ORDINARY, { dbConfig: url });
    const { workerId } = ids;
    const issued = ids.nextIds(1_000);
    const losses: unknown[] = [];
    ids.events.on('lease-lost', (event) => losses.push(event));
    await once(ids.events, 'lease-renewed');

    await pair.killPrimary();
    await once(ids.events, 'lease-trouble');
    await pair.promote();
    await once(ids.events, 'lease-renewed');
    issued.push(...ids.nextIds(1_000));
    expect([repeated(issued), ids.workerId, losses]).toEqual([0, workerId, []]);
    // Who starts now waits for what may have been lost.
    expect((await store(pair.primary).readTable()).barredUntilMs).toBeGreaterThan(0);
  });

  it('lead a holder on to the next one, after one failed renewal, when its server says nothing any more', async () => {
    const ways = await Promise.all([1, 2].map(() => FlakyProxy.start({ host: '127.0.0.1', port: pair.primary.port })));
    const ids = await start(ways);
    await once(ids.events, 'lease-renewed');
    let failures = 0;
    ids.events.on('lease-trouble', () => failures++);
    ways[0]!.silenceAfter(0);
    await once(ids.events, 'lease-trouble');
    await once(ids.events, 'lease-renewed');
    expect([failures, ways[1]!.open]).toEqual([1, 1]);
    await ids.close();
    await Promise.all(ways.map((way) => way.stop()));
  });

  it('go on at the next one when the server was started anew and the way to it is gone', async () => {
    const ways = await Promise.all([1, 2].map(() => FlakyProxy.start({ host: '127.0.0.1', port: pair.primary.port })));
    const holder = await prepared(...ways);
    await ways[0]!.stop();
    await pair.primary.restart();
    const table = await until('the server at the second address', () => holder.readTable());
    expect(table.barredUntilMs).toBeUndefined();
    await holder.close();
    await ways[1]!.stop();
  });

  it('are refused where a primary that was replaced lives on: starts at once, and its holders when they look anew', async () => {
    await prepared(pair.primary);
    await pair.addStandby();
    const servers = [pair.primary, pair.standby];
    const ids = await start(servers, SHORT);
    await once(ids.events, 'lease-renewed');
    await pair.divide();
    const refused = await start(servers).catch((error: unknown) => error);
    expect(refused).toMatchObject({ errorCode: 'STORE_UNAVAILABLE', cause: { errorCode: 'ADDRESS_CONFLICT' } });
    await once(ids.events, 'lease-lost');
    expect(() => ids.nextId()).toThrow();

    await servers[0]!.kill();
    await until('the one primary to be found', async () => (await store(...servers).readTable()).nowMs);
  });

  it('are refused when they lead to servers that have nothing to do with each other', async () => {
    const other = await unrelated();
    const refused = await start([pair.primary, other]).catch((error: unknown) => error);
    expect(refused).toMatchObject({ errorCode: 'STORE_UNAVAILABLE', cause: { errorCode: 'ADDRESS_CONFLICT' } });
    const { port } = other;
    expect((refused as Error).message).toMatch(
      new RegExp(`1\\. 127\\.0\\.0\\.1:${pair.primary.port} .*, 2\\. .*:${port} `),
    );
    expect([...(await tablesOn(pair.primary)), ...(await tablesOn(other))]).toEqual([]);
  });

  it('would lead to repeats without that: the control', async () => {
    jest.spyOn(AddressedConnection.prototype as never, 'refuseOthers').mockReturnValue(undefined as never);
    const servers = [pair.primary, await unrelated()];
    const [one, two] = [await start(servers, ORDINARY, ONE), await start([...servers].reverse(), ORDINARY, ONE)];
    expect(repeated([...one.nextIds(1_000), ...two.nextIds(1_000)])).toBeGreaterThan(0);
  });

  it('are refused when such a server answers later, and alone it grants nothing', async () => {
    const other = await unrelated();
    await prepared(other);
    process.kill(other.pid!, 'SIGSTOP');
    const holder = await prepared(other, pair.primary);
    process.kill(other.pid!, 'SIGCONT');
    expect((await holder.readTable()).barredUntilMs).toBeUndefined();
    holder.abandon();
    await expect(holder.readTable()).rejects.toMatchObject({ errorCode: 'ADDRESS_CONFLICT' });
    await pair.killPrimary();
    // On PostgreSQL the holder has believed a server of a later failover.
    const errorCode = account.type === 'mariadb' ? 'ADDRESS_CONFLICT' : 'FORMER_PRIMARY';
    await expect(holder.readTable()).rejects.toMatchObject({ errorCode });
  });
});
