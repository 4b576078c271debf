import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { run } from '../support/processes/run.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../support/servers/test-databases.js';
import { databaseUrl } from '../product/service/service-process.js';
import { runSuite, suiteCommand } from './suite.js';

const MAIN = join(__dirname, '../../libs/cli/dist/main.js');
const SENT = '9223372036854775807';
const ROUNDED = 9223372036854775807;
type Found = Record<string, unknown>;

const rounded = (column: string, cure: RegExp, path = 'column'): unknown => ({
  errorCode: 'ROUNDED_IDS',
  column,
  path,
  sent: SENT,
  received: ROUNDED,
  cure: expect.stringMatching(cure) as unknown,
});

/** Statements that make a table whose key the database fills. */
const filling = (kind: string, table: string, isText = false): string[] => {
  const name = kind === 'mariadb' ? `\`${table}\`` : `"${table}"`;
  const key = {
    postgres: 'bigserial PRIMARY KEY',
    mariadb: 'bigint AUTO_INCREMENT PRIMARY KEY',
    sqlite: isText ? 'text NOT NULL DEFAULT (hex(randomblob(8))) PRIMARY KEY' : 'integer PRIMARY KEY',
  }[kind]!;
  return [`DROP TABLE IF EXISTS ${name}`, `CREATE TABLE ${name} (id ${key})`];
};

/** The warning of it. */
const fills = (kind: string, place: string, table: string): unknown => {
  const cure = {
    postgres: `\\(default nextval.*ALTER TABLE "${table}" ALTER COLUMN "id" DROP DEFAULT`,
    mariadb: `\\(auto_increment\\).*ALTER TABLE .${table}. MODIFY .id. bigint\\(20\\) NOT NULL`,
    sqlite: `\\((integer primary key|default hex.*)\\).*make the table anew with "id" bigint NOT NULL`,
  }[kind];
  return expect.stringMatching(new RegExp(`^${place}: the database still fills ${table}\\.id ${cure}`));
};

