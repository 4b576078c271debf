import { DataSource } from 'typeorm';
import { testDatabase, type DatabaseKind, type TestDatabase } from '../servers/test-databases.js';

/**
 * Gives each test of a suite an empty database of its own, and a connection of its administrator.
 * @returns what the tests put in here is closed after each
 */
export function onFreshDatabase(
  kind: DatabaseKind,
  given: (database: TestDatabase, admin: DataSource) => unknown,
): { close(): Promise<void> }[] {
  const opened: { close(): Promise<void> }[] = [];
  let database: TestDatabase;
  let admin: DataSource;

  beforeEach(async () => {
    database = await testDatabase(kind);
    admin = await new DataSource(database.options).initialize();
    await given(database, admin);
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
    await admin.destroy();
    await database.drop();
  });

  return opened;
}
