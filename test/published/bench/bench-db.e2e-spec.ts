import { printedBy } from './printed-by.js';

describe('npm run bench:db, with a thousand rows', () => {
  it.each([
    ['mariadb', 'MariaDB'],
    ['postgres', 'PostgreSQL'],
    ['sqlite', 'SQLite'],
  ])('compares the keys on %s', async (name, title) => {
    const rows = ['--rows', '1000', '--batch', '100', '--no-save'];
    const printed = await printedBy('db/compare.mjs', '--db', name, ...rows);
    for (const kind of ['snowflake', 'auto-increment', 'uuid v7', 'uuid v4']) {
      expect(printed).toMatch(new RegExp(`│ ${title} +│ ${kind} +│ +[\\d.]+ +│`));
    }
  });

  it('shows what was measured', async () => {
    expect(await printedBy('db/compare.mjs', '--plot', '--no-save')).toMatch(/│ SQLite +│ uuid v4 +│/);
  });

  it('adopts a table of UUIDs, with one that refers to it, beside a writer', async () => {
    const printed = await printedBy('db/adopt-uuid.mjs', '--rows', '1000');
    const expected = (database: string): unknown => expect.objectContaining({ database, rows: 1_000 });
    const lines = printed.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(['mariadb', 'postgres'].map(expected));
  });
});
