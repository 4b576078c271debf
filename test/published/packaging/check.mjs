/**
 * Checks what would be published: `node test/published/packaging/check.mjs` for everything, or with the names of steps
 * (`contents`, `types`, `dependencies`, `nest12-esm`, `orm-kysely`, `manager-pnpm-9`, ...). Needs `npm run build:packages`
 * first. Everything happens in a temporary directory.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apps, nameOf, oldestTypescript } from './apps.mjs';
import { checkApp, checkCompiler } from './check-app.mjs';
import { checkContents } from './check-contents.mjs';
import { checkDeclarations } from './check-declarations.mjs';
import { checkDependencies } from './check-dependencies.mjs';
import { checkManager, managerApps } from './check-manager.mjs';
import { checkNestAdd, nestAddApps } from './check-nest-add.mjs';
import { checkPeers } from './check-peers.mjs';
import { checkTypes } from './check-types.mjs';
import { checkVersions } from './check-versions.mjs';
import { packLibraries } from './pack-libraries.mjs';

const require = createRequire(import.meta.url);
require('../../typescript-hook.cjs');
const { checkOrm, ormApps } = require('./check-orm.ts');

/** Its peers are ORMs, which an application of Nest does not have. */
const withoutOrm = (packages) => packages.filter(({ manifest }) => !manifest.name.endsWith('/orm'));

const steps = {
  contents: checkContents,
  types: checkTypes,
  declarations: checkDeclarations,
  dependencies: checkDependencies,
  versions: checkVersions,
  peers: checkPeers,
  ...Object.fromEntries(
    apps.map((app) => [nameOf(app), (packages, ...where) => checkApp(app, withoutOrm(packages), ...where)]),
  ),
  [nameOf(oldestTypescript)]: (packages, ...where) => checkCompiler(oldestTypescript, withoutOrm(packages), ...where),
  ...Object.fromEntries(ormApps.map((app) => [`orm-${app.name}`, (...where) => checkOrm(app, ...where)])),
  ...Object.fromEntries(managerApps.map((app) => [`manager-${app.name}`, (...where) => checkManager(app, ...where)])),
  ...Object.fromEntries(nestAddApps.map((app) => [`nest-add-${app.nest}`, (...where) => checkNestAdd(app, ...where)])),
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !(name in steps));
if (unknown.length > 0) {
  console.error(`unknown step ${unknown.join(', ')}; there are ${Object.keys(steps).join(', ')}`);
  process.exit(2);
}

process.exitCode = chosen.length > 0 ? await checkAll(chosen) : await checkInHalves(Object.keys(steps));

/** Each of them waits for one process at a time: two side by side take half as long. */
async function checkInHalves(names) {
  const halves = [names.filter((_, index) => index % 2 === 0), names.filter((_, index) => index % 2 === 1)];
  const codes = halves.map(async (half) => {
    const [code] = await once(spawn(process.execPath, [process.argv[1], ...half], { stdio: 'inherit' }), 'close');
    return code ?? 1;
  });
  return Math.max(...(await Promise.all(codes)));
}

async function checkAll(names) {
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-packaging-'));
  let failures = 0;
  try {
    const packages = packLibraries(directory);
    for (const name of names) {
      const began = performance.now();
      const problems = await steps[name](packages, directory);
      const seconds = Math.round((performance.now() - began) / 1_000);
      failures += problems.length;
      console.log(`packaging: ${name} ${problems.length === 0 ? 'is right' : 'is wrong'} (${seconds} s)`);
      for (const problem of problems) {
        console.log(`  - ${problem}`);
      }
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return failures === 0 ? 0 : 1;
}
