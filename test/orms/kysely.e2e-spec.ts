import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf } from '../published/docs/documents.js';
import { issuingDatabase } from '../support/servers/id-function.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../support/servers/test-databases.js';
import { type Cells, record, recordedOn, withRawDeclared } from './matrix.js';
import { runDeclared, runSuite } from './suite.js';
import { UPSERTS } from './upserts.js';

const RELEASES = ['0.29', '0.28'] as const;
const KILL_SECONDS = Number(process.env['RAINDROP_ORM_KILL_SECONDS'] ?? 5);

describe.each(databaseKinds)('Kysely on %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => (database = await testDatabase(kind)));
  afterAll(() => database.drop());

  it.each(RELEASES)('%s fills or refuses every path, as docs/write-paths.md says', async (release) => {
    const found = await runSuite<Cells>('kysely', 'matrix', { database: database.options, release, upserts: UPSERTS });
    const cells = withRawDeclared(found, await runDeclared(['kysely', 'matrix'], kind, { release }));
    record('kysely', 'Kysely 0.28, 0.29', kind, cells);
    expect(Object.keys(cells).length).toBeGreaterThan(20);
    // What differs is recorded by RAINDROP_RECORD_ORMS=1, and shown by `npm run docs`.
    expect(cells).toEqual(recordedOn('kysely', kind === 'mysql' ? 'mariadb' : kind));
  });

  it.each(RELEASES)('%s leaves inserts their IDs where the column has a default in the database', async (release) => {
    const own = kind === 'postgres' ? await issuingDatabase() : database;
    const found = await runSuite<Record<string, unknown>>('kysely', 'defaults', { database: own.options, release });
    const adapter = 'the adapter is made without the option';
    if (kind !== 'postgres') {
      const refusal = /^CONFIGURATION: .* parcels\.id: databaseDefault = raindrop_id\(\): is for PostgreSQL, and the/;
      expect(found).toEqual({ [adapter]: false, refused: expect.stringMatching(refusal) as unknown });
      return;
    }
    const matching = (expression: RegExp): unknown => expect.stringMatching(expression);
    expect(found).toEqual({
      [adapter]: false,
      'rows of the process': 3,
      'rows of the database': 2,
      'from select': 'INSERT_REFUSED',
      check: [],
      'check, by an option of the column': [],
      'check, once it is set': [],
      'check of a default that is not declared': [matching(/DROP DEFAULT, or declare databaseDefault$/)],
      'check of another function': [
        matching(/fills parcels\.id by default raindrop_id\(\), and not by shop\.next_id\(\)/),
      ],
      'check of a column without a default': [matching(/parcels\.id has no default .*SET DEFAULT raindrop_id\(\)$/)],
      'with typed IDs': matching(/^CONFIGURATION: .* would write a number into a text column/),
      'no name': matching(/^CONFIGURATION: .* databaseDefault = "next_id\(\)": must be true, false, or the name/),
    });
    await own.drop();
  });

  it.each(RELEASES)('%s does beside what its text says, and controls show what it is without', async (release) => {
    const isSqlite = kind === 'sqlite';
    expect(
      await runSuite<Record<string, unknown>>('kysely', 'checks', { database: database.options, release }),
    ).toEqual({
      'control: without the dialect': 'NOT NULL',
      'control: a plugin instead': 'duplicate key',
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
      'typed IDs in a composite key': {
        tuple: 1,
        'a list of tuples': 2,
        jsonArrayFrom: kind === 'mariadb' ? [] : [2, 1],
        join: 2,
        updated: 1,
      },
      'typed IDs in a bigint column': ['CONFIGURATION', 'CONFIGURATION', 'CONFIGURATION'],
      'insertId of several rows, of an upsert, of one that did nothing': ['undefined', 'undefined', 'undefined'],
      'a compiled query run by another driver': isSqlite
        ? (expect.stringContaining('TypeError: SQLite3 can only bind') as unknown)
        : 'INSERT_REFUSED unfilled',
      'what a compiled query shows': '["x",{"newIdOf":"orders.id"}]',
      'what a log shows': [true, true, 'error ["x",1,"an ID"]', 3],
      'a driver that rounds': {
        plain: 'a number that is rounded',
        ours: 'ROUNDED_IDS',
        streamed: 'ROUNDED_IDS',
      },
      'no service': 'NO_OPEN_SERVICE',
      'a service that is opened later, then closed': [1, 'NO_OPEN_SERVICE', 'CLOSED'],
      'wrong options': [
        `- columns = undefined: must say which columns get IDs: columns: { orders: ['id'] }`,
        `- columns = {}: must say which columns get IDs: columns: { orders: ['id'] }`,
        `- columns.orders = []: must say which columns get IDs: columns: { orders: ['id'] }`,
        `- columns.orders = "id": must say which columns get IDs: columns: { orders: ['id'] }`,
        `- orders.id: as = "text": must be one of 'string', 'bigint', 'number'`,
        '- orders.id: prefx = (string): is not an option; did you mean prefix?',
      ],
      'control: integer primary key of SQLite': isSqlite ? 1 : '-',
      'more rows than a tick has IDs': 20_000,
    });
  });

  it.each(RELEASES)('%s gets no wrong ID from inserts and schedules that lie in wait for one', async (release) => {
    const isMysql = kind !== 'sqlite' && kind !== 'postgres';
    const refused = 'INSERT_REFUSED key-update';
    const forKind = <Value>(mysql: Value, postgres: Value, sqlite: Value): Value =>
      isMysql ? mysql : kind === 'postgres' ? postgres : sqlite;
    const unlessFormer = (result: unknown): unknown => (release === '0.28' ? '-' : result);
    expect(await runSuite<object>('kysely', 'edge-cases', { database: database.options, release })).toEqual({
      'an upsert that takes the new key': isMysql
        ? { function: refused, 'upper case': refused, sql: refused, 'in a function': refused, 'in sql': refused }
        : {
            reference: refused,
            sql: refused,
            'reference in sql': refused,
            'identifiers in sql': refused,
            'in a function': refused,
            'in a cast': refused,
            'in a case': refused,
          },
      'an upsert that keeps the key': isMysql
        ? { last_insert_id: 'kept', 'in a function': 'kept', reference: 'kept' }
        : { reference: 'kept', sql: 'kept', 'quoted in sql': 'kept' },
      'insertId of a given row beside an ignored one': 'undefined',
      'insertId of an upsert in SQL': 'undefined',
      'insertId of a given row after a CTE that inserts': forKind('-', 'undefined', '-'),
      'insertId where another key is ours': {
        ours: isMysql ? "the database's own" : 'our number',
        'of two, one given': isMysql ? '77' : 'undefined',
        'a typed one': isMysql ? '78' : 'undefined',
      },
      'several rows into a column that the database counts': forKind<unknown>([17, 'undefined'], '-', '-'),
      'a dialect that is wrapped twice': ['filled', 'UNSAFE_SNOWFLAKE'],
      'two dialects that share a driver': ['filled', 'UNSAFE_SNOWFLAKE'],
      'aborted while it waits for its ID': unlessFormer(['ABORTED', 'no row']),
      'a stream, aborted while it waits': forKind('-', unlessFormer(['ABORTED', 'no row']), '-'),
      'one compiled query, twenty times at once': 20,
      'a compiled query, again after an error': ['duplicate key', 'foreign'],
      'a transaction that is rolled back, after a refusal': ['INSERT_REFUSED replace', 'no row'],
      'savepoints of a controlled transaction': ['filled', 'no row', 'filled'],
      'one connection': ['filled', 'filled'],
      'an insert that is streamed': forKind<unknown>(
        kind === 'mysql' ? ['database error ER_PARSE_ERROR', 'no row'] : ['its ID', 'filled'],
        ['its ID', 'filled'],
        ['refused by Kysely', 'no row'],
      ),
      'numbers that cannot hold the ID': ['UNSAFE_SNOWFLAKE', 'no row'],
      'default values of two keys': 'filled',
      'columns named after the values': 'filled',
      'rows of values in SQL': 'INSERT_REFUSED select',
      'rows of a union': 'INSERT_REFUSED select',
      'a key in upper case': ['none of ours', kind === 'postgres' ? 'no row' : 'foreign'],
      'a MERGE': forKind<unknown>('-', ['object', 'INSERT_REFUSED merge', 'INSERT_REFUSED merge', 'object'], '-'),
      'a prepared statement of mysql2, into a text': forKind('refused', '-', '-'),
    });
  });

  (kind === 'postgres' ? it : it.skip)('works in Nest as docs/kysely.md shows it', async () => {
    const inDocument = blocksOf('docs/kysely.md').find(({ text }) => text.includes("from '@raindrop/nestjs'"))!.text;
    const module = inDocument.slice(inDocument.indexOf('@Module('));
    expect(readFileSync(join(__dirname, 'kysely/nest.ts'), 'utf8')).toContain(module);
    expect(await runSuite('kysely', 'nest', { database: database.options })).toEqual({ filled: 2 });
  });

  // On idle cores, by RAINDROP_ORM_COST=1: it asserts nothing.
  (process.env['RAINDROP_ORM_COST'] === undefined ? it.skip : it)('tells what IDs add to 1,000 rows', async () => {
    const found = await runSuite('kysely', 'cost', { database: database.options, release: '0.29' });
    process.stdout.write(`${kind}: ${JSON.stringify(found)}\n`);
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
