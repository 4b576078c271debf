/**
 * Checks what would be published: `node test/published/packaging/check.mjs` for everything, or with the names of steps
 * (`contents`, `types`, `dependencies`, `nest12-esm`, ...). Needs `npm run build:libs` first. Everything happens in a
 * temporary directory.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
