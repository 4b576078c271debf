/**
 * What `npm run test:all` runs and `npm test` does not, as regular expressions of paths: what starts processes, waits
 * for browsers, failovers and minutes of faults, or puts a database under the load of many.
 */
const slow = [
  '.*\\.e2e-spec',
  'test/chaos/',
  'test/contract/concurrent-acquirers',
  'test/docs/getting-started-guide',
  'test/examples/',
  'test/failover/',
  'test/figures/',
  'test/page/',
  'libs/node/src/nats/.*\\.int-spec',
  'libs/typeorm/src/business-number/gapless',
];

/** Random runs and cells of the matrix: a part in the one, the rest in the other (tier.ts). */
const shared = [
  'test/cluster-ids/cluster-ids.spec',
  'test/entities/entity-paths',
  'test/simulation/uniqueness',
  'libs/core/src/generator/(issued-by-code|uniqueness|workers)',
  'libs/core/src/layout/(fingerprint|layout-options.random|layout.property)',
  'libs/core/src/lease/(find-layout|layout-(changes|conflicts))',
  'libs/core/src/(prefetch|segment|short-id)/.*-uniqueness',
  'libs/nestjs/src/testing/raindrop-testbed',
];

/** What takes longest begins first, or the run waits for it at its end with one core idle. */
const longest = [
  'test/simulation/uniqueness',
  'test/demo/demo-processes',
  'test/chaos/chaos.e2e',
  'test/cluster-ids/cluster-ids.e2e',
  'libs/node/src/state-file/state-file.e2e',
  'libs/typeorm/src/business-number/gapless',
  'test/examples/two-data-centres',
];

module.exports = { slow, shared, longest };
