import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { join } from 'node:path';
import { resolveSegmentModuleOptions } from '../../../libs/node/src/options/resolve-options.js';
import type { SegmentModuleOptions } from '../../../libs/node/src/options/service-options.js';
import { readApplicationOptions } from '../../../libs/nestjs/src/raindrop.options.js';
import { resolveSnowflakeOptions } from '../../../libs/node/src/options/resolve-options.js';

const root = join(__dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/spec\.ts$/.test(path))
    .map((path) => read(join(folder, path)));
}

/** The entries of a package, the internal ones too, as `''` and `/redis`, with the names that each exports by itself. */
function entriesOf(name: string): [entry: string, exported: string[]][] {
  const { exports } = JSON.parse(read(`libs/${name}/package.json`)) as { exports: Record<string, { types?: string }> };
  return Object.entries(exports).flatMap(([entry, { types }]): [string, string[]][] => {
    if (types === undefined) return [];
    const source = read(`libs/${name}/${types.replace('./dist/', 'src/').replace('.d.ts', '.ts')}`);
    const lists = source.matchAll(/^export \{([^}]*)\} from/gm);
    return [[entry.slice(1), Array.from(lists, (list) => list[1]!.match(/\w+/g) ?? []).flat()]];
  });
}

/** Every name that reading the options of either mode asks for. */
function optionNames(): string[] {
  const asked = new Set<string>();
  const spy = new Proxy(
    {},
    {
      getOwnPropertyDescriptor: (_, name) => {
        asked.add(String(name));
        return undefined;
      },
    },
  );
  resolveSnowflakeOptions(spy, Date.now(), readApplicationOptions);
  resolveSegmentModuleOptions(spy as SegmentModuleOptions, readApplicationOptions);
  return [...asked].sort();
}

/** The first two are the page of an ORM, and what holds for all but TypeORM. */
it.each([
  ['typeorm'],
  ...['drizzle', 'kysely', 'mikro-orm', 'prisma', 'prisma-8', 'sequelize'].map((orm) => [orm, 'orms']),
])('who uses one ORM reads less than 6,000 words before production: %s', (...pages) => {
  const paths = ['README.md', ...[...pages, 'getting-started', 'operations'].map((page) => `docs/${page}.md`)];
  const tokens = paths.map(read).join('\n').split(/\s+/);
  expect(tokens.filter((token) => /[a-z0-9]/i.test(token)).length).toBeLessThan(6_000);
});

it.each(readdirSync(join(root, 'docs')).filter((file) => file.endsWith('.md') && file !== 'README.md'))(
  'docs/%s says at once whom it is for',
  (file) => {
    const [, first] = read(`docs/${file}`).split(/\n\n/);
    expect(first).toMatch(/^(For|This page is for|`@GeneratedSnowflake|This page (moves|lists) )/);
  },
);

it('docs/configuration.md has a row for every option, and no other', () => {
  const rows = [...read('docs/configuration.md').matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
  expect([...new Set(rows)].sort()).toEqual(optionNames());
});

/** What the service answers by the status alone: `codeOf()` of problem-of.ts. */
const BY_STATUS = [400, 404, 413, 415, 500].map((status) => STATUS_CODES[status]!.toUpperCase().replace(/\W+/g, '_'));

it('docs/errors.md has a heading for every error code, and no other', () => {
  const headings = [...read('docs/errors.md').matchAll(/^### (\w+)$/gm)].map((match) => match[1]!);
  const libraries = ['core', 'node', 'typeorm', 'orm', 'nestjs', 'cli']
    .map((name) => `libs/${name}/src`)
    .flatMap(sources)
    .join('\n');
  const codes = [
    ...libraries.matchAll(/errorCode(?:: string)? = '(\w+)'|errorCode \?\? '(\w+)'/g),
    ...sources('apps/id-service/src')
      .join('\n')
      .matchAll(/errorCode: '(\w+)'|(?:ApiProblem\(|\[)\d{3}, '(\w+)'/g),
  ].map((match) => match[1] ?? match[2]!);
  expect(headings.sort()).toEqual([...new Set([...codes, ...BY_STATUS])].sort());
});

it('each error of docs/errors.md is exported by the package that throws it, and by no other', () => {
  const [thrown = ''] = read('docs/errors.md').split('## From the ID service');
  const classes = Array.from(thrown.matchAll(/^### \w+\n\n`(\w+Error)`/gm), (match) => match[1]!);
  const packages = ['core', 'node', 'typeorm', 'orm', 'nestjs'].map((name) => ({
    name,
    code: sources(`libs/${name}/src`).join('\n'),
    entries: entriesOf(name),
  }));
  const elsewhere = classes.flatMap((error) => {
    const home = packages.find(({ code }) => code.includes(`export class ${error} `))?.name ?? '';
    const places = packages.flatMap(({ name, entries }) =>
      entries.filter(([, exported]) => exported.includes(error)).map(([entry]) => `${name}${entry}`),
    );
    // Entries that are for one system each, such as those of the ORMs, may share an error.
    const isAtHome = places.includes(home)
      ? places.length === 1
      : places.length > 0 && places.every((place) => place.startsWith(`${home}/`) && !place.endsWith('/internal'));
    return isAtHome ? [] : [`${error}: ${places.join(', ')}`];
  });
  expect(classes.length).toBeGreaterThan(90);
  expect(elsewhere).toEqual([]);
});

it('docs/errors.md has a row for every event, and no other', () => {
  const named = read('libs/core/src/lease/worker-keeper.ts').matchAll(/readonly type: '([\w-]+)'/g);
  const events = Array.from(named, (match) => match[1]);
  const rows = [...read('docs/errors.md').matchAll(/^\| `([a-z]+-[a-z]+|warning)` \|/gm)].map((match) => match[1]);
  expect(rows.sort()).toEqual(events.sort());
});

it('docs/contributing/proofs.md names only files that exist', () => {
  const named = [...read('docs/contributing/proofs.md').matchAll(/`((?:libs|test)\/[\w./-]+\.ts)`/g)].map(
    (match) => match[1]!,
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
