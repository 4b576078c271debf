import type { DataSource } from 'typeorm';
import type { ServiceDatabase } from '../../../apps/id-service/src/database/database-url.js';
import { dataSourceOptions, openDatabase } from '../../../apps/id-service/src/database/open-database.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';

describe.each(databaseKinds)('openDatabase on %s', (kind) => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await testDatabase(kind);
  });

  afterEach(() => database.drop());

  const open = (): Promise<DataSource> => {
    const options = dataSourceOptions(database.options as ServiceDatabase);
    // All in one process here: the driver's own waiting would stop the one that is waited for.
    return openDatabase(kind === 'sqlite' ? Object.assign(options, { timeout: 0 }) : options);
  };

  it('makes the tables once, however many begin at the same time', async () => {
    const opened = await Promise.all(Array.from({ length: 8 }, open));
    const names = await opened[0]!.query<{ name: string }[]>('SELECT DISTINCT name FROM migrations');
    expect(names).toEqual([{ name: 'CreateOrders1767225600000' }]);
    for (const dataSource of opened) {
      expect(await dataSource.getRepository('Order').count()).toBe(0);
      await dataSource.destroy();
    }
  });

  it('finishes a migration that was killed half-way', async () => {
    const before = await open();
    await before.query('DROP TABLE demo_order_item');
    await before.query('DELETE FROM migrations');
    await before.destroy();
    const after = await open();
    expect(await after.getRepository('OrderItem').count()).toBe(0);
    await after.destroy();
  });

  it('leaves nothing for migration:generate to do', async () => {
    const dataSource = await open();
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    await dataSource.destroy();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });
});
