import { DataSource, type DataSourceOptions } from 'typeorm';
import type { TestDatabase } from './test-databases.js';

/** Opens a DataSource of the test's database with these entities. It is destroyed after the test. */
export type OpenDataSource = (entities: DataSourceOptions['entities'], more?: object) => Promise<DataSource>;

/** Gives each test of a suite a database of its own, which `make` makes, and DataSources there. */
export function onOwnDatabase(make: () => Promise<TestDatabase>): {
  readonly options: TestDatabase['options'];
  readonly open: OpenDataSource;
} {
  const opened: DataSource[] = [];
  let database: TestDatabase;

  beforeEach(async () => {
    database = await make();
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.destroy()));
    await database.drop();
  });

  return {
    get options() {
      return database.options;
    },
    open: async (entities, more = {}) => {
      const dataSource = await new DataSource({ ...database.options, entities, ...more }).initialize();
      opened.push(dataSource);
      return dataSource;
    },
  };
}
