import type { Segment } from '@raindrop/core';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { FlakyProxy } from '../../../../test/support/proxies/flaky-proxy.js';
import { openSegmentStore } from '../../../../test/support/stores/open-segment-store.js';
import { expectApart } from '../../../../test/proof/contract/segment-store.contract.js';
import { expectOffTheEventLoop, noteBusyAttempts } from '../../../../test/support/stores/busy-sqlite.js';
import { turnCountingProxy } from '../../../../test/support/proxies/turn-counting-proxy.js';
import type { PrivateServer } from '../../../../test/support/servers/private-server.js';
import { startMariadb, startPostgres } from '../../../../test/support/servers/private-servers.js';
import { openSqlite, type SqliteConnection } from '../../../../test/support/servers/sqlite-connection.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { until } from '../../../../test/support/until.js';
import { overBothPorts } from '../../../../test/support/stores/sql-database.js';

const serverKinds = databaseKinds.filter((kind) => kind !== 'sqlite');
const CODE = 'orders';
const unavailable = { errorCode: 'SEGMENT_STORE_UNAVAILABLE', retryable: true };

overBothPorts(() => {
  describe.each(serverKinds)('a connection to %s', (kind) => {
    let database: TestDatabase;
    let target: { host: string; port: number };

    beforeEach(async () => {
      database = await testDatabase(kind);
      target = database.options as typeof target;
    });

    afterEach(() => database.drop());

    const through = (port: number): TestDatabase['options'] => ({ ...database.options, port });

    it('makes one round trip for a reservation, and one for a give-back', async () => {
      const proxy = await turnCountingProxy(target);
      const store = openSegmentStore(through(proxy.port));
      await store.prepare();
      const source = store.source(CODE);
      const turnsOf = async (call: () => Promise<unknown>): Promise<number> => {
        const before = proxy.turns;
        await call();
        return proxy.turns - before;
      };
      // Of the first code: look, look at the server, note it, look again, insert, look, reserve. Of a known one: look, reserve.
      expect(await turnsOf(() => source.reserve({ above: 0n }))).toBe(7);
      expect(await turnsOf(() => store.source(CODE).reserve({ above: 0n }))).toBe(2);
      for (let turn = 0; turn < 5; turn++) expect(await turnsOf(() => source.reserve({ above: 0n }))).toBe(1);
      expect(await turnsOf(() => source.giveBack({ first: 6_901n, last: 7_000n }))).toBe(1);
      await store.close();
      await proxy.stop();
    });

    it('that falls silent is given up after twice opTimeoutMs, and numbers under way are not issued again', async () => {
      const proxy = await FlakyProxy.start(target);
      const store = openSegmentStore(through(proxy.port), { opTimeoutMs: 1_000 });
      await store.prepare();
      const source = store.source(CODE);
      const { last } = await source.reserve({ above: 0n });
      // The statement arrives, its answer does not.
      proxy.silenceAfter(1);
      await expect(source.reserve({ above: last })).rejects.toMatchObject(unavailable);
      proxy.recover();
      expect(await source.reserve({ above: last })).toMatchObject({ first: 2_001n, last: 3_000n });
      // What was taken before the gap is not the end of what comes after.
      expect(await source.giveBack({ first: 900n, last: 1_000n })).toBe(false);
      expect(proxy.open).toBe(1);
      await store.close();
      await proxy.stop();
    });

    it('that fails in the middle of a give-back does not give back again', async () => {
      const proxy = await FlakyProxy.start(target);
      const store = openSegmentStore(through(proxy.port), { opTimeoutMs: 1_000 });
      await store.prepare();
      const source = store.source(CODE);
      await source.reserve({ above: 0n });
      proxy.silenceAfter(1);
      await expect(source.giveBack({ first: 501n, last: 1_000n })).rejects.toMatchObject(unavailable);
      proxy.recover();
      // It was executed; whether it was is not asked.
      expect(await source.giveBack({ first: 501n, last: 1_000n })).toBe(false);
      expect(await source.reserve({ above: 500n })).toMatchObject({ first: 501n });
      await store.close();
      await proxy.stop();
    });

    it('that the server ended while it was idle costs no failed reservation', async () => {
      const store = openSegmentStore(database.options);
      await store.prepare();
      const source = store.source(CODE);
      await source.reserve({ above: 0n });
      const others = await new DataSource(database.options).initialize();
      if (kind === 'postgres') {
        await others.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
        );
      } else {
        const sql = 'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()';
        for (const { id } of await others.query<{ id: string }[]>(sql)) await others.query(`KILL ${id}`);
      }
      await until('it to hear of that', () => store['database']['database']['connection']?.isUsable === false);
      expect(await source.reserve({ above: 0n })).toMatchObject({ first: 1_001n });
      await others.destroy();
      await store.close();
    });

    it('that is refused says why, without the password', async () => {
      const options = { ...database.options, port: 1, password: 'hush-hush' } as TestDatabase['options'];
      const store = openSegmentStore(options);
      const error = await store
        .source(CODE)
        .reserve({ above: 0n })
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({ ...unavailable, cause: { driverCode: 'ECONNREFUSED' } });
      expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain('hush-hush');
      await store.close();
    });

    it('is not opened again after close', async () => {
      const store = openSegmentStore(database.options);
      await store.prepare();
      await Promise.all([store.close(), store.close()]);
      await expect(store.source(CODE).reserve({ above: 0n })).rejects.toMatchObject({
        errorCode: 'CLOSED',
      });
    });
  });

  /** All tests share the run's own servers; these are killed. */
  describe.each([
    ['mariadb', startMariadb],
    ['postgres', startPostgres],
  ] as const)('a %s that is killed and started again', (kind, start) => {
    it('gives no number twice to four stores that go on reserving', async () => {
      const server: PrivateServer = await start();
      const database = await testDatabase(kind, server.url);
      const stores = Array.from({ length: 4 }, () => openSegmentStore(database.options, { opTimeoutMs: 1_000 }));
      await Promise.all(stores.map((store) => store.prepare()));
      const segments: Segment[] = [];
      let failures = 0;
      let isOver = false;
      const running = stores.map(async (store) => {
        const source = store.source(CODE);
        let above = 0n;
        while (!isOver) {
          try {
            const segment = await source.reserve({ count: 10, above });
            above = segment.last;
            segments.push(segment);
          } catch (error) {
            expect(error).toMatchObject(unavailable);
            failures++;
            await sleep(20);
          }
        }
      });
      for (let round = 0; round < 2; round++) {
        const before = segments.length;
        await until('all to reserve', () => segments.length >= before + 20);
        const failed = failures;
        await server.kill();
        await until('all to fail', () => failures >= failed + stores.length);
        await server.restart();
        const after = segments.length;
        await until('all to reserve again', () => segments.length >= after + 20, { withinMs: 60_000 });
      }
      isOver = true;
      await Promise.all(running);
      expect(failures).toBeGreaterThan(0);
      expectApart(segments, { withoutGaps: false });
      await Promise.all(stores.map((store) => store.close()));
      await database.drop();
      await server.stop();
    });
  });

  describe('a SQLite that another process is writing to', () => {
    let database: TestDatabase;
    let other: SqliteConnection;

    beforeEach(async () => {
      database = await testDatabase('sqlite');
      other = openSqlite(String(database.options.database));
      other.exec('CREATE TABLE app (id integer)');
    });

    afterEach(async () => {
      jest.restoreAllMocks();
      other.close();
      await database.drop();
    });

    it.each([
      ['writer', 'delete', 'BEGIN IMMEDIATE; INSERT INTO app VALUES (1)'],
      ['writer', 'wal', 'BEGIN IMMEDIATE; INSERT INTO app VALUES (1)'],
      // In this mode a reader lets no writer commit.
      ['reader', 'delete', 'BEGIN; SELECT count(*) FROM app'],
    ])('is asked again until the %s is done, off the event loop (journal mode %s)', async (_, mode, sql) => {
      other.pragma(`journal_mode = ${mode}`);
      const store = openSegmentStore(database.options);
      await store.prepare();
      const source = store.source(CODE);
      await source.reserve({ above: 0n });
      other.exec(sql);

      const attempts = noteBusyAttempts();
      let isReserved = false;
      const call = source.reserve({ above: 0n }).finally(() => (isReserved = true));
      await until('it to be tried again and again', () => attempts.length >= 5);
      expect(isReserved).toBe(false);
      other.exec('COMMIT');
      // Once, although it was tried several times.
      expect(await call).toMatchObject({ first: 1_001n, last: 2_000n });
      expectOffTheEventLoop(attempts);
      await store.close();
    });

    it('is given up after opTimeoutMs', async () => {
      const store = openSegmentStore(database.options, { opTimeoutMs: 150 });
      await store.prepare();
      const source = store.source(CODE);
      await source.reserve({ above: 0n });
      other.exec('BEGIN IMMEDIATE');
      const error = { ...unavailable, cause: { errorCode: 'DATABASE_CALL_FAILED', driverCode: 'SQLITE_BUSY' } };
      await expect(source.reserve({ above: 0n })).rejects.toMatchObject(error);
      other.exec('COMMIT');
      expect(await source.reserve({ above: 0n })).toMatchObject({ first: 1_001n });
      await store.close();
    });
  });
});
