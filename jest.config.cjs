const { existsSync, readdirSync, readFileSync } = require('node:fs');
const { availableParallelism } = require('node:os');
const { join } = require('node:path');
const { packages, swc } = require('./test/support/jest/typescript.cjs');
const { shared, slow } = require('./test/tiers.cjs');

/**
 * What of the tests runs, by RAINDROP_TEST_TIER: `npm test` leaves it unset and runs what test/tiers.cjs does not call
 * slow; `all` (`npm run test:all`) runs the rest; `unit` (`npm run test:unit`) the pure tests alone; `every` runs what it is
 * told to, as in both.
 */
const tier = process.env.RAINDROP_TEST_TIER;
const SPEC = '\\.(spec|int-spec|e2e-spec)\\.ts$';

const everyRun = {
  testEnvironment: '<rootDir>/test/support/jest/missing-environment.ts',
  // For what hangs. Whatever a test waits for has a deadline of its own; a busy machine may be ten times slower.
  testTimeout: 180_000,
  transform: { '^.+\\.(m?ts|m?js)$': ['@swc/jest', swc] },
  // Nest 12 is ESM-only, which jest cannot load before Node 24.9: such packages are transformed, and no others.
  transformIgnorePatterns: [`/node_modules/(?!(?:${esmPackages().join('|')})/)`],
  // In jest's sandbox a look at a global takes half a microsecond, and loops of a million spend most of their time so.
  // Not Error and Set: mysql2 and asn1js declare their own. Not Date: tests replace it.
  sandboxInjectedGlobals: [
    ...['Array', 'BigInt', 'Function', 'JSON', 'Map', 'Math', 'Number', 'Object', 'Promise', 'String', 'Symbol'],
  ],
  extensionsToTreatAsEsm: [],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  moduleNameMapper: packages,
  resolver: '<rootDir>/test/support/jest/resolver.cjs',
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/libs/[^/]+/dist/'],
};

/** What runs with servers: the global set-up finds or starts them (test/support/servers). */
const withServers = {
  testRegex: tier === 'all' ? [`(?=.*/(${[...slow, ...shared].join('|')})).*${SPEC}`] : [SPEC],
  testPathIgnorePatterns: [
    '/node_modules/',
    ...(tier === 'all' || tier === 'every' ? [] : slow.map((pattern) => `<rootDir>/${pattern}`)),
  ],
  // Half of what they do is to wait, for databases and processes. Each may take a gigabyte.
  maxWorkers: Math.min(2 * availableParallelism(), 8),
  testSequencer: '<rootDir>/test/support/jest/longest-first.cjs',
  // What suites leave behind in a worker made the collector take ten times as long at the end of a run.
  workerIdleMemoryLimit: '700MB',
  reporters: ['default', '<rootDir>/test/support/jest/progress-reporter.cjs'],
  globalSetup: '<rootDir>/test/support/jest/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/jest/global-teardown.ts',
};

module.exports = { ...everyRun, ...(tier === 'unit' ? { testRegex: ['\\.spec\\.ts$'] } : withServers) };

/** The names of all installed packages whose files are ES modules. */
function esmPackages(folder = join(__dirname, 'node_modules')) {
  const names = readdirSync(folder).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(folder, name)).map((inner) => `${name}/${inner}`) : [name],
  );
  const found = names.flatMap((name) => {
    const manifest = join(folder, name, 'package.json');
    if (!existsSync(manifest)) return [];
    const nested = join(folder, name, 'node_modules');
    return [
      ...(JSON.parse(readFileSync(manifest, 'utf8')).type === 'module' ? [name] : []),
      ...(existsSync(nested) ? esmPackages(nested) : []),
    ];
  });
  return [...new Set(found)];
}
