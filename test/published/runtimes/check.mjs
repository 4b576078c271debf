/**
 * Runs an application from the packed libraries in other runtimes than Node, in bundles and in other test runners than
 * Jest: `node test/published/runtimes/check.mjs` for all, or with names (`bun`, `deno`, `esbuild`, `webpack`, `vitest`).
 * Needs `npm run build:libs` before, and a PostgreSQL that it finds or starts. Everything happens in a temporary directory.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packLibraries } from '../packaging/pack-libraries.mjs';
import { checkRuntime } from './check-runtime.mjs';
import { runtimes } from './runtimes.mjs';

const require = createRequire(import.meta.url);
const { AptInstall } = require('../../support/servers/apt-install.ts');
const { obtainServer } = require('../../support/servers/obtain-server.ts');
const { waysTo } = require('../../support/servers/ways.ts');

/** What an application without an ORM installs. */
const LIBRARIES = ['core', 'node', 'typeorm', 'nestjs'].map((name) => `libs/${name}`);

const names = process.argv.slice(2);
const unknown = names.filter((name) => !runtimes.some((runtime) => runtime.name === name));
if (unknown.length > 0) {
  console.error(`unknown runtime ${unknown.join(', ')}; there are ${runtimes.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

process.exitCode = await checkAll(runtimes.filter(({ name }) => names.length === 0 || names.includes(name)));

async function checkAll(chosen) {
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-runtimes-'));
  let failures = 0;
  try {
    const packed = packLibraries(directory, LIBRARIES);
    const server = await obtainServer('postgres', waysTo('postgres', process.env, new AptInstall()));
    try {
      for (const runtime of chosen) {
        if (!(await isRight(runtime, packed, server.url, directory))) failures += 1;
      }
    } finally {
      await server.stop?.();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return failures === 0 ? 0 : 1;
}

async function isRight(runtime, ...given) {
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1_000);
  try {
    const versions = await checkRuntime(runtime, ...given);
    console.log(`runtimes: ${runtime.name} is right (${seconds()} s): ${versions.join(', ')}`);
    return true;
  } catch (error) {
    console.log(`runtimes: ${runtime.name} is wrong (${seconds()} s)\n  - ${error.message}`);
    return false;
  }
}
