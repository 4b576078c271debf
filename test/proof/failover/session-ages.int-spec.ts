import type { Segment } from '@raindrop/core';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSegmentStore } from '../../support/stores/open-segment-store.js';
import { openStore } from '../../support/stores/open-store.js';
import { expectApart } from '../contract/segment-store.contract.js';
import { writeTo } from '../contract/worker-store.contract.js';
import { postgresDialect } from '../../../libs/node/src/database/postgres-dialect.js';
import type { SqlWorkerStore } from '../../../libs/node/src/worker-table/sql-worker-store.js';
import { TcpProxy } from '../../support/proxies/tcp-proxy.js';
import { until } from '../../support/until.js';
import { testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';

const SESSIONS = 5;

/** The number of the session that runs the statement. */
const SESSION = { mariadb: 'CONNECTION_ID()', postgres: 'pg_backend_pid()' };

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

  it('serve no write once they are too old: a look opens another one for it', async () => {
    const store = await opened({ maxSessionAgeMs: 2_000, renewSessionAfterMs: 10_000 });
    const { row } = await store.readRow(1);
    const own = store['database'];
    await until('the server to take the session for too old', async () => {
      const { records } = await own.call((run) => run(`SELECT ${own.dialect.sessionAgeMs} AS age`));
      return Number(records[0]!['age']) > 2_000;
    });
    // The session that is too old does not write; the write is made over the one that the look opens.
    expect(await store.write(writeTo(row!))).toBe(true);
    expect(proxy.connections).toBe(2);
    expect(await renew(store)).toBe(true);
    expect(proxy.connections).toBe(2);
  });

  /** From now on the server takes the session that is open for so much older. */
  const growOlder = async (store: SqlWorkerStore, byMs: number): Promise<void> => {
    const own = store['database'];
    const { records } = await own.call((run) => run(`SELECT ${SESSION[kind]} AS session`));
    const { dialect } = own;
    const more = `CASE WHEN ${SESSION[kind]} = ${String(records[0]!['session'])} THEN ${byMs} ELSE 0 END`;
    own.dialect = { ...dialect, sessionAgeMs: `(${dialect.sessionAgeMs} + ${more})` };
  };

  it('are limited also after this process was suspended for 6 s, or the clock of the database was put forward', async () => {
    const store = await opened({ maxSessionAgeMs: 5_000, renewSessionAfterMs: 5_000 });
    const { row } = await store.readRow(1);
    await growOlder(store, 6_000);
    // The session that is too old does not write; the write is made over the one that the look opens.
    expect(await store.write(writeTo(row!))).toBe(true);
    expect(proxy.connections).toBe(2);
    expect(await renew(store)).toBe(true);
    expect(proxy.connections).toBe(2);
    expect(store['database'].age.isPooled).toBe(false);
  });

  it('are limited also when this process was suspended before the first answer', async () => {
    const ages = { maxSessionAgeMs: 60_000, renewSessionAfterMs: 60_000 };
    const store = await opened(ages);
    const other = openStore({ ...database.options, port: proxy.port } as typeof database.options, ages);
    stores.push(other);
    await growOlder(other, 6_000);
    expect(await renew(other)).toBe(true);
    expect(other['database'].age.isPooled).toBe(false);
    // One of the first store.
    expect(proxy.connections).toBe(3);
    expect(await renew(store)).toBe(true);
  });

  it.each([
    ['to before the session began', 60_000, 3_600_000],
    ['less far', 300, 200],
  ])('are limited also when the clock of the database was put back %s', async (_, maxSessionAgeMs, byMs) => {
    const store = await opened({ maxSessionAgeMs, renewSessionAfterMs: maxSessionAgeMs });
    const { row } = await store.readRow(1);
    await growOlder(store, -byMs);
    // Of the second one only our own clock tells how old it is.
    if (maxSessionAgeMs < 1_000) await sleep(maxSessionAgeMs + 50);
    // The session that is too old does not write; the write is made over the one that the look opens.
    expect(await store.write(writeTo(row!))).toBe(true);
    expect(proxy.connections).toBe(2);
    expect(await renew(store)).toBe(true);
    expect(proxy.connections).toBe(2);
  });

  it('are replaced without one failed call of four codes that reserve without a pause, two sessions at once at most', async () => {
    const store = openSegmentStore({ ...database.options, port: proxy.port } as typeof database.options, {
      maxSessionAgeMs: 150,
    });
    await store.prepare();
    const failures: unknown[] = [];
    const segments: Record<string, Segment[]> = {};
    let mostClients = 0;
    let isOver = false;
    const reserving = ['a', 'b', 'c', 'd'].map(async (code) => {
      const source = store.source(code);
      segments[code] = [];
      while (!isOver) {
        await source.reserve({ count: 10, above: 0n }).then(
          (segment) => segments[code]!.push(segment),
          (error: unknown) => failures.push(error),
        );
      }
    });
    await until('sessions to be replaced', () => {
      mostClients = Math.max(mostClients, proxy.open / 2);
      return proxy.connections >= 2 * SESSIONS;
    });
    isOver = true;
    await Promise.all(reserving);
    await store.close();
    expect(failures).toEqual([]);
    for (const each of Object.values(segments)) expectApart(each, { withoutGaps: true });
    expect(mostClients).toBeLessThanOrEqual(2);
  });

  if (kind === 'mariadb') return;
  it('of a pooler may be older than our connection: a warning names the age at which it is to end them', async () => {
    jest.replaceProperty(postgresDialect, 'sessionAgeMs', '3600000');
    const store = await opened({ maxSessionAgeMs: 27_000, renewSessionAfterMs: 11_000 });
    for (let renewals = 0; renewals < 3; renewals++) expect(await renew(store)).toBe(true);
    expect(await store.durabilityWarnings()).toContainEqual(
      expect.stringMatching(/age there to 27 s.*server_lifetime/),
    );
    // The first one was not believed; no other one is opened for the age of the server's.
    expect(proxy.connections).toBe(2);
  });
});
