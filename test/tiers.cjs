/**
 * What `npm run test:all` runs and `npm test` does not, as regular expressions of paths: what starts processes, servers
 * and an editor's language service, waits for browsers, failovers, deadlines of servers that say nothing and minutes of
 * faults, or puts a database under the load of many.
 */
const slow = [
  // All but the shop's, which runs in its own process.
  '.*(?<!apps/demo/.*)\\.e2e-spec',
  'libs/node/src/(etcd|nats)/.*\\.int-spec',
  'libs/node/src/database/(addresses|retired-sessions)',
  'libs/node/src/segment-table/segment-connection',
  'libs/node/src/workers/silent-database',
  'libs/typeorm/src/business-number/gapless',
  'test/proof/chaos/',
  'test/product/cli/(adopt|init-project)',
  'test/proof/contract/concurrent-acquirers',
  'test/product/service/(dearest-requests|refused-service|silent-database)',
  'test/published/docs/(getting-started-guide|option-hover)',
  'test/product/examples/',
  'test/orms/typeorm',
  'test/proof/failover/',
  'test/proof/figures/',
  'test/product/page/',
  'apps/id-service/src/database/refused-pool',
  'test/published/packaging/(loaded-packages|public-values)',
];

/** Random runs, ports and cells of the matrix: a part in the one, the rest in the other (tier.ts). */
const shared = [
  'test/product/cli/(backfill|sql|worker-table)\\.',
  'test/published/docs/(import|short-ids)-guide',
  'test/product/module/(default-layout|failure-table|health|raindrop-module|segment-module)\\.',
  'test/product/service/service-layout',
  'libs/node/src/service/open-backfill',
  'test/product/entities/entity-paths',
  'test/product/tables/(fence-workers|segment-table|who-issued|worker-table)',
  'test/proof/simulation/(broken-rules|restores|segments|uniqueness)',
  'test/proof/every-schedule/',
  'test/proof/database-ids/schedules',
  'libs/core/src/generator/(issued-counts|uniqueness)',
  'libs/core/src/layout/(fingerprint|layout-options.random|layout.property)',
  'libs/core/src/lease/(find-layout|layout-(changes|conflicts)|lost-grants|reservation)',
  'libs/core/src/(prefetch|segment|short-id)/.*-uniqueness',
  'libs/node/src/(database/own-database|service/(open-id-service|vanished-table)|public-ids/bit-permutation|remembered-layout|worker-node-table/disposable-assigner|state-file/state-directory|segment-table/giving-way|worker-table/(lost-connection|sql-worker-store))',
  'libs/typeorm/src/business-number/(business-number|transaction-with-retries)',
  'libs/typeorm/src/generated-snowflake/(generated-snowflake|repeated-rows)',
  'libs/nestjs/src/testing/raindrop-testbed',
];

/** What takes longest begins first, or the run waits for it at its end with one core idle. */
const longest = [
  'test/proof/simulation/(broken-rules|uniqueness)',
  'test/product/service/service-processes',
  'test/proof/chaos/chaos.e2e',
  'test/published/bench/bench.e2e',
  'libs/node/src/state-file/state-file.e2e',
  'libs/typeorm/src/business-number/gapless',
  'test/product/examples/two-data-centres',
];

module.exports = { slow, shared, longest };
