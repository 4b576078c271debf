import { testDatabase, type TestDatabase } from '../support/servers/test-databases.js';
import { record, recordedOn } from './matrix.js';
import { runSuite } from './suite.js';
import { UPSERTS } from './upserts.js';

type Cells = Record<string, Record<string, string>>;
const KILL_SECONDS = Number(process.env['RAINDROP_ORM_KILL_SECONDS'] ?? 5);

// Prisma 8 has no package for MariaDB and MySQL.
describe('Prisma 8 on PostgreSQL', () => {
  let database: TestDatabase;
  beforeAll(async () => (database = await testDatabase('postgres')));
  afterAll(() => database.drop());

  it('fills or refuses every path, as docs/write-paths.md says', async () => {
    const found = await runSuite<Cells>('prisma-8', 'matrix', { database: database.options, upserts: UPSERTS });
    record('prisma-8', 'Prisma 8.0.0-rc.13 (PostgreSQL)', 'postgres', found);
    expect(Object.keys(found).length).toBeGreaterThan(35);
    // What differs is recorded by RAINDROP_RECORD_ORMS=1, and shown by `npm run docs`.
    expect(found).toEqual(recordedOn('prisma-8', 'postgres'));
  });

  it('does beside what its text says, and controls show what it is without', async () => {
    const key = 'must be a field with @default(snowflake()): one of Bare.id, Customer.id, ';
    const refused = [...Array.from({ length: 4 }, () => 'INSERT_REFUSED unfilled'), 0];
    expect(await runSuite<object>('prisma-8', 'checks', { database: database.options })).toEqual({
      'fields of a contract': {
        BigInt: 'emitted',
        BigIntNumber: 'emitted',
        String: 'emitted',
        VarChar: 'emitted',
        Int: 'PSL_INVALID_DEFAULT_APPLICABILITY',
        'BigInt?': 'PSL_INVALID_DEFAULT_FUNCTION_ARGUMENT',
        'with an argument': 'PSL_INVALID_ATTRIBUTE_SYNTAX',
        'without the extension': 'PSL_INVALID_ATTRIBUTE_SYNTAX',
      },
      'a client without the extension': 'RUNTIME.MISSING_EXTENSION_PACK',
      'a client without the middleware, bigint': refused,
      'a client without the middleware, text': refused,
      'a client without the middleware, number': refused,
      'a typed ID and a second key, with options for each': ['typed_...', 'bigint', true, ['rows', 'typed', 'rows']],
      'a table of its own for each kind': [true, true],
      'keys of the caller': ['7', 'RUNTIME.ENCODE_FAILED', 'UNSAFE_SNOWFLAKE', 'NOT NULL'],
      'twenty at once': 20,
      'a transaction of several rows, of which one gets no ID': ['NONE_LEFT', 0],
      'no service': 'NO_OPEN_SERVICE',
      'a service that is opened later, then closed': ['bigint', 'NO_OPEN_SERVICE'],
      'a function that returns the service': 'bigint',
      'worker tables in a schema of their own': [expect.any(Number), [], true],
      'control: a worker table beside those of the application': [['dropTable.soc_raindrop_worker'], false],
      'a default that the contract does not have': [['dropDefault.Order.id'], false],
      'a driver that rounds': 'RUNTIME.DECODE_FAILED',
      'wrong options': [
        '  - snowflakes() = 5: must get an IdService, a function that returns one, or options',
        '  - snowflakes(): prefx = (string): is not an option; did you mean prefix?',
        `  - snowflakes(): as = 'bigint': is not an option: the type of the field says the form`,
        expect.stringContaining('must be an IdService'),
        `  - snowflakes(): target = 'mysql': must be 'postgres' or 'sqlite'`,
        expect.stringContaining('  - snowflakes(): databaseDefault = true: is no option of Prisma 8'),
        expect.stringContaining(`  - models.Order.ident = {}: ${key}`),
        expect.stringContaining(`  - models.Orders.id = {}: ${key}`),
        expect.stringContaining('  - Order.id: prefix'),
      ],
    });
  });

  interface Counted {
    readonly kills: number;
    readonly rows: number;
    readonly without: number;
    readonly twice: number;
  }
  const kill = (given: object): Promise<Counted> =>
    runSuite<Counted>('prisma-8', 'kills', { database: database.options, seconds: KILL_SECONDS, ...given });

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

describe('Prisma 8 on SQLite', () => {
  let database: TestDatabase;
  beforeAll(async () => (database = await testDatabase('sqlite')));
  afterAll(() => database.drop());

  it('comes out with text keys as on PostgreSQL, on every path', async () => {
    const found = await runSuite<Cells>('prisma-8', 'matrix', { database: database.options, upserts: UPSERTS });
    const onPostgres = recordedOn('prisma-8', 'postgres') as Cells;
    expect(Object.keys(onPostgres).length).toBeGreaterThan(35);
    expect(found).toEqual(
      Object.fromEntries(Object.entries(onPostgres).map(([path, { text }]) => [path, { text: text! }])),
    );
  });
});
