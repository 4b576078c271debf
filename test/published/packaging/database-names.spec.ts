import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const LIBS = resolve(__dirname, '../../../libs');

/** The dialects tell the differences, and a driver is one of a database: there a name decides. */
const ALLOWED = /^node\/src\/(drivers\/|database\/\w+-dialect\.ts$)/;

const NAME = `['"\`](?:postgres|postgresql|mysql|mariadb|sqlite|better-sqlite3)['"\`]`;

const COMPARISON = new RegExp(
  [`[=!]==?\\s*${NAME}`, `${NAME}\\s*[=!]==?`, `\\bcase\\s+${NAME}`, `${NAME}[^\\]\\n]*\\]\\.includes\\(`].join('|'),
);

const sources = readdirSync(LIBS).flatMap((name) =>
  readdirSync(join(LIBS, name, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!spec)\.m?ts$/.test(file))
    .map((file) => join(name, 'src', file)),
);

it.each([
  `if (dialect.family === 'postgres') return 1;`,
  `return type !== "better-sqlite3";`,
  `const isMysql = 'mysql' === type;`,
  `    case 'sqlite':`,
  `if (['mysql', 'mariadb'].includes(type)) return 2;`,
])('sees a comparison: %s', (line) => {
  expect(line).toMatch(COMPARISON);
});

it.each([`const dialect = dialectOf('postgres');`, `  family: 'mysql',`, `type Family = 'mysql' | 'sqlite';`])(
  'sees none: %s',
  (line) => {
    expect(line).not.toMatch(COMPARISON);
  },
);

it('no library compares a database with a name: it asks the dialect, or has a table for each family', () => {
  const found = sources
    .filter((file) => !ALLOWED.test(file))
    .flatMap((file) =>
      readFileSync(join(LIBS, file), 'utf8')
        .split('\n')
        .flatMap((line, index) => (COMPARISON.test(line) ? `${file}:${index + 1}: ${line.trim()}` : [])),
    );
  expect(sources.length).toBeGreaterThan(300);
  expect(found).toEqual([]);
});
