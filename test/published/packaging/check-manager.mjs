import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
require('../../typescript-hook.cjs');
const packages = require('./application-packages.ts');

const COMMAND_MS = 300_000;

/**
 * The package managers that README.md#install names. `tool` is the package that has it; `again` installs what the lock file
 * says and nothing else; `node` is the oldest major of Node on which the manager runs. `isUnnamed` leaves out
 * `packageManager`: the first installation of pnpm 12 does not lock its own version, which the second one then misses.
 */
const npm = { manager: 'npm', program: 'npm', again: ['ci'], exec: ['exec', '--no', '--'] };
const pnpm = { manager: 'pnpm', program: 'pnpm', again: ['install', '--frozen-lockfile'], exec: ['exec'] };
const yarn = { manager: 'yarn', program: 'yarn', again: ['install', '--immutable'], exec: ['run'] };
export const managerApps = [
  { name: 'npm', ...npm },
  { name: 'npm-workspace', ...npm, isMember: true },
  { name: 'pnpm-9', ...pnpm, tool: 'pnpm@9' },
  { name: 'pnpm-10', ...pnpm, tool: 'pnpm@10' },
  { name: 'pnpm-11', ...pnpm, tool: 'pnpm@11', isUnnamed: true, node: 22 },
  { name: 'pnpm-12', ...pnpm, tool: 'pnpm@12', isUnnamed: true },
  { name: 'pnpm-12-workspace', ...pnpm, tool: 'pnpm@12', isUnnamed: true, isMember: true },
  { name: 'yarn-1', ...yarn, tool: 'yarn@1', again: ['install', '--frozen-lockfile'] },
  { name: 'yarn-4', ...yarn, tool: '@yarnpkg/cli-dist@4', settings: 'nodeLinker: node-modules\n' },
  { name: 'yarn-4-pnp', ...yarn, tool: '@yarnpkg/cli-dist@4', settings: 'nodeLinker: pnp\n', isPnp: true },
  {
    name: 'yarn-4-workspace',
    ...yarn,
    tool: '@yarnpkg/cli-dist@4',
    settings: 'nodeLinker: pnp\n',
    isPnp: true,
    isMember: true,
  },
];

/** Neither Nest 12 nor its packages run on Node 20, which Yarn 1 refuses. */
const DEPENDENCIES = { '@nestjs/common': '11', '@nestjs/core': '11', 'reflect-metadata': '^0.2.2', rxjs: '^7.8.2' };

const MAIN = `require('reflect-metadata');
const { Module } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');
const { createGenerator } = require('@raindrop/core');
const { IdService, RaindropModule } = require('@raindrop/nestjs');

class AppModule {}
const ids = { workerIdAssigner: 'static', workerId: 3, restartWaitMs: false, checkShutdownHooks: false };
Module({ imports: [RaindropModule.forRoot(ids)] })(AppModule);
NestFactory.createApplicationContext(AppModule, { logger: ['error'] }).then(async (app) => {
  console.log(app.get(IdService).nextString(), createGenerator({ workerId: 1 }).nextString());
  await app.close();
});
`;

/**
 * A fresh application of a package manager: what `npm run pack -- ../shop --write` lays and writes there, an installation,
 * and an ID. Then the same with a copy elsewhere that has the lock file and vendor, as a colleague or CI has it.
 * @returns what is wrong
 */
export function checkManager(app, packed, directory) {
  if (Number.parseInt(process.versions.node, 10) < (app.node ?? 0)) {
    console.log(`manager-${app.name}: left out, it needs Node ${app.node}`);
    return [];
  }
  try {
    const tool = installTool(app, join(directory, 'managers', app.name));
    const root = join(directory, `manager-${app.name}`);
    const member = app.isMember ? 'apps/shop' : '.';
    writeApplication(app, tool, root, member);
    supply(join(root, member), packed);
    run(app, tool, root, ['install', ...(app.manager === 'npm' ? ['--no-audit', '--no-fund'] : [])]);
    issue(app, tool, root, member);

    const elsewhere = join(directory, `manager-${app.name}-elsewhere`);
    const isInstalled = (path) => /(^|\/)(node_modules|\.yarn|\.pnp\.\w+)$/.test(path);
    cpSync(root, elsewhere, { recursive: true, filter: (path) => !isInstalled(path.slice(root.length)) });
    rmSync(root, { recursive: true });
    run(app, tool, elsewhere, app.again);
    issue(app, tool, elsewhere, member);
    return [];
  } catch (error) {
    return [error.message];
  }
}

