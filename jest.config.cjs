const base = require('./jest.base.cjs');

/** Every test. The global set-up finds or starts the database servers (test/servers). */
module.exports = {
  ...base,
  testRegex: '\\.(spec|int-spec|e2e-spec)\\.ts$',
  testTimeout: 30_000,
  globalSetup: '<rootDir>/test/servers/global-setup.ts',
  globalTeardown: '<rootDir>/test/servers/global-teardown.ts',
};
