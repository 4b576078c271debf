// For processes that a test starts with `node --require`: loads this workspace's TypeScript without a build.
const { transformSync } = require('@swc/core');
const { existsSync, readFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, resolve } = require('node:path');

const { packages, swc } = require('./support/jest/typescript.cjs');
const root = resolve(__dirname, '..');
const patterns = Object.keys(packages);

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (request, parent, ...rest) {
  const pattern = patterns.find((each) => new RegExp(each).test(request));
  const file = pattern && request.replace(new RegExp(pattern), packages[pattern]).replace('<rootDir>', root);
  const source = /^\..*\.js$/.test(request) && resolve(dirname(parent.filename), request.replace(/\.js$/, '.ts'));
  return resolveFilename.call(this, file || (source && existsSync(source) ? source : request), parent, ...rest);
};

require.extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), { ...swc, filename, swcrc: false });
  module._compile(code, filename);
};
