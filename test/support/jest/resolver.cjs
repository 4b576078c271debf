const { existsSync } = require('node:fs');
const { resolve, sep } = require('node:path');

/** Whether the drivers shall not find better-sqlite3, and take Node's own SQLite. What the tests import they do find. */
const lacksSqlite = process.env.RAINDROP_TEST_SQLITE === 'node:sqlite';
const DRIVERS = resolve(__dirname, '../../../libs/node/src/drivers');

const DEPENDENCY = `${sep}node_modules${sep}`;

/**
 * Finds `./lease.ts` where this workspace's TypeScript says `./lease.js`. Jest remembers what a resolver found, and not
 * what `moduleNameMapper` found: it looked for every file of every dependency again for each test file.
 */
module.exports = (request, options) => {
  if (/^\.{1,2}\/.*\.js$/.test(request) && !options.basedir.includes(DEPENDENCY)) {
    const source = resolve(options.basedir, request.replace(/\.js$/, '.ts'));
    if (existsSync(source)) return source;
  }
  if (lacksSqlite && request === 'better-sqlite3' && options.basedir === DRIVERS) {
    return resolve(__dirname, 'not-installed.cjs');
  }
  return options.defaultResolver(request, options);
};
