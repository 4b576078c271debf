/**
 * npm runs this ("dependencies" in package.json) whenever it has changed node_modules.
 *
 * better-sqlite3 13 needs Node 22: on Node 20 npm skips it, and installs version 12 in this folder instead. TypeORM and
 * the tests look for it in node_modules.
 */
const { existsSync, readFileSync, symlinkSync, writeFileSync } = require('node:fs');
const { join, relative } = require('node:path');

const modules = join(__dirname, '..', '..', 'node_modules');
const version12 = join(__dirname, 'node_modules', 'better-sqlite3');
const place = join(modules, 'better-sqlite3');

if (process.versions.node.startsWith('20.') && existsSync(version12) && !existsSync(place)) {
  symlinkSync(relative(modules, version12), place, 'junction');
}

// Version 13 brings its binaries and says `gypfile: false`, which npm leaves out of the lockfile: `npm ci` would then ask
// for Python and a compiler, and drop the package without a word where they are missing.
const lockfile = join(modules, '..', 'package-lock.json');
const lock = JSON.parse(readFileSync(lockfile, 'utf8'));
const version13 = lock.packages['node_modules/better-sqlite3'];
if (version13.gypfile !== false) {
  version13.gypfile = false;
  writeFileSync(lockfile, `${JSON.stringify(lock, null, 2)}\n`);
}
