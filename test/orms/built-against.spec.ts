import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

const ROOT = resolve(__dirname, '../..');
const TYPES = 'libs/orm/types';
/** The suite that tests the release of each ORM that libs/orm/types names. */
const SUITES: Readonly<Record<string, string>> = {
  '@mikro-orm/core': 'mikro-orm',
  'drizzle-orm': 'drizzle',
  kysely: 'kysely',
  sequelize: 'sequelize',
};

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
}
interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly version: string; readonly hasInstallScript?: boolean }>>;
}
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const manifest = (folder: string): Manifest => JSON.parse(read(join(folder, 'package.json'))) as Manifest;
const lockfile = (folder: string): Lockfile => JSON.parse(read(join(folder, 'package-lock.json'))) as Lockfile;

/** What a script runs, with the scripts that it runs in their places. */
function commandsOf(script: string): string {
  const { scripts } = manifest('.');
  return scripts[script]!.replace(/npm run (?:--silent )?([\w:]+)/g, (_, name: string) => commandsOf(name));
}

/** The packages that the published files of libs/orm import, other than ours. */
function importedPackages(): Set<string> {
  const files = readdirSync(join(ROOT, 'libs/orm/src'), { recursive: true, encoding: 'utf8' });
  const sources = files.filter((path) => /(?<!spec)\.ts$/.test(path)).map((path) => read(join('libs/orm/src', path)));
  const names = sources.flatMap((text) => ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName));
  const packages = names.filter((name) => !/^(\.|node:|@raindrop\/)/.test(name));
  return new Set(packages.map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)![0]));
}

describe('What libs/orm is built against', () => {
  it('is all that it imports, from libs/orm/types alone', () => {
    const names = Object.keys(manifest(TYPES).dependencies);
    expect(names).toEqual([...importedPackages()].sort());
    const { compilerOptions } = JSON.parse(read('libs/orm/tsconfig.json')) as {
      compilerOptions: { paths: Record<string, string[]> };
    };
    expect(Object.keys(compilerOptions.paths).length).toBeGreaterThan(0);
    for (const [name, places] of Object.entries(compilerOptions.paths)) {
      // A module of ESM finds no folder: it needs the file.
      const own = [`./types/node_modules/${name}`, `./types/node_modules/${name}/index.d.ts`];
      expect([name, places]).toEqual([name, own.slice(0, places.length)]);
    }
  });

  it('is the release of each ORM that its suite tests', () => {
    for (const [name, version] of Object.entries(manifest(TYPES).dependencies)) {
      const suite = join('test/orms', SUITES[name] ?? name);
      const locked = [TYPES, suite].map((folder) => lockfile(folder).packages[`node_modules/${name}`]!.version);
      const asked = manifest(suite).dependencies[name];
      expect([name, asked, ...locked]).toEqual([name, version, version, version]);
    }
  });

  it('takes no script to install, and so no compiler', () => {
    const { packages } = lockfile(TYPES);
    expect(Object.keys(packages).filter((path) => packages[path]!.hasInstallScript)).toEqual([]);
  });
});

it('npm run pack builds all packages without the suites, which bring drivers', () => {
  expect(read('test/published/packaging/pack.mjs')).toContain("['clean:libs', 'build:packages']");
  const commands = commandsOf('build:packages');
  expect(commands).toContain(`tools/install-once.mjs ${TYPES} --ignore-scripts`);
  expect(commands).toContain('tsc -b tsconfig.build.json libs/orm');
  expect(commands).not.toContain('test/orms');
});
