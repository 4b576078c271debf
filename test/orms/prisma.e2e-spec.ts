import { issuingDatabase, makeIdFunction } from '../support/servers/id-function.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../support/servers/test-databases.js';
import { type Cells, record, recordedOn, withRawDeclared } from './matrix.js';
import { runDeclared, runSuite } from './suite.js';
import { UPSERTS } from './upserts.js';

const KILL_SECONDS = Number(process.env['RAINDROP_ORM_KILL_SECONDS'] ?? 5);

describe.each(databaseKinds)('Prisma on %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => (database = await testDatabase(kind)));
  afterAll(() => database.drop());

  it('fills or refuses every path, as docs/write-paths.md says', async () => {
    const found = await runSuite<Cells>('prisma', 'matrix', { database: database.options, upserts: UPSERTS });
    const cells = withRawDeclared(found, await runDeclared(['prisma', 'matrix'], kind));
    record('prisma', 'Prisma 7', kind, cells);
    expect(Object.keys(cells).length).toBeGreaterThan(20);
    // What differs is recorded by RAINDROP_RECORD_ORMS=1, and shown by `npm run docs`.
    expect(cells).toEqual(recordedOn('prisma', kind === 'mysql' ? 'mariadb' : kind));
  });

  (kind === 'postgres' ? it : it.skip)('fills keys whose default is a function of the database', async () => {
    const own = await issuingDatabase();
    await makeIdFunction(own.options, 'Shop.nextId');
    try {
      expect(await runSuite<object>('prisma', 'defaults', { database: own.options })).toEqual({
        'the function by its usual name': ['of the process', 'of the database', 'string'],
        'and one that the option names': ['of the process', 'of the process', 'string'],
        'by a list of keys': ['of the database', 'of the process', 'string'],
        raw: [true, true],
        check: [],
        'check of a column without its default': [
          expect.stringMatching(/^Issued\.id: Issued\.id has no default .* SET DEFAULT raindrop_id\(\)$/),
        ],
        'typed IDs': expect.stringMatching(
          /^CONFIGURATION: .* would write a number into a text column of IDs/,
        ) as unknown,
        'another database, by the option of all fields': expect.stringMatching(
          /^CONFIGURATION: .* snowflakes\(\): databaseDefault = raindrop_id\(\): is for/,
        ) as unknown,
        'another database, by that option and a field without one': expect.stringMatching(
          /^CONFIGURATION: .* databaseDefault = raindrop_id\(\): is for/,
        ) as unknown,
        'another database': expect.stringMatching(
          /^CONFIGURATION: .* Order\.id: databaseDefault = raindrop_id\(\): is for/,
        ) as unknown,
      });
    } finally {
      await own.drop();
    }
  });

  (kind === 'postgres' ? it : it.skip)('gives better-auth its keys, as BigInt and as String', async () => {
    const signed = { key: 'string', digits: true, session: true, again: true, account: [true] };
    const found = await runSuite<object>('prisma', 'better-auth', { database: database.options });
    expect(found).toEqual({ BigInt: signed, String: signed });
  });

  it('does beside what its text says, and controls show what it is without', async () => {
    const key = 'must be a field of type BigInt or String';
    const notShown = 'the client does not show its data model as those of Prisma 7 do';
    expect(await runSuite<object>('prisma', 'checks', { database: database.options })).toEqual({
      'control: without the extension': 'NOT NULL',
      'control: an extension that fills what is asked for': ['bigint', 'NOT NULL'],
      'a typed ID and a second key, with options for each': [true, 'bigint', null, 36, ['typed', null]],
      'typed IDs in a composite key': {
        unique: 1,
        'another unique key': true,
        in: 1,
        OR: 2,
        cursor: [3],
        'by the relation': 3,
        connected: true,
        deleted: 3,
        gone: 3,
        left: 1,
      },
      'a typed ID in a bigint column': 'CONFIGURATION',
      'a model without keys': { id: '1' },
      ...(kind === 'sqlite' && { 'prisma-client-js': 'bigint' }),
      'no service': 'NO_OPEN_SERVICE',
      'a service that is opened later, then closed': ['bigint', 'NO_OPEN_SERVICE'],
      'a function that returns the service': 'bigint',
      'a transaction of several calls, of which one gets no ID': ['NONE_LEFT', 'NONE_LEFT', 'NONE_LEFT', 0],
      'rows that are one object, and JSON that looks like relations': [2, true],
      'one extension of two clients, and one transaction in another': 3,
      'a number that has lost digits': 'UNSAFE_SNOWFLAKE',
      'the relation of what was created': ['bigint', 'bigint'],
      'twenty at once': 20,
      'a relation that is left out, or not as it should be': [
        'bigint',
        ...Array.from({ length: 5 }, () => 'by Prisma'),
      ],
      'wrong options': [
        '  - snowflakes() = 5: must get an IdService, a function that returns one, or options',
        '  - snowflakes(): prefx = (string): is not an option; did you mean prefix?',
        `  - snowflakes(): as = 'bigint': is not an option: the type of the field says the form`,
        expect.stringContaining('must be an IdService'),
        expect.stringContaining('  - Customer.id: prefix'),
        expect.stringContaining(`  - models.Orders = 'Orders': must be one of Customer, Profile, Order`),
        `  - models.Order = 'id': must be a list of fields, or options for each: { Order: ['id'] }`,
        `  - Order.ident = undefined: ${key}`,
        `  - Order.data = 'Json': ${key}`,
        `  - Order.lines = undefined: ${key}`,
        expect.stringContaining('  - Order.id: prefix'),
        '  - models = undefined: no field is a key: mark them in the schema, id BigInt @id @default(dbgenerated())',
        `  - $extends = undefined: ${notShown}`,
      ],
    });
  });

  it('gets no wrong ID from calls and schedules that lie in wait for one', async () => {
    const refused = 'INSERT_REFUSED key-update';
    expect(await runSuite<object>('prisma', 'edge-cases', { database: database.options })).toEqual({
      'other names in the database, a key of two fields, a parent that the database counts': [
        true,
        '10 of 10',
        1,
        true,
      ],
      'an upsert that repeats the key by which it finds the row': [true, true, refused, refused, refused, refused],
      'a field named data, of JSON that looks like relations': [
        [{ tags: { create: { one: 1 } } }, 0],
        [{ two: 2 }, 1],
        [[{ tags: { create: {} } }], 2],
        ['changed', 3],
        ['changed', 4],
      ],
      'an extension before it that runs each call twice at once': [[{ count: 2 }, { count: 2 }], '2 of 2'],
      // An extension behind it sends the IDs that it sees.
      'an extension before it, and one behind it, that sends a call again': [true, 'duplicate key'],
      'an extension behind it that asks for a relation, whose keys another one shows as texts': ['string', 'string'],
      'one promise, several times': '5 of 5',
      'a client that is a class of the application': true,
      'an extension that Prisma defines': true,
      'a result without the key': [false, true, true],
      'keys of the caller': ['7', '8', '30586178364244025', 'UNSAFE_SNOWFLAKE', 'by Prisma', 'by Prisma'],
      'rows of the caller, used again and frozen': ['2 of 2', '6 of 6', ['name']],
      'a program whose bigints become numbers in JSON': [true, true],
      'a service that is closed in a transaction': ['CLOSED', 0],
      'a service that loses its lease': ['WAIT_TIMEOUT', true, true],
      'a transaction that waits for the next tick': 1,
    });
  });

  // On idle cores, by RAINDROP_ORM_COST=1: it asserts nothing.
  (process.env['RAINDROP_ORM_COST'] === undefined ? it.skip : it)('tells what IDs add to 1,000 rows', async () => {
    const found = await runSuite('prisma', 'cost', { database: database.options });
    process.stdout.write(`${kind}: ${JSON.stringify(found)}\n`);
  });

  interface Counted {
    readonly kills: number;
    readonly rows: number;
    readonly without: number;
    readonly twice: number;
  }
  const kill = (given: object): Promise<Counted> =>
    runSuite<Counted>('prisma', 'kills', { database: database.options, seconds: KILL_SECONDS, ...given });

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
