import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DataSource } from 'typeorm';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { FlakyProxy } from '../../../../test/support/proxies/flaky-proxy.js';
import { openStore, takeRow } from '../../../../test/support/stores/open-store.js';
import { until } from '../../../../test/support/until.js';
import type { SqlWorkerStore } from './sql-worker-store.js';
import { overPortsOfTier } from '../../../../test/support/stores/sql-database.js';

const fixtures = join(__dirname, '../../../../test');

overPortsOfTier(() => {
  describe.each(databaseKinds.filter((kind) => kind !== 'sqlite'))('a lost connection to %s', (kind) => {
    let database: TestDatabase;
    let proxy: FlakyProxy;
    let store: SqlWorkerStore;
    const strays: unknown[] = [];
    const note = (error: unknown): void => void strays.push(error);

    beforeAll(() => {
      process.on('unhandledRejection', note);
      process.on('uncaughtException', note);
    });

    afterAll(() => {
      process.off('unhandledRejection', note);
      process.off('uncaughtException', note);
    });

    beforeEach(async () => {
      strays.length = 0;
      database = await testDatabase(kind);
      const { host, port } = database.options as { host: string; port: number };
      proxy = await FlakyProxy.start({ host, port });
      store = openStore({ ...database.options, port: proxy.port } as typeof database.options);
      await store.prepare({ min: 1, max: 2 });
    });

    afterEach(async () => {
      await store.close();
      await until('no connection to be left', () => proxy.open === 0);
      await proxy.stop();
      await database.drop();
      expect(strays).toEqual([]);
    });

    it('that has fallen silent is dropped by abandon, and the next call uses a new one', async () => {
      proxy.silenceAfter(0);
      const call = takeRow(store, 1);
      await until('the call to be under way', () => proxy.swallowed > 0);
      store.abandon();
      // Of itself it would never end.
      await expect(call).rejects.toMatchObject({ errorCode: 'DATABASE_CALL_FAILED', retryable: true });
      proxy.recover();
      expect(await takeRow(store, 1)).toBe(true);
      expect(proxy.open).toBe(1);
    });

    // Every message of the handshake, and TypeORM's own questions after it, end at some of these.
    it.each([0, 1, 20, 60, 100, 150, 200, 300, 400, 500, 700, 900, 1_200])(
      'that falls silent %s bytes into connecting is dropped too',
      async (bytes) => {
        store.abandon();
        proxy.silenceAfter(bytes);
        let isOver = false;
        const call = store.readTable().finally(() => (isOver = true));
        call.catch(() => undefined);
        await until('the silence, or the answer', () => isOver || proxy.swallowed > 0);
        store.abandon();
        await call.catch((error: unknown) => expect(error).toMatchObject({ errorCode: 'DATABASE_CALL_FAILED' }));
        proxy.recover();
        expect((await store.readTable()).rows).toHaveLength(2);
        expect(proxy.open).toBe(1);
      },
    );

    it('that accepts and says nothing fails by itself after opTimeoutMs', async () => {
      const impatient = openStore({ ...database.options, port: proxy.port } as typeof database.options, {
        opTimeoutMs: 1_000,
      });
      proxy.silenceAfter(0);
      await expect(impatient.readTable()).rejects.toMatchObject({ errorCode: 'DATABASE_CALL_FAILED' });
      proxy.recover();
      expect((await impatient.readTable()).rows).toHaveLength(2);
      await impatient.close();
    });

    it('that has fallen silent is closed after opTimeoutMs', async () => {
      const through = { ...database.options, port: proxy.port } as typeof database.options;
      const impatient = openStore(through, { opTimeoutMs: 1_000 });
      expect((await impatient.readTable()).rows).toHaveLength(2);
      proxy.silenceAfter(0);
      let isClosed = false;
      void impatient.close().then(() => (isClosed = true));
      await until('it to be closed', () => isClosed);
      await expect(impatient.readTable()).rejects.toMatchObject({ errorCode: 'CLOSED' });
    });

    it('that the server ended while it was idle costs no failed call', async () => {
      const others = await new DataSource(database.options).initialize();
      await others.query(
        kind === 'postgres'
          ? 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
          : await killOthers(others),
      );
      await until('it to hear of that', () => store['database']['connection']?.isUsable === false);
      expect(await takeRow(store, 1)).toBe(true);
      await others.destroy();
    });

    it('that is refused says why, without the password', async () => {
      const options = { ...database.options, port: 1, password: 'hush-hush' } as typeof database.options;
      const error = await openStore(options)
        .readTable()
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({ errorCode: 'DATABASE_CALL_FAILED', driverCode: 'ECONNREFUSED', retryable: true });
      expect((error as Error).message).toContain('ECONNREFUSED');
      expect(JSON.stringify(error) + (error as Error).stack).not.toContain('hush-hush');
    });
  });

  describe.each(databaseKinds)('a script that forgets to close its store on %s', (kind) => {
    it('ends by itself, and not before its calls are answered', async () => {
      const database = await testDatabase(kind);
      const hook = join(fixtures, 'typescript-hook.cjs');
      const env = { ...process.env, RAINDROP_TEST_DATABASE: JSON.stringify(database.options) };
      const script = ['--require', hook, join(fixtures, 'support/stores/write-and-end.ts')];
      // opTimeoutMs is ten minutes there: no timer of ours may be what it waits for.
      const { stdout, stderr } = await promisify(execFile)(process.execPath, script, { env, timeout: 100_000 });
      expect({ stdout, stderr }).toEqual({ stdout: 'written true, rows 2\n', stderr: '' });
      await database.drop();
    });
  });

  async function killOthers(others: DataSource): Promise<string> {
    const rows = await others.query<{ id: string }[]>(
      'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()',
    );
    expect(rows).toHaveLength(1);
    return `KILL ${rows[0]!.id}`;
  }
});
