const { availableParallelism } = require('node:os');
const base = require('./jest.base.cjs');

/**
 * What waits for browsers, whole services, failovers and minutes of faults: `npm run test:all`, which also runs the
 * cells of the entity matrix and the random runs that `npm test` leaves out.
 */
const slow = [
  'test/chaos/',
  'test/docs/(shell-runs|compiled-blocks)',
  'test/examples/',
  'test/failover/',
  'test/figures/',
  'test/page/',
];

/** Their random runs and cells are shared out between the two. */
const shared = ['test/entities/entity-paths', 'test/simulation/uniqueness', 'libs/core/.*-uniqueness'];

const everything = process.env.RAINDROP_TEST_TIER === 'all';

/** The tests. The global set-up finds or starts the database servers (test/servers). */
module.exports = {
  ...base,
  testRegex: everything
    ? [`/(${[...slow, ...shared].join('|')}).*\\.(spec|int-spec|e2e-spec)\\.ts$`]
    : ['\\.(spec|int-spec|e2e-spec)\\.ts$'],
  testPathIgnorePatterns: ['/node_modules/', ...(everything ? [] : slow.map((folder) => `<rootDir>/${folder}`))],
  // On two cores one worker leaves half of them to wait for databases.
  maxWorkers: Math.max(2, availableParallelism() - 1),
  // What suites leave behind in a worker made the collector take ten times as long at the end of a run.
  workerIdleMemoryLimit: '700MB',
  reporters: ['default', '<rootDir>/test/servers/progress-reporter.cjs'],
  globalSetup: '<rootDir>/test/servers/global-setup.ts',
  globalTeardown: '<rootDir>/test/servers/global-teardown.ts',
};
