import { DataSource, type DataSourceOptions } from 'typeorm';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { ENDINGS, RefusingProxy } from '../../../../test/support/proxies/refusing-proxy.js';
import { refusalsOf } from '../../../../test/support/proxies/refusals.js';
import { kindsInTurn, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { until } from '../../../../test/support/until.js';
import { overBothPorts, sqlDatabase } from '../../../../test/support/stores/sql-database.js';
import { openStore, takeRow } from '../../../../test/support/stores/open-store.js';
import { OwnDatabase } from './own-database.js';

overBothPorts(() => {
  // An error without a listener would end the process; here it fails the test that runs.
  describe.each(kindsInTurn(__filename).filter((kind) => kind !== 'sqlite'))('a connection that %s refuses', (kind) => {
    let server: TestDatabase;
    let proxy: RefusingProxy;
    let database: OwnDatabase;

    beforeAll(async () => {
      server = await testDatabase(kind);
    });

    afterAll(() => server.drop());

    beforeEach(async () => {
      const { host, port } = server.options as { host: string; port: number };
      proxy = await RefusingProxy.start({ host, port });
      const options = { ...server.options, port: proxy.port } as DataSourceOptions;
      database = new OwnDatabase(sqlDatabase(options), { opTimeoutMs: 5_000 });
    });

    afterEach(async () => {
      await database.close();
      await until('no connection to be left', () => proxy.open === 0);
      await proxy.stop();
    });

    const ask = (): Promise<unknown> => database.call(async (run) => (await run('SELECT 1 AS one')).records);
    const outcome = (): Promise<unknown> => ask().catch((error: unknown) => error);

    const cases = refusalsOf(kind).flatMap((refusal) => ENDINGS.map((ending) => ({ ...refusal, ending })));
    describe.each(cases)('with $title, and $ending', ({ sayNo, ending, driverCode }) => {
      it('at the start costs no more than that call', async () => {
        proxy.refuse(sayNo, ending);
        expect(await outcome()).toMatchObject({ driverCode });
        expect(await outcome()).toMatchObject({ driverCode });
        proxy.heal();
        expect(await ask()).toHaveLength(1);
      });

      it('at the reconnect costs no more than that call', async () => {
        expect(await ask()).toHaveLength(1);
        proxy.refuse(sayNo, ending);
        await until('the refusal', async () => {
          const { driverCode: code } = (await outcome()) as { driverCode?: string };
          return code === driverCode;
        });
        proxy.heal();
        expect(await ask()).toHaveLength(1);
      });

      it('while it is closed is no trouble of other calls', async () => {
        expect(await ask()).toHaveLength(1);
        proxy.refuse(sayNo, ending);
        const calls = [outcome(), outcome()];
        await database.close();
        for (const error of await Promise.all(calls)) expect(error).toHaveProperty('errorCode');
        expect(await outcome()).toMatchObject({ errorCode: 'CLOSED' });
      });
    });
  });
});

overBothPorts(() => {
  describe.each(['mariadb', 'postgres'])('a database of type %s that says nothing', (type) => {
    const sockets = new Set<Socket>();
    let server: Server;
    beforeEach(async () => {
      server = createServer((socket) => void sockets.add(socket.on('error', () => undefined).resume()));
      await once(server.listen(0, '127.0.0.1'), 'listening');
    });
    afterEach(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });

    it('is closed at once while a connection to it is being made', async () => {
      const { port } = server.address() as AddressInfo;
      const options = { type, host: '127.0.0.1', port, username: 'shop', password: 'shop', database: 'shop' };
      // Nothing ends by itself within the test.
      const database = new OwnDatabase(sqlDatabase(options), { opTimeoutMs: 120_000 });
      let failed = false;
      database.call((run) => run('SELECT 1')).catch(() => (failed = true));
      await until('the connection', () => sockets.size > 0);
      let isClosed = false;
      void database.close().then(() => (isClosed = true));
      await until('the end of close()', () => isClosed);
      await until('the end of the call', () => failed);
    });
  });
});