describe.each(databaseKinds.filter((kind) => kind !== 'mysql'))('the precision of IDs on %s', (kind) => {
  let databases: TestDatabase[];
  beforeAll(async () => (databases = await Promise.all(Array.from({ length: 8 }, () => testDatabase(kind)))));
  afterAll(() => Promise.all(databases.map((each) => each.drop())));

  it.each([
    ['0.45', 'drizzle', 'precision', 0],
    ['1.0', 'drizzle-1', 'drizzle/precision', 6],
  ] as const)('of Drizzle %s', async (release, folder, script, first) => {
    const [database, numbers] = databases.slice(first);
    const all = ['orders.id', 'lines.id', 'lines.order_id'];
    const inJson = (...places: string[]): string[] => places.flatMap((each) => [each, `${each} in JSON`]);
    const found = await runSuite<Found>(folder, script, { database, numbers, fill: filling(kind, 'lines') });
    // Drizzle 1.0 selects the IDs of a relation as texts.
    const unlessAsTexts = (result: unknown): unknown => (release === '1.0' ? inJson(...all) : result);
    expect(found).toEqual({
      'the tables by name': all,
      'no tables': 'CONFIGURATION',
      'a key that the database fills': [fills(kind, 'lines.id', 'lines')],
      'no service': 'NO_OPEN_SERVICE',
      numbers: inJson(...all),
      ...{
        postgres: {
          'with relations': unlessAsTexts(
            rounded(
              'orders.id',
              /setTypeParser\(pg\.types\.builtins\.JSON, exactJson\), with exactJson of @raindrop\/orm\/drizzle$/,
              'json',
            ),
          ),
          'with relations and exactJson': inJson(...all),
          'a parser of int8': rounded('orders.id', /types\.setTypeParser\(20, \.\.\.\), pg\.defaults\.parseInt8/),
          'a parser of int8 to bigint': all,
          'numbers, parsed': inJson(...all),
          control: '9223372036854776000',
        },
        sqlite: { 'with relations': inJson(...all) },
        mariadb: {
          'with relations': unlessAsTexts({
            exact: all,
            warnings: all.map((each) => expect.stringMatching(`^${each}: .with. is refused`) as unknown),
          }),
          'without supportBigNumbers': rounded('orders.id', /supportBigNumbers is off: set supportBigNumbers: true$/),
          typeCast: all,
        },
      }[kind],
    });
  });

  it.each(['0.29', '0.28'])('of Kysely %s, on the first connection', async (release) => {
    const cure = {
      postgres: /OID 20/,
      mariadb: /supportBigNumbers: true, and a typeCast/,
      sqlite: /defaultSafeIntegers\(\)/,
    }[kind];
    const json = {
      exact: ['orders.id'],
      warnings: [expect.stringMatching(/^orders\.id: JSON of a query.*as|to text/)],
    };
    const inserted = 'inserted, with its ID';
    const found = await runSuite<Found>('kysely', 'precision', {
      database: databases[2]!.options,
      release,
      fill: filling(kind, 'orders'),
    });
    expect(found).toEqual({
      exact: json,
      bigint: json,
      rounding: rounded('orders.id', cure),
      'rounding, first query and the next': ['ROUNDED_IDS', 'ROUNDED_IDS', 'ROUNDED_IDS'],
      'rows of it': 0,
      'exact, first query and the next': [inserted, inserted],
      'many at once': ['ROUNDED_IDS'],
      'rounding, IDs that numbers hold': ['orders.id'],
      'rounding, keys of text': [[], inserted],
      'rounding, tables that migrations make and change': ['ROUNDED_IDS', inserted, 'ROUNDED_IDS'],
      'rounding, in a join and a subquery': ['ROUNDED_IDS', 'ROUNDED_IDS'],
      'a service that is opened later': 'ROUNDED_IDS',
      'no service': 'NO_OPEN_SERVICE',
      'a key that the database fills': [[fills(kind, 'orders.id', 'orders')], [fills(kind, 'orders.id', 'orders')]],
      'another dialect': 'CONFIGURATION',
      'a database that is down': true,
      ...(kind === 'mariadb' && { typeCast: rounded('orders.id', cure) }),
      ...(kind === 'postgres' && {
        statements: [5, 1],
        'many at once, on connections of their own': [1, true],
        'a look that the server refuses, before transactions': [
          [inserted],
          ['select', 'begin', 'insert', 'commit'],
          10,
        ],
        'a look that hangs, beside another query': [inserted, inserted],
        'a connection that dies during the look': ['fails as without a look', inserted, inserted, 1],
      }),
    });
  });

  it.each(['mikro-orm', 'mikro-orm-6'])('of %s', async (folder) => {
    const script = folder === 'mikro-orm' ? 'precision' : 'mikro-orm/precision';
    const all = ['orders.id', 'items.id'];
    const found = await runSuite<Found>(folder, script, {
      database: databases[3]!.options,
      fill: filling(kind, 'items'),
    });
    expect(found).toEqual({
      'as it is': all,
      bigint: all,
      number: all,
      'no service': 'NO_OPEN_SERVICE',
      'no keys of ours': 'CONFIGURATION',
      'a key that the database fills': [fills(kind, 'items.id', 'items')],
      ...(kind === 'postgres' && {
        types: rounded('orders.id', /^The pool's own types make a number of int8/),
        'a parser of the process': rounded('orders.id', /types\.setTypeParser\(20/),
        'number, parsed': all,
      }),
      ...(kind === 'mariadb' && {
        typeCast: rounded('orders.id', /typeCast is set: let it call next\(\) for LONGLONG/),
        'a setting': rounded('orders.id', folder === 'mikro-orm' ? /supportBigNumbers is off/ : /bigIntAsNumber is on/),
      }),
    });
  });

  it.each(kind === 'mariadb' ? ['mariadb', 'mysql'] : [kind])('of Sequelize, dialect %s', async (dialect) => {
    const all = ['customers.id', 'orders.id', 'items.id', 'tags.id', 'taggings.id'];
    const found = await runSuite<Found>('sequelize', 'precision', {
      database: databases[4]!.options,
      dialect,
      fill: filling(kind, 'orders', true),
    });
    expect(found).toEqual({
      'as it is': all,
      bigint: all,
      number: all,
      typed: all,
      'no service': 'NO_OPEN_SERVICE',
      'no keys of ours': 'CONFIGURATION',
      'without withSnowflakes()': 'CONFIGURATION',
      'a key that the database fills': [fills(kind, 'orders.id', 'orders')],
      'a database that is down': expect.stringMatching(
        kind === 'sqlite' ? /^Error$/ : /^SequelizeConnection.*Error$/,
      ) as unknown,
      ...{
        postgres: {
          'a parser of the process': rounded('customers.id', /types\.setTypeParser\(20/),
          'number, parsed': all,
          control: '9223372036854776000',
        },
        mariadb: {
          typeCast: rounded('customers.id', /typeCast is set: let it call next\(\) for LONGLONG/),
          'a setting': rounded('customers.id', /supportBigNumbers is off/),
        },
        sqlite: {
          'a bigint of a migration': rounded('orders.id', /^sqlite3 .*: make the column a text$/),
          'number, a bigint of a migration': all,
          'an integer primary key': rounded('orders.id', /make the column a text$/),
          'a varchar of a migration': all,
          control: '9223372036854776000',
        },
      }[kind],
    });
  });

  it('of Prisma', async () => {
    const all = ['Customer.id', 'Profile.id', 'Order.id', 'Line.id', 'Tag.id', 'Bare.id', 'Typed.publicId'];
    const keys = [...all, 'Parcel.id', 'Item.id', 'Item.publicId'];
    const cure = {
      postgres: /pg\.types\.setTypeParser\(20, \.\.\.\) or pg\.defaults\.parseInt8\. Remove it$/,
      mariadb: /leave bigIntAsNumber out of its options$/,
      sqlite: /PrismaBetterSqlite3 does not: use it as it is$/,
    }[kind];
    // Prisma makes a bigint of the driver's number.
    const received = kind === 'sqlite' ? '9223372036854776000' : '9223372036854775808';
    const lost = { ...(rounded('Customer.id', cure) as object), received };
    const found = await runSuite<Found>('prisma', 'precision', {
      database: databases[5]!.options,
      fill: filling(kind, 'Bare'),
    });
    expect(found).toEqual({
      'as it is': keys,
      'with further extensions': keys,
      'a key that the database fills': [fills(kind, 'Bare.id', 'Bare')],
      'no extension': 'CONFIGURATION',
      'no service': ['NO_OPEN_SERVICE', keys],
      rounding: lost,
      'rounding, IDs that numbers hold': keys,
      // A wrong key is told, and lines get it as the key of their order: foreign keys refuse them, if there are any.
      control: [false, kind === 'mariadb' ? 0 : 'P2003'],
      // Text fields have bigint columns where the suite makes them so.
      texts: kind === 'sqlite' ? [] : keys,
      'texts, rounding': kind === 'sqlite' ? [] : lost,
      ...(kind === 'postgres' && {
        'texts, relationJoins': {
          exact: keys,
          warnings: keys.map((each) => expect.stringMatching(`^${each}: Prisma refuses .* \\(P2023\\)`) as unknown),
        },
        relationJoins: keys,
        'a relation of relationJoins': true,
        'types of the pool': keys,
        parseInt8: lost,
      }),
      ...(kind === 'mariadb' && { 'settings that do not round': [keys, keys, keys] }),
    });
  });
});

describe.each(databaseKinds.filter((kind) => kind === 'mariadb' || kind === 'postgres'))(
  'raindrop doctor --app on %s',
  (kind) => {
    let database: TestDatabase;
    beforeEach(async () => {
      database = await testDatabase(kind);
      const source = await new DataSource(database.options).initialize();
      await source.query('CREATE TABLE orders (id bigint NOT NULL PRIMARY KEY)');
      await source.destroy();
    });
    afterEach(() => database.drop());

    const fill = async (table: string): Promise<void> => {
      const source = await new DataSource(database.options).initialize();
      for (const statement of filling(kind, table)) await source.query(statement);
      await source.destroy();
    };

    const doctor = async (orm: string, isExact: boolean): Promise<{ code: number | null; lines: string[] }> => {
      const url = databaseUrl(database.options);
      const [node, script] = suiteCommand(orm, orm === 'drizzle-1' ? 'drizzle/app' : 'app', {}) as [string, string];
      const environment = { APP: JSON.stringify({ kind, url, isExact }), DATABASE_URL: undefined };
      const { code, stdout, stderr } = await run([node, MAIN, 'doctor', '--app', script], { environment });
      return { code, lines: `${stdout}${stderr}`.trim().split('\n') };
    };

    it.each<readonly [string, string, string, string]>([
      ['drizzle', 'db (Drizzle)', 'orders.id', 'lines'],
      ['drizzle-1', 'db (Drizzle)', 'orders.id', 'lines'],
      ['kysely', 'default (Kysely)', 'orders.id', 'orders'],
      ['prisma', 'prisma (Prisma)', 'Customer.id', 'Customer'],
      ...(kind === 'postgres' ? [['mikro-orm', 'orm (MikroORM)', 'order.id', 'order'] as const] : []),
      ['sequelize', 'sequelize (Sequelize)', 'Orders.id', 'Orders'],
    ])('looks at the database of %s, and ends', async (orm, name, key, table) => {
      const exact = await doctor(orm, true);
      expect(exact.lines[0]).toContain(`ok    precision       ${name}: IDs keep their digits: ${key}`);
      const warns = orm === 'kysely' || (orm === 'drizzle' && kind === 'mariadb');
      expect(exact.code).toBe(warns ? 3 : 0);
      const rounds = await doctor(orm, false);
      // Drizzle 1.0 loads relations with IDs as texts, whatever pg makes of JSON.
      if (orm === 'drizzle-1' && kind === 'postgres') expect(rounds).toEqual(exact);
      else
        expect(rounds).toEqual({
          code: 1,
          lines: [
            expect.stringMatching(
              /^fail {2}precision .*: the connection returns 922337203685477\d+ \(a (number|bigint)\) for the ID/,
            ),
            expect.stringMatching(/^ +-> \w/),
          ],
        });
      await fill(table);
      const filled = await doctor(orm, true);
      const warned = expect.stringMatching(`^warn  precision .*: the database still fills ${table}\\.id `) as string;
      expect(filled).toMatchObject({ code: 3, lines: expect.arrayContaining([warned]) as string[] });
    });
  },
);
