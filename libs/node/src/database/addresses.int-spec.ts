import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { FlakyProxy } from '../../../../test/support/proxies/flaky-proxy.js';
import { overBothPorts, sqlDatabase } from '../../../../test/support/stores/sql-database.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { until } from '../../../../test/support/until.js';
import { withAddresses } from './addressed-connection.js';
import { OwnDatabase } from './own-database.js';

const OP_TIMEOUT_MS = 2_000;
/** No server listens there. */
const CLOSED = 1;

overBothPorts(() => {
  describe.each(databaseKinds.filter((kind) => kind !== 'sqlite'))('several addresses of %s', (kind) => {
    let server: TestDatabase;
    let silent: Server;
    const silenced = new Set<Socket>();
    const opened: OwnDatabase[] = [];
    const proxies: FlakyProxy[] = [];
    const strays: unknown[] = [];
    const note = (error: unknown): void => void strays.push(error);

    const open = (ports: readonly number[], more: object = {}, opTimeoutMs = OP_TIMEOUT_MS): OwnDatabase => {
      const addresses = ports.map((port) => sqlDatabase({ ...server.options, port, ...more }));
      // What takes longer altogether fails, as a renewal would.
      const database = new OwnDatabase(withAddresses(addresses), { opTimeoutMs, statementTimeoutMs: opTimeoutMs });
      opened.push(database);
      return database;
    };
    const serverPort = (): number => (server.options as { port: number }).port;
    const silentPort = (): number => (silent.address() as AddressInfo).port;
    const ask = (database: OwnDatabase): Promise<unknown> =>
      database.call(async (run) => (await run('SELECT 1 AS one')).records.length);

    const proxied = async (): Promise<FlakyProxy> => {
      const { host, port } = server.options as { host: string; port: number };
      const proxy = await FlakyProxy.start({ host, port });
      proxies.push(proxy);
      return proxy;
    };

    beforeAll(async () => {
      process.on('unhandledRejection', note).on('uncaughtException', note);
      server = await testDatabase(kind);
      silent = createServer((socket) => void silenced.add(socket.on('error', () => undefined).resume()));
      await once(silent.listen(0, '127.0.0.1'), 'listening');
    });

    afterEach(async () => {
      await Promise.all(opened.splice(0).map((database) => database.close()));
      await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
      expect(strays).toEqual([]);
    });

    afterAll(async () => {
      process.off('unhandledRejection', note).off('uncaughtException', note);
      for (const socket of silenced) socket.destroy();
      silent.close();
      await server.drop();
    });

    it('are used in turn: one that refuses, and those that say nothing, leave time for the call', async () => {
      const database = open([CLOSED, silentPort(), silentPort(), silentPort(), serverPort()]);
      expect(await ask(database)).toBe(1);
      const warnings = (await database.durabilityWarnings()).filter((each) => each.includes('is unusable'));
      expect(warnings).toHaveLength(4);
      expect(warnings[0]).toMatch(/1\. 127\.0\.0\.1:1 .*ECONNREFUSED/);
      expect(warnings[1]).toMatch(/2\. 127\.0\.0\.1:\d+ .*no answer within 1000 ms/);
    });

    it('may lead to one server, of which one session is kept', async () => {
      const [one, other] = [await proxied(), await proxied()];
      const database = open([one.port, other.port]);
      expect(await ask(database)).toBe(1);
      await until('the second session to be closed', () => one.open === 1 && other.open === 0);
      expect(await database.durabilityWarnings()).not.toContainEqual(expect.stringContaining('is unusable'));
    });

    it('are named with what is wrong with each, and without secrets', async () => {
      const error = await ask(open([CLOSED, silentPort()], { password: 'hush-hush' })).catch(
        (reason: unknown) => reason,
      );
      expect(error).toMatchObject({ errorCode: 'DATABASE_CALL_FAILED', retryable: true });
      const { message, stack } = error as Error;
      expect(message).toMatch(
        /no address is usable: 1\. 127\.0\.0\.1:1 .*ECONNREFUSED.*; 2\. .*: no answer within 1000 ms/,
      );
      expect(message + stack + JSON.stringify(error)).not.toContain('hush-hush');
    });

    it('that all refuse the account are not tried again', async () => {
      const database = open([serverPort(), serverPort()], { username: 'unknown_user', password: 'x' });
      await expect(ask(database)).rejects.toMatchObject({
        errorCode: 'DATABASE_REFUSED',
        refusal: 'account',
        retryable: false,
        reason: expect.stringMatching(/1\. .*2\. /) as string,
      });
    });

    it('are left for the next one after a loss; a session that is renewed stays', async () => {
      const [one, other] = [await proxied(), await proxied()];
      const database = open([one.port, other.port]);
      await ask(database);
      database.renewSession();
      await until('the new session', () => (database as unknown as { next?: { ageMs?: number } }).next?.ageMs);
      await ask(database);
      await until('the old session to be closed', () => one.open === 1 && other.open === 0);

      one.silenceAfter(0);
      await expect(ask(database)).rejects.toThrow('no answer within');
      // The first one is silent still; it is asked, and not waited for longer than its time.
      expect(await ask(database)).toBe(1);
      await until('the second address to serve', () => other.open === 1 && one.open === 0);
      one.recover();
      other.cut();
      await until(
        'the loss',
        () => (database as unknown as { connection?: { isUsable: boolean } }).connection?.isUsable === false,
      );
      expect(await ask(database)).toBe(1);
      await until('the first address to serve', () => one.open === 1 && other.open === 0);
    });

    it('are closed at once while they are tried', async () => {
      const database = open([silentPort(), silentPort()], {}, 240_000);
      const before = silenced.size;
      const failing = ask(database).catch((reason: unknown) => reason);
      await until('the connections', () => silenced.size === before + 2);
      let isClosed = false;
      void database.close().then(() => (isClosed = true));
      await until('the end of close()', () => isClosed);
      expect(await failing).toHaveProperty('errorCode');
    });

    it('are refused when they lead to two databases of one server', async () => {
      const second = await testDatabase(kind);
      const addresses = [server, second].map(({ options }) => sqlDatabase(options));
      const database = new OwnDatabase(withAddresses(addresses), { opTimeoutMs: OP_TIMEOUT_MS });
      opened.push(database);
      let served = 0;
      // On a busy machine an address may have no time left to answer.
      const conflict = await until('the refusal', async () => {
        const error = await ask(database).then(
          () => void served++,
          (reason: unknown) => reason as { errorCode: string },
        );
        return error?.errorCode === 'ADDRESS_CONFLICT' && error;
      });
      expect(conflict).toHaveProperty('retryable', true);
      expect(served).toBe(0);
      await second.drop();
    });
  });
});