const LOCKS = {
  postgres: { names: ['Lock', 'pg_locks', 'synchronous_standby_names'], not: 'semi-synchronous' },
  mariadb: { names: ['INNODB STATUS', 'semi-synchronous replication'], not: 'synchronous_standby_names' },
  mysql: { names: ['INNODB STATUS', 'semi-synchronous replication'], not: 'synchronous_standby_names' },
};

describe.each(kindsInTurn(__filename).filter((kind) => kind !== 'sqlite'))(
  'A row that another session has locked on %s',
  (kind) => {
    it('is explained in words of that database', async () => {
      const database = await testDatabase(kind);
      const store = openStore(database.options);
      await store.prepare({ min: 1, max: 2 });
      await store.readTable();
      const other = await new DataSource(database.options).initialize();
      const runner = other.createQueryRunner();
      await runner.startTransaction();
      await runner.query('UPDATE soc_raindrop_worker SET code = code WHERE id = 1');
      await runner.query('SELECT * FROM soc_raindrop_worker WHERE id = 1 FOR UPDATE');
      const writing = takeRow(store, 1).catch((error: unknown) => error);
      const sql =
        kind === 'postgres'
          ? `SELECT 1 AS it FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
          : `SELECT 1 AS it FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE 'UPDATE %' AND command = 'Query'`;
      await until('the write to wait', async () => (await other.query<unknown[]>(sql)).length > 0);
      store.abandon();
      await writing;
      const error = await store.readTable().catch((reason: unknown) => reason as Error);
      const said = error instanceof Error ? error.message : 'nothing';
      const { names, not } = LOCKS[kind];
      for (const name of names) expect(said).toContain(name);
      expect(said).not.toContain(not);
      await runner.rollbackTransaction();
      await runner.release();
      await until('it to be over', async () => (await store.readTable().catch(() => undefined)) !== undefined);
      await store.close();
      await other.destroy();
      await database.drop();
    });
  },
);

describe('a session of a MariaDB', () => {
  const unknown = (sql: string | undefined): string => `${sql}, no_such_variable = 1`;

  it.each([
    { knows: 'all that is said at once', lacks: [] },
    { knows: 'all but how to read fresh', lacks: ['freshReads', 'all'] },
    { knows: 'what is said one by one', lacks: ['all', 'butFreshReads'] },
    { knows: 'no term', lacks: ['all', 'butFreshReads', 'termSession'] },
  ])('that knows $knows is set up as far as it knows', async ({ lacks }) => {
    const server = await testDatabase('mariadb');
    const database = new OwnDatabase(sqlDatabase(server.options), { opTimeoutMs: 5_000 });
    const { dialect } = database;
    const told = (name: string, sql: string | undefined): string => (lacks.includes(name) ? unknown(sql) : sql!);
    database.dialect = {
      ...dialect,
      freshReads: told('freshReads', dialect.freshReads),
      termSession: told('termSession', dialect.termSession),
      sessionAtOnce: {
        all: told('all', dialect.sessionAtOnce?.all),
        butFreshReads: told('butFreshReads', dialect.sessionAtOnce?.butFreshReads),
      },
    };
    const settings =
      'SELECT @@autocommit AS autocommit, @@time_zone AS zone, @@sql_mode AS mode, @@lock_wait_timeout AS wait, ' +
      '@@wsrep_sync_wait & 1 AS fresh, @raindrop_term AS term, @raindrop_since IS NOT NULL AS dated';
    const [found] = (await database.call((run) => run(settings))).records;
    const hasTerm = !lacks.includes('termSession');
    expect(JSON.parse(JSON.stringify(found))).toEqual({
      autocommit: '1',
      zone: '+00:00',
      mode: 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
      wait: '2',
      fresh: lacks.includes('freshReads') ? '0' : '1',
      term: hasTerm ? (expect.stringMatching(/^server \d+$/) as unknown) : null,
      dated: hasTerm ? 1 : 0,
    });
    await database.close();
    await server.drop();
  });
});
