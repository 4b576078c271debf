import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  ApplicationError,
  entriesFor,
  layTarballs,
  neededPackages,
  readApplication,
  removeOldTarballs,
  vendorName,
  writeEdit,
  type Packed,
} from './application-packages.js';

let folder: string;

beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'raindrop-application-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(files: Readonly<Record<string, string | object>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const json = (name: string): unknown => JSON.parse(read(name));

/** Files that stand for the tarballs: what is in them does not matter here. */
function packed(content = 'first'): Packed[] {
  const dependencies: Readonly<Record<string, readonly string[]>> = {
    core: [],
    node: ['core'],
    typeorm: ['core', 'node'],
    orm: ['core', 'node'],
    nestjs: ['core', 'node', 'typeorm'],
    cli: ['core', 'node'],
  };
  return Object.entries(dependencies).map(([name, names]) => {
    put({ [`packed/raindrop-${name}-0.1.0.tgz`]: `${name} ${content}` });
    return {
      manifest: {
        name: `@raindrop/${name}`,
        dependencies: Object.fromEntries(names.map((each) => [`@raindrop/${each}`, '0.1.0'])),
      },
      tarball: join(folder, `packed/raindrop-${name}-0.1.0.tgz`),
    };
  });
}

/** What `--write` does. */
function supply(path = 'shop', all = packed()): void {
  const application = readApplication(join(folder, path));
  const needed = neededPackages(application, all);
  layTarballs(application, needed);
  for (const edit of entriesFor(application, needed)) writeEdit(edit);
  removeOldTarballs(application, needed, all);
}

const entries = (names: readonly string[], vendor = 'vendor', all = packed()): Record<string, string> =>
  Object.fromEntries(
    all
      .filter(({ manifest }) => names.includes(manifest.name.slice('@raindrop/'.length)))
      .map(({ manifest, tarball }) => [manifest.name, `file:./${vendor}/${vendorName(tarball)}`]),
  );

const NEST = { dependencies: { '@nestjs/core': '^12.0.0' } };
const FOR_NEST = ['core', 'node', 'typeorm', 'nestjs'];

describe('The package manager of an application', () => {
  it.each([
    ['npm', 'no lock file', {}],
    ['npm', 'package-lock.json', { 'package-lock.json': '' }],
    ['npm', 'npm-shrinkwrap.json', { 'npm-shrinkwrap.json': '' }],
    ['pnpm', 'pnpm-lock.yaml', { 'pnpm-lock.yaml': '' }],
    ['pnpm', 'pnpm-workspace.yaml', { 'pnpm-workspace.yaml': '' }],
    ['yarn', 'yarn.lock', { 'yarn.lock': '' }],
    ['yarn', '.yarnrc.yml', { '.yarnrc.yml': '' }],
    ['yarn', 'packageManager', { 'package.json': { packageManager: 'yarn@4.9.1' } }],
    ['pnpm', 'packageManager', { 'package.json': { packageManager: 'pnpm@10.0.0' }, 'package-lock.json': '' }],
  ])('is %s by %s', (manager, shownBy, files) => {
    put({ 'package.json': {}, ...files });
    expect(readApplication(folder)).toEqual({ folder, root: folder, manager, shownBy });
  });

  it.each([
    ['pnpm', { 'pnpm-workspace.yaml': 'packages: [apps/*]' }],
    ['yarn', { 'package.json': { workspaces: ['apps/*'] }, 'yarn.lock': '' }],
  ])('is %s in a workspace whose root has the lock file', (manager, files) => {
    put({ 'package.json': {}, 'apps/shop/package.json': {}, ...files });
    expect(readApplication(join(folder, 'apps/shop'))).toMatchObject({ root: folder, manager });
  });

  it('is its own, whatever lies in a folder above that has no workspaces', () => {
    put({ 'package.json': {}, 'yarn.lock': '', 'shop/package.json': {} });
    expect(readApplication(join(folder, 'shop'))).toMatchObject({ root: join(folder, 'shop'), manager: 'npm' });
  });

  it.each([
    ['does not exist', 'none', {}],
    ['has no package.json', '', {}],
    ['is not the JSON of a package', '', { 'package.json': '{' }],
    ['is not the JSON of a package', '', { 'package.json': '[]' }],
    [
      'several package managers, package-lock.json and yarn.lock: delete',
      '',
      { 'package.json': {}, 'package-lock.json': '', 'yarn.lock': '' },
    ],
    ['uses bun (bun.lock): the tarballs are tried with npm, pnpm and yarn', '', { 'package.json': {}, 'bun.lock': '' }],
    ['uses cnpm (packageManager)', '', { 'package.json': { packageManager: 'cnpm@9' } }],
  ])('is refused: %s', (message, path, files) => {
    put(files);
    expect(() => readApplication(join(folder, path))).toThrow(ApplicationError);
    expect(() => readApplication(join(folder, path))).toThrow(message);
  });
});

it.each([
  ['--write needs an application', ['--write']],
  ['nowhere does not exist', ['nowhere']],
  ["unknown option '--quiet'", ['.', '--quiet']],
])('npm run pack says what is wrong before it builds: %s', (message, args) => {
  const pack = [join(__dirname, 'pack.mjs'), ...args];
  const { status, stderr } = spawnSync(process.execPath, pack, { cwd: folder, encoding: 'utf8' });
  expect(stderr.trim().split('\n')).toEqual([expect.stringContaining(message)]);
  expect(status).not.toBe(0);
});

