/**
 * npm runs this ("dependencies" in package.json) whenever it has changed node_modules.
 *
 * better-sqlite3 13 needs Node 22: on Node 20 npm skips it, and installs version 12 inside of this package instead. A link
 * puts it where TypeORM and the tests look.
 */
const { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const modules = join(__dirname, '..', '..', 'node_modules');
const version12 = join('sqlite-on-node-20', 'node_modules', 'better-sqlite3');
const place = join(modules, 'better-sqlite3');

if (process.versions.node.startsWith('20.') && existsSync(join(modules, version12)) && !existsSync(place)) {
  // A link of an earlier installation may lead nowhere.
  rmSync(place, { force: true });
  symlinkSync(version12, place, 'junction');
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
