const { existsSync } = require('node:fs');
const { resolve, sep } = require('node:path');

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
  return options.defaultResolver(request, options);
};
