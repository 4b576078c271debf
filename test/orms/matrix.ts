import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What became of each way of writing and reading keys through an ORM: path -> database -> form of the key -> result. A
 * result is `filled`, `by the database`, `kept` (the key of the row that an upsert found), `exact`, `refused: WHY`, `wrong: WHY`,
 * or `-` where there is no such way.
 */
export interface OrmMatrix {
  /** Name and releases, as a head of the table shows them. */
  readonly orm: string;
  readonly cells: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>;
}

/** The databases of the matrix and the forms of a key, as the table names them. */
const DATABASES: Readonly<Record<string, string>> = { mariadb: 'MariaDB', postgres: 'PostgreSQL', sqlite: 'SQLite' };
const FORMS = ['text', 'bigint', 'number'];

const fileOf = (name: string): string => join(__dirname, name, 'matrix.json');

/** The recorded matrix of an ORM. `RAINDROP_RECORD_ORMS=1 npm run test:orms` records what it finds, by {@link record}. */
export function recorded(name: string): OrmMatrix {
  return existsSync(fileOf(name))
    ? (JSON.parse(readFileSync(fileOf(name), 'utf8')) as OrmMatrix)
    : { orm: name, cells: {} };
}

/** The ORMs of which something is recorded. */
export function recordedOrms(): string[] {
  return readdirSync(__dirname).filter((name) => existsSync(fileOf(name)));
}

/** Records what a run found on one database, where that was asked for. */
export function record(
  name: string,
  orm: string,
  database: string,
  found: Record<string, Record<string, string>>,
): void {
  if (process.env['RAINDROP_RECORD_ORMS'] === undefined || !(database in DATABASES)) return;
  const { cells } = recorded(name);
  const paths = Object.keys(found).map((path) => [path, { ...cells[path], [database]: found[path] }]);
  writeFileSync(fileOf(name), `${JSON.stringify({ orm, cells: Object.fromEntries(paths) as object }, null, 2)}\n`);
}

/** What is recorded of one database: path -> form -> result. */
export function recordedOn(name: string, database: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(recorded(name).cells).map(([path, cells]) => [path, cells[database]]));
}

export type Cells = Record<string, Record<string, string>>;

/**
 * Adds the row of raw SQL on tables whose keys have `databaseDefault`. Nothing else comes out in another way there.
 * @param cells what a run found without `databaseDefault`
 * @param declared what a run found with it; undefined for a database that has no such function
 */
export function withRawDeclared(cells: Cells, declared: Cells | undefined): Cells {
  const { 'write raw': raw, ...others } = cells;
  const { 'write raw': byDatabase, ...rest } = declared ?? {
    ...others,
    'write raw': Object.fromEntries(Object.keys(raw!).map((form) => [form, '-'])),
  };
  expect(rest).toEqual(others);
  expect(Object.values(raw!).filter((result) => !result.startsWith('refused: '))).toEqual([]);
  const rows = Object.entries(cells).flatMap((row) =>
    row[0] === 'write raw' ? [row, ['write raw, databaseDefault', byDatabase!] as const] : [row],
  );
  return Object.fromEntries(rows);
}

const TABLE = /(<!-- orms -->\n)[^]*?(\n<!-- \/orms -->)/g;

/** A Markdown text with its table of ORMs made anew from what runs have recorded. */
export function withOrmTable(markdown: string): string {
  return markdown.replace(TABLE, (_, begin: string, end: string) => {
    const orms = recordedOrms().map(recorded);
    const paths = [...new Set(orms.flatMap(({ cells }) => Object.keys(cells)))];
    const order = (path: string): number => Number(path.startsWith('read'));
    paths.sort((a, b) => order(a) - order(b));
    const head = [`| path | ${orms.map(({ orm }) => orm).join(' | ')} |`, `|---|${'---|'.repeat(orms.length)}`];
    const rows = paths.map(
      (path) => `| ${path} | ${orms.map(({ cells }) => summary(cells[path] ?? {})).join(' | ')} |`,
    );
    return [begin, ...head, ...rows, end].join('\n').replaceAll('\n\n\n', '\n\n');
  });
}

/** The results of a path, each with the databases and forms that it is of; the first one is that of all others. */
function summary(cells: OrmMatrix['cells'][string]): string {
  const places = Object.entries(cells).flatMap(([database, forms]) =>
    FORMS.map((form) => ({ database, form, result: forms[form] ?? '-' })),
  );
  const results = [...new Set(places.map(({ result }) => result))];
  const found = results.filter((result) => result !== '-');
  if (found.length === 0) return '-';
  if (results.length === 1) return shown(results[0]!);
  const [most, ...others] = results
    .map((result) => ({ result, places: places.filter((each) => each.result === result) }))
    .sort((a, b) => Number(a.result === '-') - Number(b.result === '-') || b.places.length - a.places.length);
  return [shown(most!.result), ...others.map((each) => `${shown(each.result)} (${placesOf(each.places)})`)].join('; ');
}

function placesOf(places: readonly { readonly database: string; readonly form: string }[]): string {
  const byForms = new Map<string, string[]>();
  for (const database of new Set(places.map((each) => each.database))) {
    const forms = places.filter((each) => each.database === database).map(({ form }) => form);
    const key = forms.length === FORMS.length ? '' : ` ${forms.join(', ')}`;
    byForms.set(key, [...(byForms.get(key) ?? []), DATABASES[database]!]);
  }
  return [...byForms].map(([forms, databases]) => `${databases.join(', ')}${forms}`).join('; ');
}

function shown(result: string): string {
  const [what, why] = result.split(': ') as [string, string?];
  return why === undefined
    ? what
    : `${what === 'wrong' ? `**${what}**` : what}: ${/^[A-Z_]+( [a-z-]+)?$/.test(why) ? `\`${why}\`` : why}`;
}
