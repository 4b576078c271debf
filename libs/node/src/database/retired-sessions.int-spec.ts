import type { DataSourceOptions } from 'typeorm';
import { overBothPorts, sqlDatabase } from '../../../../test/support/stores/sql-database.js';
import { TcpProxy } from '../../../../test/support/proxies/tcp-proxy.js';
import { testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { until } from '../../../../test/support/until.js';
import { OwnDatabase } from './own-database.js';

const ENGINES = [
  {
    kind: 'mariadb',
    lasting: (s: number) => `SELECT SLEEP(${s}) AS slept`,
    sleeping:
      "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND command = 'Query' AND info LIKE 'SELECT SLEEP%'",
  },
  {
    kind: 'postgres',
    lasting: (s: number) => `SELECT 1 AS slept FROM pg_sleep(${s})`,
    sleeping:
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE 'SELECT 1 AS slept%'",
  },
] as const;

const LIMIT_MS = 2_000;

overBothPorts(() => {
  describe.each(ENGINES)('A session of $kind that is given up for another one', ({ kind, lasting, sleeping }) => {
    let server: TestDatabase;
    let proxy: TcpProxy;
    let database: OwnDatabase;
    /** Not through the proxy. */
    let observer: OwnDatabase;

    beforeEach(async () => {
      server = await testDatabase(kind);
      const { host = '127.0.0.1', port } = server.options as { host?: string; port: number };
      proxy = await TcpProxy.start({ host, port });
      const options = { ...server.options, port: proxy.port } as DataSourceOptions;
      database = new OwnDatabase(sqlDatabase(options), { opTimeoutMs: 5_000, statementTimeoutMs: LIMIT_MS });
      observer = new OwnDatabase(sqlDatabase(server.options), { opTimeoutMs: 5_000 });
      await ask('SELECT 1 AS one');
    });

    afterEach(async () => {
      await database.close();
      await until('no connection to be left', () => proxy.open === 0);
      await proxy.stop();
      await observer.close();
      await server.drop();
    });

    const ask = async (sql: string): Promise<readonly unknown[]> => (await database.call((run) => run(sql))).records;

    const atWork = async (): Promise<number> => (await observer.call((run) => run(sleeping))).records.length;
    const isSleeping = (many: number): Promise<boolean> =>
      until('statements to be under way', async () => (await atWork()) === many);

    it('answers what was under way on it, and is closed then', async () => {
      const answers = Promise.all([ask(lasting(0.4)), ask(lasting(0.4))]);
      database.reconnect();
      database.reconnect();
      expect(await ask('SELECT 1 AS one')).toHaveLength(1);
      expect(proxy.connections).toBe(2);
      for (const answer of await answers) expect(answer).toHaveLength(1);
      await until('the old session to be closed', () => proxy.open === 2);
    });

    it('costs only its own statement when that takes too long', async () => {
      const late = expect(ask(lasting(20))).rejects.toThrow(`no answer within ${LIMIT_MS} ms`);
      await isSleeping(1);
      database.reconnect();
      let answered = 0;
      const others = (async () => {
        for (;;) answered += (await ask(lasting(0.05))).length;
      })();
      // What was given up is still under way: nothing else is sent then.
      await Promise.all([late, expect(others).rejects.toThrow('still runs on the server')]);
      expect(answered).toBeGreaterThan(5);
    });

    it('ends with the database', async () => {
      const given = ask(lasting(20)).catch((error: unknown) => error);
      await isSleeping(1);
      database.reconnect();
      await ask('SELECT 1 AS one');
      await database.close();
      expect(await given).toBeInstanceOf(Error);
    });

    it.each([
      ['last', 3, 1],
      ['first', 1, 3],
    ])('is waited for as the present one is, when both are left at work and it ends %s', async (_, one, other) => {
      const given = [ask(lasting(one)).catch(() => undefined)];
      await isSleeping(1);
      database.reconnect();
      given.push(ask(lasting(other)).catch(() => undefined));
      await isSleeping(2);
      database.abandon();
      await Promise.all(given);
      await expect(ask('SELECT 1 AS one')).rejects.toThrow('still runs on the server');
      await until('statements to be sent again', () => ask('SELECT 1 AS one'));
      expect(await atWork()).toBe(0);
    });
  });
});
