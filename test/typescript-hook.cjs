// For processes that a test starts with `node --require`: loads this workspace's TypeScript without a build.
const { transformSync } = require('@swc/core');
const { existsSync, readFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, resolve } = require('node:path');

const { transform, moduleNameMapper } = require('../jest.base.cjs');
const [[, options]] = Object.values(transform);
const root = resolve(__dirname, '..');
const packages = Object.keys(moduleNameMapper).filter((pattern) => pattern.startsWith('^@raindrop'));

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (request, parent, ...rest) {
  const pattern = packages.find((each) => new RegExp(each).test(request));
  const file = pattern && request.replace(new RegExp(pattern), moduleNameMapper[pattern]).replace('<rootDir>', root);
  const source = /^\..*\.js$/.test(request) && resolve(dirname(parent.filename), request.replace(/\.js$/, '.ts'));
  return resolveFilename.call(this, file || (source && existsSync(source) ? source : request), parent, ...rest);
};

require.extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), { ...options, filename, swcrc: false });
  module._compile(code, filename);
};
