import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NPM_FLAGS } from './install-app.mjs';

const PROGRAM_MS = 600_000;

/** Releases that are older than the supported ones, and the entry that uses each. */
const OLD = [
  { name: '@mikro-orm/core', version: '5', entry: '@raindrop/orm/mikro-orm' },
  { name: '@prisma/client', version: '5', entry: '@raindrop/orm/prisma' },
  { name: 'class-validator', version: '0.13', entry: '@raindrop/nestjs/class-validator' },
  { name: 'drizzle-orm', version: '0.36', entry: '@raindrop/orm/drizzle' },
  { name: 'graphql', version: '15', entry: '@raindrop/nestjs/graphql' },
  { name: 'kysely', version: '0.27', entry: '@raindrop/orm/kysely' },
  { name: 'sequelize', version: '5', entry: '@raindrop/orm/sequelize' },
  { name: 'typeorm', version: '0.3.20', entry: '@raindrop/typeorm' },
  { name: 'zod', version: '4.3', entry: '@raindrop/nestjs/zod' },
];
/** What npm holds to a range, and the compiler that has no API for other programs. */
const OTHERS = { '@nestjs/common': '12', '@nestjs/core': '12', 'reflect-metadata': '0.2', rxjs: '7', typescript: '7' };

const MODULE = `import { Module } from '@nestjs/common';

@Module({ imports: [] })
export class AppModule {}
`;
const MAIN = `import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';

void NestFactory.create(AppModule).then((app) => app.listen(3000));
`;

/**
 * An application with releases that Raindrop does not support: npm installs all packages beside them, and each entry says
 * by one line which versions are supported. A newer release than those that were tested is reported and used.
 */
export function checkPeers(packages, directory) {
  const folder = join(directory, 'peers');
  mkdirSync(folder);
  const dependencies = {
    ...OTHERS,
    ...Object.fromEntries(OLD.map(({ name, version }) => [name, version])),
    ...Object.fromEntries(packages.map(({ manifest, tarball }) => [manifest.name, `file:${tarball}`])),
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'peers', private: true, dependencies }));
  const { status, stderr } = spawnSync('npm', ['install', ...NPM_FLAGS], { cwd: folder, encoding: 'utf8' });
  if (status !== 0) return [`npm install failed\n${stderr.trim()}`];
  return [
    ...OLD.flatMap((each) => problemOf(() => refuses(folder, each))),
    ...problemOf(() => warnsOfNewer(folder)),
    ...problemOf(() => readsWithOlderTypescript(folder)),
  ];
}

function problemOf(check) {
  try {
    check();
    return [];
  } catch (error) {
    return [error.message];
  }
}

function refuses(folder, { name, entry }) {
  const { version } = JSON.parse(readFileSync(manifestOf(folder, name), 'utf8'));
  const { message, errorCode } = JSON.parse(load(folder, entry).stdout);
  assert.equal(errorCode, 'UNSUPPORTED_VERSION', `${entry} with ${name} ${version}: ${message}`);
  const line = `${name} ${version} (${join(folder, 'node_modules', name)}) is not supported: Raindrop supports ^`;
  assert.ok(message.startsWith(line) && !message.includes('\n'), `${entry} says: ${message}`);
}

/** No such release exists: an installed one says that it is one. */
function warnsOfNewer(folder) {
  const path = manifestOf(folder, 'kysely');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), version: '99.0.0' }));
  const { stdout, stderr } = load(folder, '@raindrop/orm/kysely');
  assert.deepEqual(JSON.parse(stdout), {}, 'a newer release is not used');
  assert.match(stderr, /RaindropWarning: kysely 99\.0\.0 \(.*\) is newer than what Raindrop was tested with: \^/);
}

/** The command asks for the API of TypeScript 6 beside version 7, and reads the application once it is there. */
function readsWithOlderTypescript(folder) {
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "experimentalDecorators": true } }');
  writeFileSync(join(folder, 'src/app.module.ts'), MODULE);
  writeFileSync(join(folder, 'src/main.ts'), MAIN);
  const args = ['node_modules/.bin/raindrop', 'init', '--project', '.', '--module-only'];
  const init = () => spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', timeout: PROGRAM_MS });
  const first = init();
  const cure = 'npm install --save-dev @typescript/typescript6';
  assert.match(first.stderr, new RegExp(`has TypeScript 7\\.\\d+\\.\\d+, which has no API .*: ${cure}$`, 'm'));
  assert.equal(first.status, 2);
  const [npm, ...words] = cure.split(' ');
  const installed = spawnSync(npm, [...words, ...NPM_FLAGS], { cwd: folder, encoding: 'utf8' });
  assert.equal(installed.status, 0, installed.stderr);
  const second = init();
  assert.equal(second.status, 0, second.stderr);
  assert.match(readFileSync(join(folder, 'src/app.module.ts'), 'utf8'), /RaindropModule\.forRoot\(/);
}

/** Loads an entry in a process of its own, which prints what it throws as JSON; `{}` for nothing. */
function load(folder, entry) {
  const program = `
    try { require('${entry}'); console.log('{}'); }
    catch ({ message, errorCode }) { console.log(JSON.stringify({ message, errorCode })); }`;
  const options = { cwd: folder, encoding: 'utf8', timeout: PROGRAM_MS, killSignal: 'SIGKILL' };
  return spawnSync(process.execPath, ['--input-type=commonjs', '-e', program], options);
}

function manifestOf(folder, name) {
  return join(folder, 'node_modules', name, 'package.json');
}
