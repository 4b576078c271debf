const base = require('./jest.base.cjs');

/** Every test. The global set-up finds or starts the database servers (test/servers). */
module.exports = {
  ...base,
  testRegex: '\\.(spec|int-spec|e2e-spec)\\.ts$',
  // On two cores one worker leaves half of them to wait for databases: 18 minutes in place of 8.
  maxWorkers: 2,
  // What suites leave behind in a worker made the collector take ten times as long at the end of a run.
  workerIdleMemoryLimit: '700MB',
  globalSetup: '<rootDir>/test/servers/global-setup.ts',
  globalTeardown: '<rootDir>/test/servers/global-teardown.ts',
};
