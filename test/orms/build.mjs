/**
 * `npm run build:orm`: installs the ORMs of test/orms/* with their drivers, each by a lockfile of its own, compiles the
 * suites, and lays the packed libraries beside each ORM, as an application has them. An example of the ORM's name finds
 * both there. The root's `npm ci` brings none of these ORMs. Needs `npm run build:packages` first.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { packLibraries } from '../published/packaging/pack-libraries.mjs';

const root = resolve(import.meta.dirname, '../..');
const TSC = join(root, 'node_modules/typescript/bin/tsc');
const LIBRARIES = ['libs/core', 'libs/node', 'libs/orm'];
const orms = readdirSync(import.meta.dirname).filter((name) => existsSync(join(folderOf(name), 'package-lock.json')));

for (const orm of orms) run(process.execPath, 'tools/install-once.mjs', folderOf(orm));
layPackages();
for (const orm of orms) generate(orm);
for (const orm of orms) tsc('-p', folderOf(orm));
for (const orm of orms) linkFromExample(orm);

function folderOf(orm) {
  return join(import.meta.dirname, orm);
}

/** Prisma makes its client of a schema. */
function generate(orm) {
  const script = join(folderOf(orm), 'generate.mjs');
  if (existsSync(script)) run(process.execPath, script);
}

function layPackages() {
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-orms-'));
  try {
    for (const { manifest, tarball } of packLibraries(directory, LIBRARIES)) {
      for (const orm of orms) {
        const folder = join(folderOf(orm), 'node_modules', manifest.name);
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(folder, { recursive: true });
        run('tar', '-xzf', tarball, '-C', folder, '--strip-components', '1');
      }
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function linkFromExample(orm) {
  const example = join(root, 'examples', orm);
  if (!existsSync(example)) return;
  rmSync(join(example, 'node_modules'), { recursive: true, force: true });
  symlinkSync(join('../../test/orms', orm, 'node_modules'), join(example, 'node_modules'), 'junction');
}

function tsc(...args) {
  run(process.execPath, TSC, ...args);
}

function run(command, ...args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
