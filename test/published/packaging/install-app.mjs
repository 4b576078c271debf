import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameOf } from './apps.mjs';
import { repository } from './pack-libraries.mjs';

/** Strict about peers: a combination that npm would only accept with --force is not supported. */
export const NPM_FLAGS = [
  '--strict-peer-deps',
  '--prefer-offline',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
];
/** Drivers of servers that the apps do not use: the libraries must not need them. */
const OTHER_DRIVERS = ['mysql2', 'pg'];

/**
 * Makes a fresh app outside the workspace: sources, settings and what npm installs from the tarballs.
 * @throws Error when npm does not accept the combination
 */
export function installApp(app, packages, folder) {
  mkdirSync(folder);
  cpSync(join(import.meta.dirname, 'app'), join(folder, 'src'), {
    recursive: true,
    filter: (path) => app.jest || !path.endsWith('.jest.ts'),
  });
  writeFileSync(join(folder, 'src', 'exports.ts'), importsOf(packages));
  writeJson(join(folder, 'tsconfig.json'), tsconfig(app, ['src']));
  writeJson(join(folder, 'tsconfig.bare.json'), tsconfig(app, ['src/bare.ts']));
  writeJson(join(folder, 'package.json'), manifestOf(app, packages));

  const { status, stderr } = spawnSync('npm', ['install', ...NPM_FLAGS], { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm install failed\n${stderr.trim()}`);
  // Version 13 brings its binaries. --ignore-scripts spares the minute that version 12 may take to compile on Node 20:
  // the repository's build is the same.
  const build = join('node_modules', 'better-sqlite3', 'build');
  if (existsSync(join(repository, build))) cpSync(join(repository, build), join(folder, build), { recursive: true });
}

/** The packages an app of this kind can do without, which some entries of the libraries need. */
export function optionalPeers(packages) {
  const names = packages.flatMap(({ manifest }) =>
    Object.entries(manifest.peerDependenciesMeta ?? {})
      .filter(([, { optional }]) => optional)
      .map(([name]) => name),
  );
  // The compiler is of the check itself.
  const needed = ['better-sqlite3', 'reflect-metadata', 'typescript', ...OTHER_DRIVERS];
  return [...new Set(names)].filter((name) => !needed.includes(name));
}

function manifestOf(app, packages) {
  const peers = packages.flatMap(({ manifest }) => Object.keys(manifest.peerDependencies ?? {}));
  const libraries = Object.fromEntries(packages.map(({ manifest, tarball }) => [manifest.name, `file:${tarball}`]));
  const companions = [
    ...peers.filter((name) => !(name in libraries) && !OTHER_DRIVERS.includes(name)),
    ...['@nestjs/platform-express', '@types/node', 'rxjs', 'typescript'],
    ...(app.jest ? ['@nestjs/testing', 'jest', '@types/jest'] : []),
  ];
  return {
    name: nameOf(app),
    private: true,
    type: app.module === 'esm' ? 'module' : 'commonjs',
    dependencies: {
      ...libraries,
      ...Object.fromEntries(companions.map((name) => [name, versionOf(name, app)])),
      ...(app.jest ? { 'ts-jest': '29' } : {}),
    },
    // TypeORM's own peer range ends before better-sqlite3 13: docs/versions.md.
    overrides: { typeorm: { 'better-sqlite3': '$better-sqlite3' } },
    ...(app.jest ? { jest: jestConfig } : {}),
  };
}

/** What Nest's own template says, and how jest finds the .ts file behind an import of .js. */
const jestConfig = {
  rootDir: 'src',
  testRegex: '\\.jest\\.ts$',
  transform: { '^.+\\.ts$': 'ts-jest' },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
};

function versionOf(name, app) {
  if (name in (app.older ?? {})) return app.older[name];
  if (name === 'typescript' && app.typescript !== undefined) return app.typescript;
  if (name === 'typeorm') return app.typeorm;
  if (name === '@nestjs/terminus') return app.terminus;
  return name.startsWith('@nestjs/') ? app.nest : versionHere(name);
}

/** Everything else in the version this repository is tested with. */
function versionHere(name) {
  return JSON.parse(readFileSync(join(repository, 'node_modules', name, 'package.json'), 'utf8')).version;
}

function tsconfig(app, include) {
  return {
    compilerOptions: {
      target: 'ES2022',
      module: 'nodenext',
      types: ['node', ...(app.jest ? ['jest'] : [])],
      strict: true,
      // The declarations of the libraries are checked too, and those of everything they import.
      skipLibCheck: false,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      rootDir: 'src',
      outDir: 'dist',
    },
    include,
  };
}

/** A program that imports every entry that the libraries offer, and prints how many names each has. */
function importsOf(packages) {
  const entries = packages.flatMap(({ manifest }) =>
    Object.keys(manifest.exports)
      .filter((subpath) => !subpath.endsWith('.json'))
      .map((subpath) => manifest.name + subpath.slice(1)),
  );
  return [
    ...entries.map((entry, index) => `import * as entry${index} from '${entry}';`),
    ...entries.map((entry, index) => `console.log('${entry}', Object.keys(entry${index}).length);`),
    '',
  ].join('\n');
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
