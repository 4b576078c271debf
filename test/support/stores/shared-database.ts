import { DataSource } from 'typeorm';
import { testDatabase, type DatabaseKind, type TestDatabase } from '../servers/test-databases.js';

/** One database for the tests of a suite, each of which has tables of its own. */
export interface SharedDatabase {
  readonly options: TestDatabase['options'];
  /** The connection of its administrator. */
  readonly admin: DataSource;
  /** A name that no other test of the suite has. */
  tableName(like: string): string;
}

/** To make a database takes longer than most tests of a store. */
export function onSharedDatabase(kind: DatabaseKind): SharedDatabase {
  let database: TestDatabase;
  let admin: DataSource;
  let tables = 0;

  beforeAll(async () => {
    database = await testDatabase(kind);
    admin = await new DataSource(database.options).initialize();
  });

  afterAll(async () => {
    await admin.destroy();
    await database.drop();
  });

  return {
    get options() {
      return database.options;
    },
    get admin() {
      return admin;
    },
    tableName: (like) => `${like}_${++tables}`,
  };
}
