import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../../..');
/** Folders of tools, which have no version. */
const TOOLS = [
  'site',
  'test/published/release',
  'test/published/deploy/validators',
  'libs/orm/types',
  'test/product/multi-process/nest-cli',
  'test/orms/drizzle',
  'test/orms/drizzle-1',
  'test/orms/kysely',
  'test/orms/mikro-orm',
  'test/orms/mikro-orm-6',
  'test/orms/mongoose',
  'test/orms/prisma',
  'test/orms/prisma-8',
  'test/orms/sequelize',
];
/** It has a version of the package for which it stands, as Raindrop checks that. */
const STANDS_IN = 'test/orms/mikro-orm-6/better-sqlite3';
const LIBRARIES = ['core', 'node', 'typeorm', 'orm', 'nestjs', 'cli'];

interface Manifest {
  readonly name: string;
  readonly version?: string;
  readonly license?: string;
  readonly repository: Readonly<Record<string, string>>;
  readonly raindrop: { readonly scope: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const manifest = (folder: string): Manifest => JSON.parse(read(join(folder, 'package.json'))) as Manifest;

const {
  repository,
  raindrop: { scope },
} = manifest('.');
const NOT_OURS = /^(node_modules|dist|coverage|data|api|generated|\..*)$/;

/** Every file whose name ends so, but for what is installed or made. */
function filesOf(pattern: RegExp, folder = ''): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return NOT_OURS.test(entry.name) ? [] : filesOf(pattern, path);
    return pattern.test(entry.name) ? [path] : [];
  });
}

const FOLDERS = filesOf(/^package\.json$/)
  .map((path) => join(path, '..'))
  .filter((folder) => folder !== '.');

describe('Every manifest', () => {
  it('says where its source is: in the repository of package.json', () => {
    expect(FOLDERS.length).toBeGreaterThan(6);
    for (const folder of FOLDERS) {
      expect([folder, manifest(folder).repository]).toEqual([folder, { ...repository, directory: folder }]);
    }
  });

  it('takes our packages in the one version that they have', () => {
    const { version } = manifest('libs/core');
    expect(manifest('.').version).toBe(version);
    for (const folder of FOLDERS) {
      const { dependencies, devDependencies, peerDependencies, ...each } = manifest(folder);
      const ours = Object.entries({ ...dependencies, ...devDependencies, ...peerDependencies }).filter(([name]) =>
        name.startsWith(`${scope}/`),
      );
      expect([folder, ours.filter(([, range]) => range !== version)]).toEqual([folder, []]);
      if (![...TOOLS, STANDS_IN].includes(folder)) expect([folder, each.version]).toEqual([folder, version]);
    }
    expect(read('deploy/kubernetes/kustomization.yaml')).toContain(`newTag: ${version}\n`);
    expect(read('docs/service.md')).toContain(`raindrop-id-service:${version} `);
  });
});

describe('The scope of package.json', () => {
  it('is that of every package, and of changesets', () => {
    expect(LIBRARIES.map((name) => manifest(`libs/${name}`).name)).toEqual(LIBRARIES.map((name) => `${scope}/${name}`));
    expect(JSON.parse(read('.changeset/config.json'))).toMatchObject({ fixed: [[`${scope}/*`]], changelog: false });
  });

  it('is the only one under which a file names them', () => {
    const others = new Set(
      ['.', ...FOLDERS]
        .map(manifest)
        .flatMap((each) => Object.keys({ ...each.dependencies, ...each.devDependencies, ...each.peerDependencies }))
        .map((name) => name.split('/')[0]!)
        .filter((name) => name !== scope),
    );
    // A lockfile names what others depend on, too.
    const files = filesOf(/\.(ts|mjs|cjs|json|md|ya?ml)$/).filter((path) => !path.endsWith('package-lock.json'));
    const found = files.flatMap((path) =>
      [...read(path).matchAll(/(@[\w-]+)\/(?:core|node|typeorm|orm|nestjs|cli)(?![\w-])/g)].map(
        (match) => [path, match[1]!] as const,
      ),
    );
    expect(found.length).toBeGreaterThan(500);
    expect(found.filter(([, name]) => name !== scope && !others.has(name))).toEqual([]);
  });
});

it('Lockfiles name no registry', () => {
  const locks = filesOf(/^package-lock\.json$/);
  expect(locks).toEqual(
    expect.arrayContaining(['package-lock.json', ...TOOLS.map((folder) => `${folder}/package-lock.json`)]),
  );
  for (const path of locks) expect([path, /"resolved": "(?!file:)\w+:/.exec(read(path))]).toEqual([path, null]);
});

// Version 13 brings its binaries and says `gypfile: false`, which npm leaves out of a lockfile that it writes: `npm ci` would
// ask for Python and a compiler.
it('Lockfiles ask for no compiler where better-sqlite3 brings its binaries', () => {
  const found = filesOf(/^package-lock\.json$/).flatMap((path) => {
    const { packages } = JSON.parse(read(path)) as { packages: Record<string, { version: string; gypfile?: boolean }> };
    return Object.entries(packages)
      .filter(([name, { version }]) => name.endsWith('node_modules/better-sqlite3') && Number.parseInt(version) >= 13)
      .map(([name, { gypfile }]) => [`${path}: ${name}`, gypfile]);
  });
  expect(found.length).toBeGreaterThanOrEqual(2);
  expect(found.filter(([, gypfile]) => gypfile !== false)).toEqual([]);
});

it('.nvmrc is a Node that CI runs on', () => {
  expect(read('.github/workflows/ci.yml')).toMatch(new RegExp(`node: \\[.*\\b${read('.nvmrc').trim()}\\b.*\\]`));
  expect(existsSync(join(ROOT, 'test/published/release/package-lock.json'))).toBe(true);
});
