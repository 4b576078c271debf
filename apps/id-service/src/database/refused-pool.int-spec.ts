import type { DataSource } from 'typeorm';
import type { ServiceDatabase } from './open-database.js';
import { dataSourceOptions, openDatabase } from './open-database.js';
import { ENDINGS, RefusingProxy } from '../../../../test/support/proxies/refusing-proxy.js';
import { refusalsOf } from '../../../../test/support/proxies/refusals.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { until } from '../../../../test/support/until.js';

/** More than the pool has connections. */
const MANY = 25;

// An error without a listener would end the process; here it fails the test that runs.
describe.each(databaseKinds.filter((kind) => kind !== 'sqlite'))(
  'The pool of the service, which %s refuses',
  (kind) => {
    let server: TestDatabase;
    const proxies: RefusingProxy[] = [];

    beforeAll(async () => {
      server = await testDatabase(kind);
    });

    afterAll(() => server.drop());

    afterEach(async () => {
      await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
    });

    /** Also those that were refused and left open. */
    const allClosed = (proxy: RefusingProxy): Promise<true> =>
      until('no connection to be left', () => proxy.open === 0);

    async function newProxy(): Promise<RefusingProxy> {
      const { host, port } = server.options as { host: string; port: number };
      const proxy = await RefusingProxy.start({ host, port });
      proxies.push(proxy);
      return proxy;
    }

    const open = ({ port }: RefusingProxy): Promise<DataSource> =>
      openDatabase(dataSourceOptions({ ...server.options, port } as unknown as ServiceDatabase));
    const askMuch = (dataSource: DataSource): Promise<PromiseSettledResult<unknown>[]> =>
      Promise.allSettled(Array.from({ length: MANY }, () => dataSource.query('SELECT 1')));

    const cases = refusalsOf(kind).flatMap((refusal) => ENDINGS.map((ending) => ({ ...refusal, ending })));

    it('at the start says why', async () => {
      const starts = cases.map(async ({ sayNo, ending, driverCode }) => {
        const proxy = await newProxy();
        proxy.refuse(sayNo, ending);
        await expect(open(proxy)).rejects.toMatchObject({ code: driverCode });
        await allClosed(proxy);
      });
      await Promise.all(starts);
    });

    it.each(cases)('with $title, and $ending, is well again with the server', async ({ sayNo, ending, driverCode }) => {
      const proxy = await newProxy();
      const dataSource = await open(proxy);
      await askMuch(dataSource);
      proxy.refuse(sayNo, ending);
      await until('the refusal', async () => {
        const answers = await askMuch(dataSource);
        return answers.every(
          (each) => each.status === 'rejected' && (each.reason as { code?: unknown }).code === driverCode,
        );
      });
      proxy.heal();
      await until('an answer', async () => (await askMuch(dataSource)).every(({ status }) => status === 'fulfilled'));
      await dataSource.destroy();
    });

    it('while it is closed lets no caller wait', async () => {
      const ends = cases.map(async ({ sayNo, ending }) => {
        const proxy = await newProxy();
        const dataSource = await open(proxy);
        proxy.refuse(sayNo, ending);
        await expect(Promise.allSettled([askMuch(dataSource), dataSource.destroy()])).resolves.toHaveLength(2);
        await allClosed(proxy);
      });
      await Promise.all(ends);
    });
  },
);
