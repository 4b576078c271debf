/**
 * What `npm run test:all` runs and `npm test` does not, as regular expressions of paths: what waits for browsers, whole
 * services, processes by the dozen, failovers and minutes of faults.
 */
const slow = [
  'test/chaos/',
  'test/cluster-ids/.*e2e-spec',
  'test/demo/(demo-outage|demo-processes|service-under-fire|slow-readers)',
  'test/docs/(cli-guide|compiled-blocks|shell-runs)',
  'test/examples/',
  'test/failover/',
  'test/figures/',
  'test/multi-process/(cluster|fork|supervisor-restarts|worker-threads)',
  'test/page/',
  'libs/nestjs/src/(state-file/state-file|typeorm/disposable/disposable-assigner)\\.e2e-spec',
];

/** Random runs and cells of the matrix: a part in the one, the rest in the other (tier.ts). */
const shared = [
  'test/cluster-ids/cluster-ids.spec',
  'test/entities/entity-paths',
  'test/simulation/uniqueness',
  'libs/core/src/generator/(issued-by-code|uniqueness|workers)',
  'libs/core/src/layout/(fingerprint|layout-options.random|layout.property)',
  'libs/core/src/lease/layout-(changes|conflicts)',
  'libs/core/src/(prefetch|segment|short-id)/.*-uniqueness',
  'libs/nestjs/src/testing/raindrop-testbed',
];

module.exports = { slow, shared };
