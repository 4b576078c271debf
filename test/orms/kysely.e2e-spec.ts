import { databaseKinds, testDatabase, type TestDatabase } from '../support/servers/test-databases.js';
import { record, recordedOn } from './matrix.js';
import { runSuite } from './suite.js';

const RELEASES = ['0.29', '0.28'] as const;
const KILL_SECONDS = Number(process.env['RAINDROP_ORM_KILL_SECONDS'] ?? 5);

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

  it.each(RELEASES)('%s does beside what its text says, and controls show what it is without', async (release) => {
    const isSqlite = kind === 'sqlite';
    expect(
      await runSuite<Record<string, unknown>>('kysely', 'checks', { database: database.options, release }),
    ).toEqual({
      'control: without the dialect': 'NOT NULL',
      'control: a plugin instead': expect.stringMatching(/ER_DUP_ENTRY|23505|SQLITE_CONSTRAINT_PRIMARYKEY/) as unknown,
      'compiled once, run twice': 'two rows',
      withoutPlugins: 'filled',
      withSchema: 'filled',
      'another schema': 'NOT NULL',
      'names below CamelCasePlugin, two keys, options for each': {
        insertId: 'undefined',
        codes: [null, 'line', null, null, 'line', 'line'],
        lines: [1, 2, 3],
        ids: ['bigint', 'bigint', 'bigint'],
        publicIds: true,
      },
      'insertId of several rows, of an upsert, of one that did nothing': ['undefined', 'undefined', 'undefined'],
      'a compiled query run by another driver': isSqlite
        ? (expect.stringContaining('TypeError: SQLite3 can only bind') as unknown)
        : 'INSERT_REFUSED unfilled',
      'what a log shows': '["x","a new ID of orders.id"]',
      'a driver that rounds': {
        plain: 'a number that is rounded',
        ours: 'UNSAFE_SNOWFLAKE',
        streamed: 'UNSAFE_SNOWFLAKE',
      },
      'no service': 'NO_OPEN_SERVICE',
      'a service that is opened later, then closed': [1, 'NO_OPEN_SERVICE', 'CLOSED'],
      'wrong options': [
        `- columns = undefined: must say which columns get IDs: { orders: ['id'] }`,
        `- columns = {}: must say which columns get IDs: { orders: ['id'] }`,
        `- columns = {"orders":[]}: must say which columns get IDs in orders: { orders: ['id'] }`,
        `- orders.id: as = "text": must be one of 'string', 'bigint', 'number'`,
        '- orders.id: prefx = (string): is not an option; did you mean prefix?',
      ],
      'control: integer primary key of SQLite': isSqlite ? 1 : '-',
      'more rows than a tick has IDs': 20_000,
    });
  });

  interface Counted {
    readonly kills: number;
    readonly rows: number;
    readonly without: number;
    readonly twice: number;
  }
  const kill = (given: object): Promise<Counted> =>
    runSuite<Counted>('kysely', 'kills', {
      database: database.options,
      release: '0.29',
      seconds: KILL_SECONDS,
      ...given,
    });

  it('gives no key twice and no row none while its processes are killed', async () => {
    const { kills, rows, ...wrong } = await kill({});
    expect(wrong).toEqual({ without: 0, twice: 0 });
    expect(kills).toBeGreaterThan(1);
    expect(rows).toBeGreaterThan(100);
  });

  it('control: generators without a lease repeat keys under the same kills', async () => {
    const { twice, without } = await kill({ control: true });
    expect(without).toBe(0);
    expect(twice).toBeGreaterThan(0);
  });
});
