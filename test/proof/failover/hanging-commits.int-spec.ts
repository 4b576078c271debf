import { openIdService, type IdService } from '../../../libs/node/src/index.js';
import { LeftSession } from '../../../libs/node/src/database/left-session.js';
import { openSegmentStore } from '../../support/stores/open-segment-store.js';
import { expectApart } from '../contract/segment-store.contract.js';
import { overBothPorts } from '../../support/stores/sql-database.js';
import type { PrivateServer } from '../../support/servers/private-server.js';
import { startMariadb, startPostgres } from '../../support/servers/private-servers.js';
import { serverAddress } from '../../support/servers/server-address.js';
import { withMysqlSession, withPostgresSession, type RunSql } from '../../support/servers/sql-session.js';
import { until } from '../../support/until.js';

jest.setTimeout(120_000);

const SERVICES = Array.from({ length: 6 }, (_, index) => `service${index + 1}`);
const QUERY_MS = 10_000;
/** Of each service, while commits hang: some of a lease that lasts, then of attempts to get another row. */
const FAILURES = 12;
const WAITS_FOR_EVER = '86400000';

/** Servers whose commits can be made to wait for a replica that is not there. */
const ENGINES = [
  {
    type: 'postgres',
    start: () => startPostgres(),
    account: { username: 'postgres', database: 'postgres' },
    createAccount: (name: string) => [`CREATE ROLE ${name} SUPERUSER LOGIN`],
    hang: ["ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (s1, s2)'", 'SELECT pg_reload_conf()'],
    flow: ["ALTER SYSTEM SET synchronous_standby_names = ''", 'SELECT pg_reload_conf()'],
    isHanging: "SELECT 1 FROM pg_settings WHERE name = 'synchronous_standby_names' AND setting <> ''",
    sessions: 'SELECT usename AS name, count(*)::int AS sessions FROM pg_stat_activity GROUP BY 1',
    table: 'soc_raindrop_worker',
    with: withPostgresSession,
  },
  {
    type: 'mariadb',
    start: () => startMariadb(['--log-bin=binlog', '--server-id=1', '--sync-binlog=1']),
    account: { username: 'root', database: 'raindrop' },
    createAccount: (name: string) => [
      'CREATE DATABASE IF NOT EXISTS raindrop',
      `CREATE USER ${name}@'127.0.0.1'`,
      `GRANT ALL ON *.* TO ${name}@'127.0.0.1'`,
    ],
    hang: [
      `SET GLOBAL rpl_semi_sync_master_timeout = ${WAITS_FOR_EVER}`,
      'SET GLOBAL rpl_semi_sync_master_wait_no_slave = ON',
      'SET GLOBAL rpl_semi_sync_master_enabled = ON',
    ],
    flow: ['SET GLOBAL rpl_semi_sync_master_enabled = OFF'],
    isHanging: 'SELECT 1 WHERE @@GLOBAL.rpl_semi_sync_master_enabled = 1',
    sessions: 'SELECT user AS name, COUNT(*) AS sessions FROM information_schema.processlist GROUP BY 1',
    table: 'raindrop.soc_raindrop_worker',
    with: withMysqlSession,
  },
] as const;

