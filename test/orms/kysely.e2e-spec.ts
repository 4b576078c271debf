import { databaseKinds, testDatabase, type TestDatabase } from '../support/servers/test-databases.js';
import { record, recordedOn } from './matrix.js';
import { runSuite } from './suite.js';

const RELEASES = ['0.29', '0.28'] as const;

describe.each(databaseKinds)('Kysely on %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => (database = await testDatabase(kind)));
  afterAll(() => database.drop());

  it.each(RELEASES)('%s fills or refuses every path, as docs/orms.md says', async (release) => {
    const cells = await runSuite<Record<string, Record<string, string>>>('kysely', 'matrix', {
      database: database.options,
      release,
    });
    record('kysely', 'Kysely 0.28, 0.29', kind, cells);
    expect(Object.keys(cells).length).toBeGreaterThan(20);
    // What differs is recorded by RAINDROP_RECORD_ORMS=1, and shown by `npm run docs`.
    expect(cells).toEqual(recordedOn('kysely', kind === 'mysql' ? 'mariadb' : kind));
  });
});
