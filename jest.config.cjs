const { availableParallelism } = require('node:os');
const base = require('./jest.base.cjs');
const { shared, slow } = require('./test/tiers.cjs');

const SPEC = '\\.(spec|int-spec|e2e-spec)\\.ts$';
const everything = process.env.RAINDROP_TEST_TIER === 'all';

/** The tests. The global set-up finds or starts the database servers (test/support/servers). */
module.exports = {
  ...base,
  testRegex: everything ? [`(?=.*/(${[...slow, ...shared].join('|')})).*${SPEC}`] : [SPEC],
  testPathIgnorePatterns: ['/node_modules/', ...(everything ? [] : slow.map((pattern) => `<rootDir>/${pattern}`))],
  // Half of what they do is to wait, for databases and processes. Each may take a gigabyte.
  maxWorkers: Math.min(2 * availableParallelism(), 8),
  testSequencer: '<rootDir>/test/support/jest/longest-first.cjs',
  // What suites leave behind in a worker made the collector take ten times as long at the end of a run.
  workerIdleMemoryLimit: '700MB',
  reporters: ['default', '<rootDir>/test/support/jest/progress-reporter.cjs'],
  globalSetup: '<rootDir>/test/support/jest/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/jest/global-teardown.ts',
};