describe.each(ENGINES)('Commits that hang on $type', (engine) => {
  let server: PrivateServer;
  const open: { close(): Promise<void> }[] = [];

  const asAdmin = <T>(work: (run: RunSql) => Promise<T>): Promise<T> =>
    engine.with(serverAddress(server.url, server.port), QUERY_MS, work);

  const run = (statements: readonly string[]): Promise<void> =>
    asAdmin(async (each) => {
      for (const sql of statements) await each(sql);
    });

  const hang = async (): Promise<void> => {
    await run(engine.hang);
    await until('commits to hang', () => asAdmin(async (each) => (await each(engine.isHanging)).length === 1));
  };

  const optionsOf = (username: string): { type: 'postgres' | 'mariadb' } & Record<string, unknown> => ({
    type: engine.type,
    host: '127.0.0.1',
    port: server.port,
    ...engine.account,
    username,
  });

  const openService = async (username: string, hosts = ['127.0.0.1']): Promise<IdService> => {
    const service = await openIdService({
      dbConfig: hosts.map((host) => ({ ...optionsOf(username), host })),
      heartbeatIntervalMs: 300,
      opTimeoutMs: 500,
      leaseMs: 2_000,
      graceMs: 500,
      logger: { log() {}, warn() {}, error() {} },
    });
    open.push(service);
    return service;
  };

  /** The most sessions that one of them has had at a time, until all of that is so. */
  const mostSessions = async (isOver: () => boolean): Promise<number> => {
    let most = 0;
    await asAdmin((each) =>
      until(
        'enough failures',
        async () => {
          const counted = await each(engine.sessions);
          const ours = counted.filter(({ name }) => SERVICES.includes(String(name)));
          most = Math.max(most, ...ours.map(({ sessions }) => Number(sessions)));
          return isOver();
        },
        { withinMs: 60_000 },
      ),
    );
    return most;
  };

  const failuresOf = (service: IdService): number => {
    const status = service.status();
    return status.idMode === 'snowflake' ? status.failures : 0;
  };

  beforeEach(async () => {
    server = await engine.start();
    await run(SERVICES.flatMap(engine.createAccount));
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await run(engine.flow);
    await Promise.all(open.splice(0).map((each) => each.close()));
    await server.stop();
  });

  /** While commits hang, and all services serve before. */
  const mostOfServices = async (services: IdService[]): Promise<number> => {
    await hang();
    return mostSessions(() => services.every((service) => failuresOf(service) >= FAILURES));
  };

  const openServices = async (hosts?: string[]): Promise<IdService[]> => {
    const services: IdService[] = [];
    for (const name of SERVICES) services.push(await openService(name, hosts));
    return services;
  };

  it('hold two sessions of a service at most; all go on afterwards, and no ID comes twice', async () => {
    const services = await openServices();
    const ids = services.flatMap((service) => service.nextIds(100));
    expect(await mostOfServices(services)).toBeLessThanOrEqual(2);
    expect(services[0]!.status()).toMatchObject({
      lastError: {
        errorCode: 'STORE_UNAVAILABLE',
        cause: { message: expect.stringMatching(/still runs on the server/) as unknown },
      },
    });
    await run(engine.flow);
    ids.push(...(await Promise.all(services.map((service) => service.nextIdsAsync(100)))).flat());
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('hold two sessions for each address at most', async () => {
    const services = await openServices(['127.0.0.1', 'localhost']);
    // One is left at each, and both are asked at once.
    expect(await mostOfServices(services)).toBeLessThanOrEqual(4);
    await run(engine.flow);
    const ids = (await Promise.all(services.map((service) => service.nextIdsAsync(100)))).flat();
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('would hold more and more if no process asked for the session that was left: the control', async () => {
    jest.spyOn(LeftSession.prototype, 'note').mockReturnValue();
    expect(await mostOfServices(await openServices())).toBeGreaterThan(4);
  });

  it('let a service that starts fail in time, and start once they flow', async () => {
    await (await openService('service1')).close();
    await hang();
    await expect(openService('service1')).rejects.toMatchObject({ errorCode: 'STORE_UNAVAILABLE', retryable: true });
    await run(engine.flow);
    expect((await openService('service1')).nextId()).toBeGreaterThan(0n);
  });

  overBothPorts(() => {
    it('hold two sessions of a table of segments at most, and no number comes twice', async () => {
      const stores = SERVICES.map((name) => openSegmentStore(optionsOf(name) as never, { opTimeoutMs: 250 }));
      open.push(...stores);
      for (const store of stores) await store.prepare();
      const sources = stores.map((store) => store.source('orders'));
      const reserveAll = (): ReturnType<(typeof sources)[0]['reserve']>[] =>
        sources.map((source) => source.reserve({ count: 10, above: 0n }));
      const segments = await Promise.all(reserveAll());
      await hang();
      let rounds = 0;
      const reserving = (async () => {
        for (; rounds < FAILURES; rounds++) {
          for (const { reason } of (await Promise.allSettled(reserveAll())) as PromiseRejectedResult[]) {
            expect(reason).toMatchObject({ errorCode: 'SEGMENT_STORE_UNAVAILABLE', retryable: true });
          }
        }
      })();
      expect(await mostSessions(() => rounds === FAILURES)).toBeLessThanOrEqual(2);
      await reserving;
      await run(engine.flow);
      const reserved = (): ReturnType<typeof reserveOnce> => until('numbers to be reserved', reserveOnce);
      const reserveOnce = (): Promise<typeof segments> => Promise.all(reserveAll());
      segments.push(...(await reserved()));
      expectApart(segments, { withoutGaps: false });
    });
  });

  it('are no lock of a row: who waits for one takes another row, while the lock is held', async () => {
    const service = await openService('service1');
    const before = service.workerId!;
    await asAdmin(async (each) => {
      await each('BEGIN');
      await each(`SELECT * FROM ${engine.table} WHERE id = ${before} FOR UPDATE`);
      await until('another row', () => service.workerId !== before && service.workerId !== undefined);
      await each('ROLLBACK');
    });
    expect(service.nextId()).toBeGreaterThan(0n);
  });
});
