import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { nameOf } from './apps.mjs';
import { checkCli } from './check-cli.mjs';
import { installApp, optionalPeers } from './install-app.mjs';
import { RunningApp } from './running-app.mjs';

const PROGRAM_MS = 600_000;
/** Nest 10 warns when it takes more than 10 ms to name a module: on a busy machine that is anyone's. */
const SLOW_HOST = /^.*\[ModuleTokenFactory\].* is taking .*$/gm;
/** Past 2^53 with the app's layout, so a digit lost anywhere shows. */
const DECIMAL = /^\d{17,19}$/;

/**
 * One fresh app outside the workspace: installs the tarballs, type-checks, imports every entry, starts, issues, saves,
 * is healthy, shuts down, and starts once more.
 */
export async function checkApp(app, packages, directory) {
  const folder = join(directory, nameOf(app));
  const steps = [
    () => installApp(app, packages, folder),
    () => console.log(`${nameOf(app)}: ${installedVersions(folder).join(', ')}`),
    () => compile(folder, 'tsconfig.json'),
    () => importEntries(folder),
    () => serve(folder),
    ...(app.cli ? [() => checkCli(folder, packages)] : []),
    ...(app.jest ? [() => run(folder, 'jest', ['node_modules/jest/bin/jest.js'])] : []),
    () => doWithoutOptionalPeers(folder, packages),
  ];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      // Later steps need the earlier ones.
      return [error.message];
    }
  }
  return [];
}

/**
 * A fresh app that is only compiled: the declarations of our packages are for older compilers too. Those of other packages
 * may be for newer ones.
 */
export function checkCompiler(app, packages, directory) {
  const folder = join(directory, nameOf(app));
  try {
    installApp(app, packages, folder);
    console.log(`${nameOf(app)}: ${installedVersions(folder).join(', ')}`);
    const args = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json', '--pretty', 'false'];
    const { status, signal, stdout } = spawnSync(process.execPath, args, {
      cwd: folder,
      encoding: 'utf8',
      timeout: PROGRAM_MS,
      killSignal: 'SIGKILL',
    });
    const errors = stdout.split('\n').filter((line) => /error TS\d/.test(line));
    if (status !== 0 && errors.length === 0) return [`tsc ended with ${signal ?? status}: ${stdout}`];
    return errors.filter((line) => !/^node_modules\/(?!@raindrop\/)/.test(line));
  } catch (error) {
    return [error.message];
  }
}

function installedVersions(folder) {
  const dependencies = ['@nestjs/core', '@nestjs/typeorm', 'typeorm', '@nestjs/terminus', 'typescript'];
  return dependencies.map((name) => {
    const path = join(folder, 'node_modules', name, 'package.json');
    return `${name} ${JSON.parse(readFileSync(path, 'utf8')).version}`;
  });
}

function compile(folder, project) {
  run(folder, `tsc -p ${project}`, ['node_modules/typescript/bin/tsc', '-p', project]);
}

function importEntries(folder) {
  const output = run(folder, 'importing every entry', ['dist/exports.js']);
  assert.doesNotMatch(output, / 0$/m, `an entry offers no name:\n${output}`);
}

async function serve(folder) {
  const order = await withApp(folder, async (app) => {
    const address = await app.address();
    const { id } = await request(`${address}/ids`, { method: 'POST' });
    assert.match(id, DECIMAL);
    const saved = await request(`${address}/orders`, { method: 'POST', json: { customer: 'Ada' } });
    assert.match(saved.id, DECIMAL);
    assert.deepEqual(await request(`${address}/orders/${saved.id}`), saved);
    const { info } = await request(`${address}/health`);
    assert.equal(info.database.status, 'up');
    assert.equal(info.ids.status, 'up');
    assert.equal(info.ids.workerId, 7);
    // Nest sends itself the signal again when everything is closed, so that is how the process ends.
    assert.equal(await app.end('SIGTERM'), 'SIGTERM');
    return saved;
  });
  // The second start needs the worker id back, and finds what the first one wrote.
  await withApp(folder, async (app) => {
    const address = await app.address();
    assert.deepEqual(await request(`${address}/orders/${order.id}`), order);
    // Only app.close() this time: nothing is left that keeps the process alive.
    assert.equal(await app.end('SIGINT'), 0);
  });
}

async function withApp(folder, use) {
  const app = new RunningApp(folder);
  try {
    const result = await use(app);
    assert.doesNotMatch(app.output.replace(SLOW_HOST, ''), /\b(WARN|ERROR)\b/, 'it warns');
    return result;
  } catch (error) {
    throw new Error(`${error.message}\nthe app's output:\n${app.output}`, { cause: error });
  } finally {
    await app.kill();
  }
}

async function request(url, { method = 'GET', json } = {}) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method, headers, ...(json && { body: JSON.stringify(json) }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${new URL(url).pathname} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

/** The main entry, its code and its types, needs none of the packages that are optional, TypeORM among them. */
function doWithoutOptionalPeers(folder, packages) {
  for (const name of optionalPeers(packages)) {
    rmSync(join(folder, 'node_modules', name), { recursive: true });
  }
  compile(folder, 'tsconfig.bare.json');
  assert.match(run(folder, 'issuing without optional peers', ['dist/bare.js']), /^issued \d{15,19}$/m);
}

function run(folder, what, args) {
  const options = { cwd: folder, encoding: 'utf8', timeout: PROGRAM_MS, killSignal: 'SIGKILL' };
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, args, options);
  const output = `${stdout}${stderr}`.trim();
  if (status !== 0) throw new Error(`${what} failed (${signal ?? `code ${status}`})\n${output}`);
  return output;
}
