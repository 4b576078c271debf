import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../contract/open-store.js';
import { writeTo } from '../contract/worker-store.contract.js';
import { postgresDialect } from '../../libs/node/src/database/postgres-dialect.js';
import type { SqlWorkerStore } from '../../libs/node/src/worker-table/sql-worker-store.js';
import { TcpProxy } from '../proxies/tcp-proxy.js';
import { until } from '../waiting/until.js';
import { testDatabase, type TestDatabase } from '../servers/test-databases.js';

const SESSIONS = 5;

describe.each(['mariadb', 'postgres'] as const)('The sessions of a worker table on %s', (kind) => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  const stores: SqlWorkerStore[] = [];

  const opened = async (ages: { maxSessionAgeMs: number; renewSessionAfterMs: number }): Promise<SqlWorkerStore> => {
    const store = openStore({ ...database.options, port: proxy.port } as typeof database.options, ages);
    stores.push(store);
    await store.prepare({ min: 1, max: 1 });
    return store;
  };

  /** As a lease does: look, write. */
  const renew = async (store: SqlWorkerStore): Promise<boolean> => {
    const { row } = await store.readRow(1);
    return store.write(writeTo(row!, { token: `token ${row!.version}` }));
  };

  beforeEach(async () => {
    database = await testDatabase(kind);
    const { host = '127.0.0.1', port } = database.options as { host?: string; port: number };
    proxy = await TcpProxy.start({ host, port });
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await Promise.all(stores.splice(0).map((store) => store.close()));
    await proxy.stop();
    await database.drop();
  });

  it('are replaced in time, two at once at most, and no renewal fails', async () => {
    const store = await opened({ maxSessionAgeMs: 1_000, renewSessionAfterMs: 300 });
    let mostClients = 0;
    const renewals: boolean[] = [];
    await until('sessions to be replaced', async () => {
      renewals.push(await renew(store));
      // Of each way the proxy has two sockets.
      mostClients = Math.max(mostClients, proxy.open / 2);
      return proxy.connections >= SESSIONS;
    });
    expect(renewals.length).toBeGreaterThan(20);
    expect(renewals).not.toContain(false);
    expect(mostClients).toBeLessThanOrEqual(2);
  });

  it('serve no write once they are too old, and the look before it opens another one', async () => {
    const store = await opened({ maxSessionAgeMs: 200, renewSessionAfterMs: 10_000 });
    const { row } = await store.readRow(1);
    // Nothing else makes a session older.
    await sleep(300);
    expect(await store.write(writeTo(row!))).toBe(false);
    expect(await renew(store)).toBe(true);
    expect(proxy.connections).toBe(2);
  });

  if (kind === 'mariadb') return;
  it('of a pooler may be older than our connection: a warning names the age at which it is to end them', async () => {
    jest.replaceProperty(postgresDialect, 'sessionAgeMs', '3600000');
    const store = await opened({ maxSessionAgeMs: 92_000, renewSessionAfterMs: 75_000 });
    expect(await renew(store)).toBe(true);
    expect(await store.durabilityWarnings()).toContainEqual(expect.stringMatching(/older than 92 s.*server_lifetime/));
  });
});