/** @returns the folder of its programs, and its version; npm is there */
function installTool({ tool }, folder) {
  if (tool === undefined) return {};
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{}');
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, stderr } = spawnSync('npm', ['install', ...flags, tool], { cwd: folder, encoding: 'utf8' });
  assert.equal(status, 0, `npm install ${tool} failed\n${stderr}`);
  const name = tool.replace(/(.)@[^@]*$/, '$1');
  const { version } = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'));
  return { bin: join(folder, 'node_modules', '.bin'), version };
}

function writeApplication({ manager, settings, isMember, isUnnamed }, { version }, root, member) {
  mkdirSync(join(root, member), { recursive: true });
  writeFileSync(join(root, member, 'main.cjs'), MAIN);
  const named = version === undefined || isUnnamed ? {} : { packageManager: `${manager}@${version}` };
  const shop = { name: 'shop', version: '1.0.0', private: true, dependencies: DEPENDENCIES };
  if (manager === 'pnpm' && (isMember || isUnnamed)) {
    writeFileSync(join(root, 'pnpm-workspace.yaml'), `packages:\n  - ${isMember ? 'apps/*' : '.'}\n`);
  }
  if (isMember) {
    const workspaces = manager === 'pnpm' ? {} : { workspaces: ['apps/*'] };
    writeJson(join(root, 'package.json'), { name: 'shops', private: true, ...workspaces, ...named });
    writeJson(join(root, member, 'package.json'), shop);
  } else {
    writeJson(join(root, 'package.json'), { ...shop, ...named });
  }
  if (settings !== undefined) {
    writeFileSync(join(root, '.yarnrc.yml'), `${settings}enableTelemetry: false\nenableGlobalCache: true\n`);
    // A folder of its own, whatever lies above it.
    writeFileSync(join(root, 'yarn.lock'), '');
  }
}

/** What `npm run pack -- FOLDER --write` does, with tarballs that are there already. */
export function supply(folder, packed) {
  const application = packages.readApplication(folder);
  const needed = packages.neededPackages(application, packed);
  packages.layTarballs(application, needed);
  for (const edit of packages.entriesFor(application, needed)) packages.writeEdit(edit);
}

/** Its program issues IDs through Nest and without, and its `raindrop` command runs. */
function issue(app, tool, root, member) {
  const folder = join(root, member);
  const node = app.isPnp ? ['--require', join(root, '.pnp.cjs'), 'main.cjs'] : ['main.cjs'];
  const options = { cwd: folder, encoding: 'utf8', timeout: COMMAND_MS, killSignal: 'SIGKILL' };
  const { stdout, stderr } = spawnSync(process.execPath, node, options);
  assert.match(stdout, /^\d{15,19} \d{15,19}\n$/, `it issued no IDs:\n${stdout}${stderr}`);
  const version = run(app, tool, folder, [...app.exec, 'raindrop', '--version']);
  assert.match(version, /^\d+\.\d+\.\d+$/m);
}

function run({ program }, { bin }, cwd, args) {
  // CI is what some managers take for "change no lock file", and corepack would ask a person.
  const environment = { ...process.env, CI: '', COREPACK_ENABLE_STRICT: '0', YARN_ENABLE_IMMUTABLE_INSTALLS: 'false' };
  if (bin !== undefined) environment.PATH = `${bin}:${environment.PATH}`;
  const options = { cwd, env: environment, encoding: 'utf8', timeout: COMMAND_MS, killSignal: 'SIGKILL' };
  const { status, signal, stdout, stderr } = spawnSync(program, args, options);
  assert.equal(status, 0, `${program} ${args.join(' ')} failed (${signal ?? `code ${status}`})\n${stdout}${stderr}`);
  return stdout;
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
