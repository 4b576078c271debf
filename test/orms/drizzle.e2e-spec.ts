import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { Child } from '../support/processes/child.js';
import { issuingDatabase } from '../support/servers/id-function.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../support/servers/test-databases.js';
import { record, recordedOn, withRawDeclared } from './matrix.js';
import { runSuite } from './suite.js';
import { UPSERTS } from './upserts.js';

type Cells = Record<string, Record<string, string>>;
/** Each version has a folder with its lockfile; both run the suites of the earlier one. */
const VERSIONS = [
  ['Drizzle 0.45', 'drizzle', ''],
  ['Drizzle 1.0', 'drizzle-1', 'drizzle/'],
] as const;
const FORMS = ['text', 'bigint', 'number', 'typed'];
/** What MySQL has and MariaDB has not: Drizzle 1.0 loads relations by lateral joins. */
const LATERAL = ['read relation', 'read relation, key cast to text'];
const KILL_SECONDS = Number(process.env['RAINDROP_ORM_KILL_SECONDS'] ?? 5);

it.each(VERSIONS)(
  '%s declares columns as Drizzle has them, and refuses what cannot be an ID',
  async (_, folder, at) => {
    expect(await runSuite(folder, `${at}declared`)).toEqual({ passed: 15 });
  },
);

describe.each(databaseKinds.flatMap((kind) => VERSIONS.map((each) => [...each, kind] as const)))(
  '%s',
  (version, folder, at, kind) => {
    let databases: TestDatabase[];
    // Services of different layouts do not share a database.
    beforeAll(
      async () =>
        (databases = await Promise.all([...FORMS, 'composite', 'cost', 'killed'].map(() => testDatabase(kind)))),
    );
    afterAll(() => Promise.all(databases.map((each) => each.drop())));

    /** What becomes of each path on columns with `databaseDefault`. */
    const declared = async (): Promise<Cells | undefined> => {
      if (kind !== 'postgres') return undefined;
      const own = await Promise.all(FORMS.map(() => issuingDatabase()));
      try {
        const given = Object.fromEntries(FORMS.map((form, index) => [form, own[index]]));
        return await runSuite<Cells>(folder, `${at}matrix`, {
          databases: given,
          upserts: UPSERTS,
          databaseDefault: true,
        });
      } finally {
        await Promise.all(own.map((each) => each.drop()));
      }
    };

    it('fills, reads or refuses on every path, as docs/write-paths.md says', async () => {
      const given = {
        databases: Object.fromEntries(FORMS.map((form, index) => [form, databases[index]])),
        upserts: UPSERTS,
      };
      const cells = withRawDeclared(await runSuite<Cells>(folder, `${at}matrix`, given), await declared());
      record(folder, version, kind, cells);
      // What differs is recorded by RAINDROP_RECORD_ORMS=1, and shown by `npm run docs`.
      const expected = recordedOn(folder, kind === 'mysql' ? 'mariadb' : kind);
      if (kind === 'mysql' && folder === 'drizzle-1') for (const path of LATERAL) expected[path] = exactIn(FORMS);
      expect(cells).toEqual(expected);
    });

    (kind === 'postgres' ? it : it.skip)(
      'declares a default that the database has, and leaves inserts their IDs',
      async () => {
        const database = await issuingDatabase();
        try {
          expect(await runSuite(folder, `${at}defaults`, { database })).toEqual({
            'the default in SQL': ['raindrop_id()', 'shop.next_id()', '"Shop"."nextId"()', null],
            'rows of the service': 5,
            'rows of the database': 3,
            'check of a column with its default': [],
            'check of a column without': [
              expect.stringMatching(/^plain\.id: plain\.id has no default.*SET DEFAULT raindrop_id\(\)$/),
            ],
            'check of a default that is not declared': [
              expect.stringMatching(/^orders\.id: .*, or declare databaseDefault$/),
            ],
            'check of a table that is not there': [],
          });
        } finally {
          await database.drop();
        }
      },
    );

    it('finds typed IDs in composite keys on every path', async () => {
      expect(await runSuite(folder, `${at}composite`, { database: databases.at(-3) })).toEqual({ passed: 18 });
    });

    // On idle cores, by RAINDROP_ORM_COST=1: it asserts nothing.
    (process.env['RAINDROP_ORM_COST'] === undefined ? it.skip : it)('tells what IDs add to 1,000 rows', async () => {
      const found = await runSuite(folder, `${at}cost`, { database: databases.at(-2), rounds: 100 });
      process.stdout.write(`${JSON.stringify(found)}\n`);
    });

    it('gives two processes that are killed over and over no ID twice, and each row one of theirs', async () => {
      const database = databases.at(-1)!;
      const printed: string[] = [];
      const start = async (isFirst = false): Promise<Child> => {
        const script = join(__dirname, folder, 'dist', `${at}inserting.js`);
        const child = new Child([process.execPath, script, JSON.stringify({ database, isFirst })]);
        await child.says(/inserted/);
        return child;
      };
      const running = [await start(true), await start()];
      const end = performance.now() + KILL_SECONDS * 1_000;
      while (performance.now() < end) {
        const [killed] = running.splice(0, 1) as [Child];
        expect(await killed.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
        printed.push(killed.stdout);
        running.push(await start());
      }
      for (const each of running) {
        // A duplicate key would have ended it.
        expect(await each.end('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
        printed.push(each.stdout);
      }

      const acknowledged = printed.flatMap((text) => text.match(/\b\d+\b(?=.*\n)/g) ?? []);
      const stored = new Set(await storedIds(database));
      expect(new Set(acknowledged).size).toBe(acknowledged.length);
      expect(acknowledged.filter((digits) => !stored.has(digits))).toEqual([]);
      // Nor has a row that was not acknowledged a number of the database's own.
      expect([...stored].filter((digits) => digits.length < 17)).toEqual([]);
      const kills = printed.length - running.length;
      process.stdout.write(
        `${kind}: ${kills} kills, ${acknowledged.length} inserts acknowledged, ${stored.size} rows\n`,
      );
    });
  },
);

const exactIn = (forms: readonly string[]): Record<string, string> =>
  Object.fromEntries(forms.map((form) => [form, 'exact']));

async function storedIds({ kind, options }: TestDatabase): Promise<string[]> {
  const source = await new DataSource(options).initialize();
  const type = kind === 'mariadb' || kind === 'mysql' ? 'char' : 'text';
  const rows: { digits: string }[] = await source.query(`select cast(id as ${type}) as digits from orders`);
  await source.destroy();
  return rows.map(({ digits }) => digits);
}
