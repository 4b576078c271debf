import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { Child } from '../support/processes/child.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../support/servers/test-databases.js';
import { record, recordedOn } from './matrix.js';
import { runSuite, suiteCommand } from './suite.js';

/** Each version has a folder with its lockfile; both run the suites of the later one. */
const VERSIONS = [
  ['MikroORM 7', 'mikro-orm', 'matrix', 'readme', 'inserter'],
  ['MikroORM 6', 'mikro-orm-6', 'mikro-orm/matrix', 'mikro-orm-6/readme', 'mikro-orm/inserter'],
] as const;
const KILLS = 4;
type Cells = Record<string, Record<string, string>>;

describe.each(VERSIONS)('%s', (version, folder, matrix, readme, inserter) => {
  describe.each(databaseKinds.filter((kind) => kind !== 'mysql'))('on %s', (kind) => {
    let database: TestDatabase;
    beforeAll(async () => (database = await testDatabase(kind)));
    afterAll(() => database.drop());

    it('fills or refuses every path, as docs/orms.md says', async () => {
      const cells = await runSuite<Cells>(folder, matrix, { database: database.options });
      record(folder, version, kind, cells);
      expect(Object.keys(cells).length).toBeGreaterThan(20);
      // What differs is recorded by RAINDROP_RECORD_ORMS=1, and shown by `npm run docs`.
      expect(cells).toEqual(recordedOn(folder, kind));
    });

    it('two processes that are killed again and again repeat no ID, and leave no row without one of ours', async () => {
      const directory = mkdtempSync(join(tmpdir(), 'raindrop-orms-'));
      try {
        const given = (file: string) => ({ database: database.options, file: join(directory, file) });
        await runSuite(folder, inserter, { ...given('0'), isFirst: true });
        const killing = async (file: string): Promise<void> => {
          for (let kill = 1; kill <= KILLS; kill++) {
            const child = new Child(suiteCommand(folder, inserter, given(file)));
            await child.says(new RegExp(`round ${kill * 3}\\n`));
            expect((await child.end('SIGKILL')).signal).toBe('SIGKILL');
          }
        };
        await Promise.all([killing('1'), killing('2')]);
        const issued = ['1', '2'].flatMap((file) =>
          readFileSync(join(directory, file), 'utf8').split('\n').filter(Boolean),
        );
        expect(new Set(issued).size).toBe(issued.length);
        const rows = await idsIn(database);
        expect(rows.length).toBeGreaterThan(2 * KILLS * 30);
        const known = new Set(issued);
        expect(rows.filter((id) => !known.has(id))).toEqual([]);
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
