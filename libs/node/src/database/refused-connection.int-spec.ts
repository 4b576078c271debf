import type { DataSourceOptions } from 'typeorm';
import { ENDINGS, RefusingProxy } from '../../../../test/support/proxies/refusing-proxy.js';
import { refusalsOf } from '../../../../test/support/proxies/refusals.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { until } from '../../../../test/support/until.js';
import { OwnDatabase } from './own-database.js';
import { overBothPorts, sqlDatabase } from '../../../../test/support/stores/sql-database.js';

overBothPorts(() => {
  // An error that nobody listens to would end the process; here it fails the test that runs.
  describe.each(databaseKinds.filter((kind) => kind !== 'sqlite'))('a connection that %s refuses', (kind) => {
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

      it('while it is closed is no trouble of anybody else', async () => {
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
