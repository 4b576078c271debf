/**
 * Checks what would be published: `node test/packaging/check.mjs` for everything, or with the names of steps
 * (`contents`, `types`, `dependencies`, `nest12-esm`, ...). Needs `npm run build:libs` first. Everything happens in a
 * temporary directory.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apps, nameOf } from './apps.mjs';
import { checkApp } from './check-app.mjs';
import { checkContents } from './check-contents.mjs';
import { checkDependencies } from './check-dependencies.mjs';
import { checkTypes } from './check-types.mjs';
import { checkVersions } from './check-versions.mjs';
import { packLibraries } from './pack-libraries.mjs';

const steps = {
  contents: checkContents,
  types: checkTypes,
  dependencies: checkDependencies,
  versions: checkVersions,
  ...Object.fromEntries(apps.map((app) => [nameOf(app), (...where) => checkApp(app, ...where)])),
};

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !(name in steps));
if (unknown.length > 0) {
  console.error(`unknown step ${unknown.join(', ')}; there are ${Object.keys(steps).join(', ')}`);
  process.exit(2);
}

const directory = mkdtempSync(join(tmpdir(), 'raindrop-packaging-'));
let failures = 0;
try {
  const packages = packLibraries(directory);
  for (const [name, check] of Object.entries(steps)) {
    if (chosen.length > 0 && !chosen.includes(name)) {
      continue;
    }
    const began = performance.now();
    const problems = await check(packages, directory);
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
process.exitCode = failures === 0 ? 0 : 1;