describe('The libraries of an application', () => {
  it.each([
    ['Nest', { '@nestjs/core': '12' }, [...FOR_NEST, 'cli']],
    ['Nest and Kysely', { '@nestjs/core': '12', kysely: '0.28' }, ['core', 'node', 'typeorm', 'orm', 'nestjs', 'cli']],
    ['Drizzle alone', { 'drizzle-orm': '0.45' }, ['core', 'node', 'orm', 'cli']],
    ['TypeORM alone', { typeorm: '1' }, ['core', 'node', 'typeorm', 'cli']],
    ['neither', {}, ['core', 'node', 'cli']],
    ['one that it has listed', { '@raindrop/orm': '0.1.0' }, ['core', 'node', 'orm', 'cli']],
  ])('with %s', (_, dependencies, names) => {
    put({ 'package.json': { dependencies } });
    const needed = neededPackages({ folder }, packed());
    expect(needed.map(({ manifest }) => manifest.name)).toEqual(names.map((name) => `@raindrop/${name}`));
  });
});

describe('The entries', () => {
  it('of npm are dependencies, sorted as npm would, and the command is one for development', () => {
    put({ 'shop/package.json': { name: 'shop', dependencies: { '@nestjs/core': '12', rxjs: '7' }, private: true } });
    supply();
    expect(json('shop/package.json')).toEqual({
      name: 'shop',
      dependencies: { '@nestjs/core': '12', rxjs: '7', ...entries(FOR_NEST) },
      private: true,
      devDependencies: entries(['cli']),
    });
    const { dependencies } = json('shop/package.json') as { dependencies: object };
    expect(Object.keys(dependencies)).toEqual(Object.keys(dependencies).sort());
    expect(readdirSync(join(folder, 'shop/vendor'))).toHaveLength(5);
  });

  it.each([
    ['9.15.0', {}, 'package.json'],
    ['10.34.0', { pnpm: { overrides: { lodash: '4' } } }, 'package.json'],
    ['10.34.0', {}, 'pnpm-workspace.yaml'],
    ['11.0.0', { pnpm: {} }, 'pnpm-workspace.yaml'],
    ['12.0.0', {}, 'pnpm-workspace.yaml'],
  ])('of pnpm %s with %j are overrides in %s', (version, manifest, file) => {
    put({ 'shop/package.json': { ...NEST, ...manifest, packageManager: `pnpm@${version}` } });
    supply();
    const overrides = entries([...FOR_NEST, 'cli']);
    if (file === 'package.json') expect(json('shop/package.json')).toMatchObject({ pnpm: { overrides } });
    else {
      const lines = Object.entries(overrides).map(([name, path]) => `  '${name}': ${path}\n`);
      expect(read('shop/pnpm-workspace.yaml')).toBe(`overrides:\n${lines.join('')}`);
    }
  });

  it('of Yarn are resolutions', () => {
    put({ 'shop/package.json': NEST, 'shop/yarn.lock': '' });
    supply();
    expect(json('shop/package.json')).toMatchObject({ resolutions: entries([...FOR_NEST, 'cli']) });
  });

  it('that concern a workspace stand in its root, with the path from there', () => {
    put({ 'package.json': { workspaces: ['apps/*'] }, 'yarn.lock': '', 'apps/shop/package.json': NEST });
    supply('apps/shop');
    expect(json('package.json')).toMatchObject({ resolutions: entries([...FOR_NEST, 'cli'], 'apps/shop/vendor') });
    expect(json('apps/shop/package.json')).toMatchObject({ dependencies: entries(FOR_NEST) });
  });

  it('leave order, indentation, comments and other entries as they are', () => {
    put({
      'shop/package.json': '{\n\t"name": "shop",\n\t"dependencies": {\n\t\t"b": "1",\n\t\t"a": "2"\n\t}\n}',
      'shop/pnpm-workspace.yaml': '# ours\npackages:\n  - apps/*   # all\noverrides:\n  lodash: 4.17.21\n',
    });
    supply();
    expect(read('shop/package.json')).toMatch(
      /^\{\n\t"name": "shop",\n\t"dependencies": \{\n\t\t"b": "1",\n\t\t"a": "2",\n\t\t"@raindrop\/core": [^]*\}$/,
    );
    const workspace = read('shop/pnpm-workspace.yaml');
    for (const kept of ['# ours', '# all', 'lodash: 4.17.21', "'@raindrop/core': file:./vendor/raindrop-core-0.1.0-"])
      expect(workspace).toContain(kept);
  });

  it('replace those of an earlier packing, where they stand, and its tarballs', () => {
    put({ 'shop/package.json': { ...NEST, devDependencies: { '@raindrop/nestjs': '^0.1.0' } } });
    put({ 'shop/vendor/raindrop-of-others-1.0.0.tgz': '', 'shop/vendor/other.txt': '' });
    supply();
    const before = readdirSync(join(folder, 'shop/vendor'));
    const changed = packed('second');
    supply('shop', changed);
    expect(json('shop/package.json')).toEqual({
      dependencies: { ...NEST.dependencies, ...entries(['core', 'node', 'typeorm'], 'vendor', changed) },
      devDependencies: entries(['nestjs', 'cli'], 'vendor', changed),
    });
    const after = readdirSync(join(folder, 'shop/vendor'));
    expect(after.filter((name) => before.includes(name))).toEqual(['other.txt', 'raindrop-of-others-1.0.0.tgz']);
    expect(after).toHaveLength(before.length);
  });
});
