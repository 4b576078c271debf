import type { DataSource } from 'typeorm';
import type { ServiceDatabase } from './open-database.js';
import { dataSourceOptions, openDatabase } from './open-database.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';

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

  it('opens, however many begin at the same time on an empty database', async () => {
    const opened = await Promise.all(Array.from({ length: 8 }, open));
    for (const dataSource of opened) {
      expect(await dataSource.query<object[]>('SELECT 1')).toHaveLength(1);
      await dataSource.destroy();
    }
  });

  it('leaves nothing for migration:generate to do', async () => {
    const dataSource = await open();
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    await dataSource.destroy();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });
});
