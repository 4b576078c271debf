import { strict as assert } from 'node:assert';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
require('../../typescript-hook.cjs');
const { Child } = require('../../support/processes/child.ts');
const { run } = require('../../support/processes/run.ts');
const { createDatabase, dropDatabases } = require('../../support/servers/database-admin.ts');
const { runCommand } = require('../../support/servers/run-command.ts');
const { serverAddress } = require('../../support/servers/server-address.ts');
const { serverFacts } = require('../../support/servers/server-kind.ts');
const { withPostgresSession } = require('../../support/servers/sql-session.ts');

const COMMAND_MS = 300_000;
const SQL_MS = 30_000;
const NPM_FLAGS = ['--strict-peer-deps', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
const OF_NEST = ['common', 'core', 'platform-express', 'testing'].map((name) => `@nestjs/${name}@12`);
const OF_TYPEORM = ['@nestjs/typeorm@12', 'typeorm@1', 'better-sqlite3@13', 'pg@8'];
const OTHERS = ['reflect-metadata@0.2', 'rxjs@7', 'typescript@6', '@types/node', '@types/pg'];
const MAIN = 'src/main.ts';

const tsconfig = {
  compilerOptions: {
    target: 'ES2022',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    rootDir: 'src',
    outDir: 'dist',
  },
  include: ['src'],
  exclude: ['src/*.test.ts'],
};

/**
 * One fresh application in one runtime: it is installed, tested and bundled there, starts on a worker table of PostgreSQL,
 * issues IDs, saves an entity, and gives its only worker id back on SIGTERM, so that the second start has it at once.
 * @param server the URL of a PostgreSQL on which databases may be created
 * @returns the versions that ran
 * @throws Error with what was printed when something is wrong
 */
export async function checkRuntime(runtime, packed, server, directory) {
  const folder = join(directory, runtime.name);
  await install(runtime, packed, folder);
  if (runtime.test !== undefined) await test(runtime, folder);
  if (runtime.compiled) await runIn(folder, [process.execPath, 'node_modules/typescript/bin/tsc', '-p', '.']);
  if (runtime.bundle !== undefined) await runIn(folder, runtime.bundle);
  if (runtime.start !== undefined) {
    await onDatabase(server, `raindrop_runtimes_${runtime.name}_${process.pid}`, async (url, sql) => {
      const where = runtime.bundle === undefined ? folder : alone(folder, `${folder}-alone`);
      await serve(runtime.start, where, url, sql);
      await serve(runtime.start, where, url, sql);
      if (runtime.refuses !== undefined) await refuse(runtime, folder, url);
    });
  }
  if (runtime.sqlite) {
    await serve(runtime.start, folder);
    await serve(runtime.start, folder);
  }
  return [...runtime.tools, '@nestjs/core'].map((name) => `${name} ${versionIn(folder, name)}`);
}

async function install({ name, tools }, packed, folder) {
  cpSync(join(import.meta.dirname, 'app'), join(folder, 'src'), { recursive: true });
  cpSync(join(import.meta.dirname, 'webpack.mjs'), join(folder, 'webpack.mjs'));
  writeJson(join(folder, 'tsconfig.json'), tsconfig);
  // Bun, Deno and esbuild put their programs in place by a script, which a later npm runs only if the application says so.
  const allowScripts = Object.fromEntries(tools.map((tool) => [tool, true]));
  // TypeORM's own peer range ends before better-sqlite3 13: docs/versions.md.
  const overrides = { typeorm: { 'better-sqlite3': '13' } };
  const manifest = { name: `on-${name}`, private: true, type: 'module', allowScripts, overrides };
  writeJson(join(folder, 'package.json'), manifest);
  const tarballs = packed.map(({ tarball }) => tarball);
  await runIn(folder, ['npm', 'install', ...NPM_FLAGS, ...tarballs, ...OF_NEST, ...OF_TYPEORM, ...OTHERS, ...tools]);
}

async function test({ test: [program, ...args], passed }, folder) {
  const { code, stdout, stderr } = await run([program, ...args], { cwd: folder, withinMs: COMMAND_MS });
  const printed = `${stdout}${stderr}`;
  assert.ok(code === 0 && passed.test(printed), `its tests ended with ${code}:\n${printed}`);
}

/** Takes the bundle to a folder above which no package is installed. */
function alone(folder, elsewhere) {
  mkdirSync(elsewhere);
  cpSync(join(folder, 'bundle/main.cjs'), join(elsewhere, 'main.cjs'));
  return elsewhere;
}

/** One life of the application, on SQLite if no URL is given. */
async function serve(command, folder, url, sql) {
  const app = new Child(command, { cwd: folder, environment: { DATABASE_URL: url } });
  try {
    const [, address] = await app.says(/^listening at (\S+)$/m);
    const { id } = await request(`${address}/ids`, 'POST');
    assert.deepEqual(await request(`${address}/ids/${id}`), { workerId: 7 });
    assert.deepEqual(await request(`${address}/ids/12abc`), { error: 'InvalidIdError' });
    const saved = await request(`${address}/ids/orders`, 'POST');
    assert.deepEqual(await request(`${address}/ids/${saved.id}`), { workerId: 7 });
    if (sql) assert.equal(await isHeld(sql), true, 'the worker row shows no holder while the application runs');
    // Nest sends itself the signal again when everything is closed, so that is how the process ends.
    const { code, signal } = await app.end('SIGTERM');
    assert.equal(signal, 'SIGTERM', `it ended with ${code}`);
    if (sql) assert.equal(await isHeld(sql), false, 'the worker id is still held after SIGTERM');
    assert.doesNotMatch(app.printed, /\b(WARN|ERROR)\b/, 'it warns');
  } catch (error) {
    throw new Error(`${error.message}\nthe application's output:\n${app.printed}`, { cause: error });
  } finally {
    await app.end('SIGKILL');
  }
}

async function isHeld(sql) {
  const [row] = await sql(`select token from soc_raindrop_worker where id = 7`);
  return row.token !== '';
}

/** Without names Nest listens for signals that this runtime does not allow: docs/versions.md says so. */
async function refuse({ start, refuses }, folder, url) {
  const source = readFileSync(join(folder, MAIN), 'utf8');
  const named = `enableShutdownHooks(['SIGINT', 'SIGTERM'])`;
  assert.ok(source.includes(named), `${MAIN} does not have ${named}`);
  const unnamed = 'src/all-signals.ts';
  writeFileSync(join(folder, unnamed), source.replace(named, 'enableShutdownHooks()'));
  const command = start.map((word) => (word === MAIN ? unnamed : word));
  const { code, stdout, stderr } = await run(command, {
    cwd: folder,
    environment: { DATABASE_URL: url },
    withinMs: COMMAND_MS,
  });
  const printed = `${stdout}${stderr}`;
  assert.ok(code !== 0 && refuses.test(printed), `without names of signals it ended with ${code}:\n${printed}`);
}

async function onDatabase(server, name, use) {
  await createDatabase('postgres', server, name);
  try {
    const url = new URL(server);
    url.pathname = name;
    const address = serverAddress(url.href, serverFacts.postgres.usualPort);
    await withPostgresSession(address, SQL_MS, (sql) => use(url.href, sql));
  } finally {
    await dropDatabases('postgres', server, [name]);
  }
}

async function request(url, method = 'GET') {
  const response = await fetch(url, { method });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${new URL(url).pathname} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

function runIn(folder, [program, ...args]) {
  return runCommand(program, args, { cwd: folder, withinMs: COMMAND_MS });
}

function versionIn(folder, name) {
  return JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}
