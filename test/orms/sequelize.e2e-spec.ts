import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { blocksOf } from '../published/docs/documents.js';
import { Child } from '../support/processes/child.js';
import { issuingDatabase, makeIdFunction } from '../support/servers/id-function.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../support/servers/test-databases.js';
import { type Cells, record, recordedOn, withRawDeclared } from './matrix.js';
import { runDeclared, runSuite, suiteCommand } from './suite.js';
import { UPSERTS } from './upserts.js';

const KILL_SECONDS = Number(process.env['RAINDROP_ORM_KILL_SECONDS'] ?? 5);

/** Sequelize has a dialect for each of the two drivers of MariaDB. */
const DIALECTS: readonly (readonly [kind: (typeof databaseKinds)[number], dialect: string])[] = [
  ...databaseKinds.map((kind) => [kind, kind] as const),
  ['mariadb', 'mysql'],
];

describe.each(DIALECTS)('Sequelize on %s, dialect %s', (kind, dialect) => {
  let database: TestDatabase;
  const given = (): object => ({ database: database.options, dialect });
  beforeAll(async () => (database = await testDatabase(kind)));
  afterAll(() => database.drop());

  it('fills or refuses every path, as docs/write-paths.md says', async () => {
    const found = await runSuite<Cells>('sequelize', 'matrix', { ...given(), upserts: UPSERTS });
    const cells = withRawDeclared(found, await runDeclared(['sequelize', 'matrix'], kind));
    record('sequelize', 'Sequelize 6', kind, cells);
    expect(Object.keys(cells).length).toBeGreaterThan(20);
    // What differs is recorded by RAINDROP_RECORD_ORMS=1, and shown by `npm run docs`.
    expect(cells).toEqual(recordedOn('sequelize', kind === 'mysql' ? 'mariadb' : kind));
  });

  it('declares a default that the database has, and leaves inserts their IDs', async () => {
    const own = kind === 'postgres' ? await issuingDatabase() : database;
    if (kind === 'postgres') await makeIdFunction(own.options, 'Shop.nextId');
    const found = await runSuite<Record<string, unknown>>('sequelize', 'defaults', { database: own.options, dialect });
    const matching = (expression: RegExp): unknown => expect.stringMatching(expression);
    if (kind !== 'postgres') {
      const refusal = matching(
        /^CONFIGURATION: .* parcels\.id: databaseDefault = raindrop_id\(\): is for PostgreSQL, and the database is/,
      );
      const statements = [expect.not.stringMatching(/create|insert/i) as unknown];
      expect(found).toEqual({ 'refused by sync()': refusal, 'refused by create()': refusal, statements });
      return;
    }
    const defaults = (...[label, parcel, second]: readonly (string | null)[]): object => ({
      'labels.id': label,
      'labels.parcelId': null,
      'parcels.id': parcel,
      'parcels.second': second,
    });
    const call = 'raindrop_id()';
    expect(found).toEqual({
      made: defaults(call, call, call),
      'statements that ask the database': [],
      'a table without columns': 'none',
      rows: ['built', 'bulk', 'created', 'queried', 'queried, by its schema', 'raw', 'too'].map((title) => [
        title,
        ...Array.from({ length: 2 }, () => (title === 'raw' ? 'of the database' : 'of the process')),
      ]),
      ...Object.fromEntries(
        ['id', 'second'].map((name) => [
          `a hook that takes the key out of the fields: ${name}`,
          Array<unknown>(3).fill(matching(new RegExp(`^INSERT_REFUSED: parcels\\.${name} has no value in a create`))),
        ]),
      ),
      'rows of these': 0,
      altered: defaults(call, call, call),
      check: [],
      'check of a default that is not declared': 3,
      'altered without it': defaults(call, call, null),
      'made without it': defaults(null, null, null),
      'check of columns without a default': ['parcels.id', 'parcels.second', 'labels.id'].map((place) =>
        matching(new RegExp(`^${place}: ${place} has no default in the database.* SET DEFAULT raindrop_id\\(\\)$`)),
      ),
      'altered with it': defaults(null, null, call),
      'another function': '"Shop"."nextId"()',
      'control: a default of the application itself': true,
      'no name': matching(/^CONFIGURATION: .* databaseDefault = "next_id\(\)": must be true, false, or the name/),
    });
    await own.drop();
  });

  it('does what once went wrong, and what lies in wait for it', async () => {
    const isMysql = kind === 'mariadb' || kind === 'mysql';
    expect(await runSuite<Record<string, unknown>>('sequelize', 'checks', given())).toEqual({
      'without withSnowflakes()': ['CONFIGURATION', 'CONFIGURATION'],
      'wrong options': ['CONFIGURATION', 'CONFIGURATION'],
      'a key that counts': ['NOT NULL', true],
      'hooks of the application stay': ['define', 'create'],
      'a hook that takes the key out of the fields': 'INSERT_REFUSED unfilled',
      'what hooks after an insert see': ['its ID', 'its ID', 'its ID', 'null'],
      'what individual hooks of an upsert see': true,
      'items with a key that is null': 0,
      'a model that is defined again': [true, 'null'],
      'attributes of two models': [true, true],
      'a model of a model': true,
      'a model of another schema': true,
      'a key that is not the primary one': {
        typed: true,
        first: true,
        second: true,
        upserted: true,
        rows: 3,
        found: 'b',
      },
      'timestamps, soft deletion, versions': ['bigint', true, true, true],
      'the row was there, seen by no snapshot': true,
      'a replica that has nothing yet': kind === 'sqlite' ? true : [true, 'null', true],
      'two unique values of two rows': 'duplicate key',
      'a name of another column': [1, 1],
      'records stay as they are': [false, true, 0],
      'invalid conditions': ['INVALID_ID', 'INVALID_ID', 'INVALID_ID', null, []],
      'an invalid foreign key': 'INVALID_ID',
      'foreign keys that Sequelize makes': [true, [1, 2]],
      'an include with options of its own': [
        ...[
          [true, true],
          [null, true],
        ],
        ...['INSERT_REFUSED unfilled', 'INSERT_REFUSED unfilled', true],
      ],
      'an index with options': true,
      'an upsert of new rows and of one with its key, where the key alone is unique': ['a,after,b', true, true],
      'a unique key of ours before another unique attribute': Array.from({ length: 5 }, () => [true, true, true]),
      'a composite primary key with a key of ours': [true, true, true, 'by the key'],
      'statements that tell the keys of 1,200 rows that were there': [true, true],
      'values that the database shows in another form': isMysql ? ['0,1,2,0,-1', true] : true,
      'a key in a migration': 'CONFIGURATION',
      'a service that fails inside an include': ['LEASE_LOST', 'LEASE_LOST', 0, 0],
      'a table without a model': 'NOT NULL',
      'sync again, with alter': true,
      'a column that rounds': kind === 'postgres' ? '9007199254740993' : 'UNSAFE_SNOWFLAKE',
      'numbers that cannot hold the ID': ['UNSAFE_SNOWFLAKE', 'UNSAFE_SNOWFLAKE', 0],
      'no service, one that is opened later, one that is closed': [
        ...['NO_OPEN_SERVICE', 'NO_OPEN_SERVICE', 'NO_OPEN_SERVICE'],
        ...[true, 'NO_OPEN_SERVICE', 1],
      ],
      'a transaction of its own context': [true, 0],
      'references and keys of other forms': {
        separate: ['bigint', 'bigint'],
        joined: true,
        nested: isMysql || kind === 'sqlite' ? 0 : 'refused',
      },
      'foreign keys that hold typed IDs of another form': [
        "CONFIGURATION: prefix 'user' in ownInteger_rows.owner_id",
        "CONFIGURATION: prefix 'user' in ownDecimal_rows.owner_id",
        'declared',
        "CONFIGURATION: prefix 'user' in ownOther_rows.owner_id",
        'declared',
        'declared',
        "CONFIGURATION: prefix 'user' in ownBoth_rows.ownerId",
        'declared',
        "CONFIGURATION: prefix 'user' in ownLink_rows.ownedId",
      ],
      'a composite key of typed IDs': [true, ['b'], ['c'], 1],
    });
  });

  // On idle cores, by RAINDROP_ORM_COST=1: it asserts nothing.
  (process.env['RAINDROP_ORM_COST'] === undefined ? it.skip : it)('tells what IDs add to 1,000 rows', async () => {
    const found = await runSuite('sequelize', 'cost', { ...given(), rounds: 60 });
    process.stdout.write(`Sequelize on ${kind}, ${dialect}: ${JSON.stringify(found)}\n`);
  });

  it('two processes that are killed again and again repeat no ID, and leave no row without one of ours', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'raindrop-orms-'));
    try {
      const from = (file: string): object => ({ ...given(), file: join(directory, file) });
      await runSuite('sequelize', 'inserter', { ...from('0'), isFirst: true });
      const end = performance.now() + KILL_SECONDS * 1_000;
      const killing = async (file: string): Promise<number> => {
        let kills = 0;
        while (performance.now() < end) {
          const child = new Child(suiteCommand('sequelize', 'inserter', from(file)));
          await child.says(new RegExp(`round ${3 * (1 + (kills++ % 5))}\\n`));
          expect((await child.end('SIGKILL')).signal).toBe('SIGKILL');
        }
        return kills;
      };
      const kills = await Promise.all([killing('1'), killing('2')]);
      const issued = ['1', '2'].flatMap((file) =>
        readFileSync(join(directory, file), 'utf8').split('\n').filter(Boolean),
      );
      expect(new Set(issued).size).toBe(issued.length);
      const { keys, orphans } = await keysIn(database);
      // Of each process three rounds at least, of twelve rows.
      expect(keys.length).toBeGreaterThan(36 * (kills[0] + kills[1]));
      const known = new Set(issued);
      expect(keys.filter((id) => !known.has(id))).toEqual([]);
      expect(orphans).toBe(0);
      process.stdout.write(`Sequelize on ${kind}, ${dialect}: ${kills.join(' + ')} kills, ${keys.length} rows\n`);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

it('works in Nest as docs/sequelize.md shows it, and shows bigint keys of instances behind BigIntInterceptor', async () => {
  const database = await testDatabase('postgres');
  try {
    const inDocument = blocksOf('docs/sequelize.md').find(({ text }) =>
      text.includes("from '@nestjs/sequelize'"),
    )!.text;
    const model = inDocument.slice(inDocument.indexOf('@Table'), inDocument.indexOf('@Module('));
    expect(readFileSync(join(__dirname, 'sequelize/nest.ts'), 'utf8')).toContain(model.replace('export ', '').trim());
    expect(await runSuite('sequelize', 'nest', { database: database.options })).toEqual({ filled: 4, shown: 5 });
  } finally {
    await database.drop();
  }
});

/** The keys of all rows, and how many items refer to an order that is not there. */
async function keysIn({ options }: TestDatabase): Promise<{ keys: string[]; orphans: number }> {
  const source = await new DataSource(options).initialize();
  try {
    const text = options.type === 'mariadb' || options.type === 'mysql' ? 'char' : 'text';
    const orderId = options.type === 'postgres' ? '"orderId"' : 'orderId';
    const rows = await source.query<{ id: string }[]>(
      `select cast(id as ${text}) as id from orders union all select cast(item_id as ${text}) as id from items`,
    );
    const [orphans] = await source.query<{ n: string }[]>(
      `select count(*) as n from items where ${orderId} not in (select id from orders)`,
    );
    return { keys: rows.map(({ id }) => id), orphans: Number(orphans!.n) };
  } finally {
    await source.destroy();
  }
}
