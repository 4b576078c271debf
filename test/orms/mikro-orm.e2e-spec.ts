import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { Child } from '../support/processes/child.js';
import { issuingDatabase, makeIdFunction } from '../support/servers/id-function.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../support/servers/test-databases.js';
import { type Cells, record, recordedOn, withRawDeclared } from './matrix.js';
import { runDeclared, runSuite, suiteCommand } from './suite.js';
import { UPSERTS } from './upserts.js';

/** Each version has a folder with its lockfile; both run the suites of the later one. */
const VERSIONS = [
  ['MikroORM 7', 'mikro-orm', 'matrix', 'readme', 'inserter'],
  ['MikroORM 6', 'mikro-orm-6', 'mikro-orm/matrix', 'mikro-orm-6/readme', 'mikro-orm/inserter'],
] as const;
const KILL_SECONDS = Number(process.env['RAINDROP_ORM_KILL_SECONDS'] ?? 5);
/** Functions of other names than the usual one. */
const NAMES = ['shop.next_id', 'Shop.nextId', 'order.user'];
const EVERY_TEAM = [
  [2, 1],
  [2, 1],
  [2, 1],
];
const EVERY_OWNER = [['a'], ['one'], ['one', 'a']];

describe.each(VERSIONS)('%s', (version, folder, matrix, readme, inserter) => {
  describe.each(databaseKinds.filter((kind) => kind !== 'mysql'))('on %s', (kind) => {
    let database: TestDatabase;
    beforeAll(async () => (database = await testDatabase(kind)));
    afterAll(() => database.drop());

    it('fills or refuses every path, as docs/write-paths.md says', async () => {
      const found = await runSuite<Cells>(folder, matrix, { database: database.options, upserts: UPSERTS });
      const cells = withRawDeclared(found, await runDeclared([folder, matrix], kind));
      record(folder, version, kind, cells);
      expect(Object.keys(cells).length).toBeGreaterThan(20);
      // What differs is recorded by RAINDROP_RECORD_ORMS=1, and shown by `npm run docs`.
      expect(cells).toEqual(recordedOn(folder, kind));
    });

    it('declares a default that the database has, and leaves inserts their IDs', async () => {
      const own = kind === 'postgres' ? await issuingDatabase() : database;
      if (kind === 'postgres') for (const name of NAMES) await makeIdFunction(own.options, name);
      const defaults = folder === 'mikro-orm' ? 'defaults' : 'mikro-orm/defaults';
      const found = await runSuite<Record<string, unknown>>(folder, defaults, { database: own.options });
      const refused =
        'databaseDefault = raindrop_id\\(\\): is for PostgreSQL, and the database is (SQLite|MariaDB or MySQL)';
      if (kind !== 'postgres') {
        const both = new RegExp(`^CONFIGURATION: .* orders\\.id: ${refused}.* items\\.id: ${refused}`);
        expect(found).toEqual({ refused: expect.stringMatching(both) as unknown });
        return;
      }
      const tables = ['orders', 'items'];
      // Version 6 sends the type along.
      const altered = (change: string): unknown =>
        tables.map((table) => `alter table "${table}" alter column "id" ${change};`);
      const ofType = (lines: unknown): string[] =>
        (lines as string[]).filter((line) => !line.includes('type bigint using'));
      expect({
        ...found,
        'an existing key': ofType(found['an existing key']),
        'without it again': ofType(found['without it again']),
      }).toEqual({
        'an existing key': altered('set default raindrop_id()'),
        afterwards: [],
        'by the driver': [
          expect.stringMatching(/^INSERT_REFUSED: orders\.id has no value in an insert of the driver/),
          ...Array<unknown>(5).fill(expect.stringMatching(/^INSERT_REFUSED/)),
          ...Array<string>(3).fill('inserted'),
        ] as unknown,
        'without it again': altered('drop default'),
        'shop.next_id': [],
        'Shop.nextId': [],
        'order.user': [],
        check: [],
        'check of a default that is not declared': tables.map(
          (table) => expect.stringMatching(new RegExp(`^${table}\\.id: .*, or declare databaseDefault$`)) as unknown,
        ),
        statements: ['insert into "orders"', 'insert into "orders"'],
        'raw rows': [
          ['flushed', 'of the process'],
          ['kept', 'of the process'],
          ['many', 'of the process'],
          ['raw', 'of the database'],
        ],
        'no name': expect.stringMatching(/^CONFIGURATION: .*databaseDefault = "next_id\(\)": must be/) as unknown,
      });
    });

    it('does what once went wrong', async () => {
      const checks = folder === 'mikro-orm' ? 'checks' : 'mikro-orm/checks';
      expect(await runSuite<Record<string, unknown>>(folder, checks, { database: database.options })).toEqual({
        'a pivot entity with a key of ours, written by a collection': expect.stringMatching(
          /^CONFIGURATION: posts\.labels = labellings: .*persist: false/,
        ) as unknown,
        'a pivot entity with a key of ours, created': ['x'],
        'a flush that fails, and is repeated': ['UniqueConstraintViolationException', 2, true],
        'two keys of ours': true,
        'upsertMany(), what the entities hold': ['string', 'string', 'string', 'string'],
        'upsert, no value of onConflictFields': 'INSERT_REFUSED no-conflict',
        'upsertMany(), nothing is written of what is refused': ['INSERT_REFUSED key-update', 0],
        'query builder, one of two rows with its key': [true, true, 2],
        'query builder, insertId': [true, 'undefined'],
        'query builder, on conflict nothing': [true],
        'a page of orders with their items': [1, 2, 3, 4, 4],
        'a page of orders with their items, keys as text': 3,
        'many-to-many by a dataloader': EVERY_TEAM,
        ...(folder === 'mikro-orm' && {
          'many-to-many by a dataloader, typed IDs': EVERY_TEAM,
          'owners of two kinds': EVERY_OWNER,
          'owners of two kinds, bigints': EVERY_OWNER,
          'owners of two kinds, numbers': EVERY_OWNER,
          'owners of two kinds, typed IDs': expect.stringMatching(
            /^CONFIGURATION:   - notes\.owner = prefix 'x' in notes\.owner_type, owner_id: .*a relation for each/,
          ) as unknown,
          'a composite key of typed IDs': expect.stringMatching(
            /^CONFIGURATION:   - members\.user = prefix 'x' in members\.user_id: .*\n  - members\.team = .*/,
          ) as unknown,
          'Kysely with hooks, typed IDs not converted': true,
          'Kysely, a merge into an alias': 'INSERT_REFUSED unfilled',
        }),
      });
    });

    // On idle cores, by RAINDROP_ORM_COST=1: it asserts nothing.
    (process.env['RAINDROP_ORM_COST'] === undefined ? it.skip : it)('tells what IDs add to 1,000 rows', async () => {
      const cost = folder === 'mikro-orm' ? 'cost' : 'mikro-orm/cost';
      const found = await runSuite(folder, cost, { database: database.options, rounds: 60 });
      process.stdout.write(`${version} on ${kind}: ${JSON.stringify(found)}\n`);
    });

    it('two processes that are killed again and again repeat no ID, and leave no row without one of ours', async () => {
      const directory = mkdtempSync(join(tmpdir(), 'raindrop-orms-'));
      try {
        const given = (file: string) => ({ database: database.options, file: join(directory, file) });
        await runSuite(folder, inserter, { ...given('0'), isFirst: true });
        const end = performance.now() + KILL_SECONDS * 1_000;
        const killing = async (file: string): Promise<number> => {
          let kills = 0;
          while (performance.now() < end) {
            const child = new Child(suiteCommand(folder, inserter, given(file)));
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
        const rows = await idsIn(database);
        // Of each process three rounds at least, of ten rows.
        expect(rows.length).toBeGreaterThan(30 * (kills[0] + kills[1]));
        const known = new Set(issued);
        expect(rows.filter((id) => !known.has(id))).toEqual([]);
        process.stdout.write(`${version} on ${kind}: ${kills.join(' + ')} kills, ${rows.length} rows\n`);
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    });
  });

  it('leaves what goes past entities without IDs when the entity manager is missing (control)', async () => {
    const database = await testDatabase('sqlite');
    try {
      const cells = await runSuite<Cells>(folder, matrix, { database: database.options, isPlain: true });
      expect(cells['write returning']).toEqual({ text: 'refused: NOT NULL' });
      expect(cells['write upsert']!['text']).toMatch(/^wrong: /);
      expect(cells['write upsert of the key']!['text']).toMatch(/^wrong: .* not refused/);
    } finally {
      await database.drop();
    }
  });

  it('does what the README shows, with the types that it shows', async () => {
    expect(await runSuite(folder, readme)).toEqual({ filled: true });
  });
});

/** The keys of all orders and items. */
async function idsIn({ options }: TestDatabase): Promise<string[]> {
  const source = await new DataSource(options).initialize();
  try {
    const text = options.type === 'mariadb' ? 'char' : 'text';
    const all = ['orders', 'items']
      .map((table) => `select cast(id as ${text}) as id from ${table}`)
      .join(' union all ');
    return (await source.query<{ id: string }[]>(all)).map(({ id }) => id);
  } finally {
    await source.destroy();
  }
}
