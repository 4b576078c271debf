import { ConfigurationError, presets } from '@raindrop/core';
import { openEngine } from '../engines/open-engine.js';
import { etcdWorkers } from '../etcd/etcd-workers.js';
import type { IdSource, SourcedService } from '../ports/id-engine.js';
import {
  AUDIENCES,
  BIT_OPTIONS,
  generatorOptions,
  leaseOptions,
  type OptionFacts,
  type Origin,
  segmentOptions,
} from '@raindrop/core/internal';
import { resolveServiceOptions } from './resolve-options.js';
import { segmentModuleOptions, serviceOptions, type ServiceOptions, snowflakeOptions } from './service-options.js';

const NOW = Date.parse('2026-03-01');
const BITS = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 };
const SILENT = { log: () => undefined, warn: () => undefined, error: () => undefined };
const OWN_STORE = { name: 'mine', openStore: () => ({}) };
const FRESH = { name: 'mine', guarantee: 'fresh', acquire: () => Promise.resolve(undefined) };

/** A service for each origin, or for those that a service has together. */
const SERVICES: readonly (readonly [readonly Origin[], object])[] = [
  [['database'], BITS],
  [['store'], { ...BITS, workerIdAssigner: OWN_STORE }],
  [['disposable'], { layout: presets.uidGenerator({ startTimeStamp: '2026-01-01' }), workerIdAssigner: 'disposable' }],
  [['fresh'], { ...BITS, workerIdAssigner: FRESH }],
  [['assigned'], { ...BITS, workerIdAssigner: 'ip' }],
  [['assigned', 'static'], { ...BITS, workerIdAssigner: 'static' }],
  [['assigned', 'stateFile'], { ...BITS, workerIdAssigner: 'ip', stateFile: '/state' }],
  [['idSource'], { ...BITS, idSource: sourceThat(() => undefined) }],
  [['numberSection'], { idMode: 'numberSection' }],
];

/** One value of each option that is not its default. */
const VALUES: Readonly<Record<string, unknown>> = {
  idMode: 'both',
  logger: SILENT,
  maxCodes: 7,
  maxBatch: 7,
  asyncTimeoutMs: 7,
  layout: presets.uidGenerator({ startTimeStamp: '2026-01-02' }),
  timeUnit: 'minute',
  startTimeStamp: '2026-01-02',
  timeStampLength: 34,
  workIdLength: 9,
  endBitsLength: 2,
  endBitsValue: 1,
  idSource: sourceThat(() => undefined),
  serviceMinWorkId: 2,
  serviceMaxWorkId: 9,
  timeBackBitValue: 1,
  minLifetimeDays: 7,
  expectedNodes: 5_000_000,
  expectedIdsPerSecond: 1e9,
  onClockBack: 'throw',
  onExhausted: 'wait',
  maxHoldMs: 7,
  maxAheadMs: 7,
  sequenceStart: 'random',
  clock: 'exact',
  workerIdAssigner: 'machine',
  workerId: 7,
  stateFile: '/other',
  restartWaitMs: false,
  servicePort: 7,
  hashCode: true,
  workerHistory: true,
  foreignTimeZone: '+08:00',
  heartbeatIntervalMs: 7_000,
  leaseMs: 70_000,
  horizonMs: 70_000,
  graceMs: 7_000,
  opTimeoutMs: 700,
  maxClockSkewMs: 7_000,
  commitLossWindowMs: 7_000,
  waitForWorkerMs: 7_000,
  priorityEqualCodeWorkId: true,
  adoptForeign: true,
  sharedWithOriginal: true,
  tableName: 'mine',
  autoCreateTable: false,
  dbConfig: 'postgres://host/ids',
  allowVolatile: true,
  codes: ['a'],
  defaultCode: 'a',
  autoCreateCode: false,
  defaultStep: 7,
  maxStep: 7,
  skipAfterFailover: 7,
  prefetchBelow: 0.5,
  chain: true,
  retryBaseMs: 7,
  retryMaxMs: 7_000,
  sharded: true,
  redis: { codes: () => undefined },
};

/** A `layout` takes the place of the bits. */
const WITHOUT_BITS = Object.fromEntries(BIT_OPTIONS.map((option) => [option, undefined]));

/** They say where IDs come from. */
const CHOICES = ['idMode', 'idSource', 'workerIdAssigner'];

/** Whether an option that is read does not show in what is opened: Nest logs what it finds in entities, also of a source. */
function isUnseen(option: string, service: object): boolean {
  return CHOICES.includes(option) || (option === 'logger' && 'idSource' in service);
}

function sourceThat(open: (service: SourcedService) => void): IdSource {
  return { name: 'a source', open: (service) => Promise.resolve(open(service) as never) };
}

const SURROUNDINGS = {
  name: 'ids',
  database: undefined,
  logger: SILENT,
  makeCustom: () => Promise.reject(new Error()),
};

/** What options come to: all that a service is opened with, or the problems. */
async function outcomeOf(
  options: object,
): Promise<{ problems: { option: string; message: string }[]; opened: unknown }> {
  try {
    const resolved = resolveServiceOptions(options as ServiceOptions, NOW);
    if (!('idSource' in resolved) || resolved.idSource === undefined) return { problems: [], opened: resolved };
    let opened: unknown;
    const idSource = sourceThat(({ layout, generator: { maxCodes, maxBatch, asyncTimeoutMs } }) => {
      opened = { layout: layout?.fingerprint, maxCodes, maxBatch, asyncTimeoutMs };
    });
    await openEngine({ ...resolved, idSource }, SURROUNDINGS);
    return { problems: [], opened };
  } catch (error) {
    if (error instanceof ConfigurationError) return { problems: [...error.problems], opened: undefined };
    throw error;
  }
}

const CASES = SERVICES.flatMap(([origins, service]) =>
  Object.entries<OptionFacts>(serviceOptions)
    .map(([option, { readBy }]) => {
      const isRead = AUDIENCES[readBy!].origins.some((each) => origins.includes(each));
      return [option, isRead ? 'has an effect' : 'is refused', origins, service] as const;
    })
    .filter(([option]) => !('layout' in service) || !(BIT_OPTIONS as readonly string[]).includes(option)),
);

it.each(CASES)('%s %s with %j', async (option, verdict, _, service) => {
  const given = { ...service, ...(option === 'layout' && WITHOUT_BITS), [option]: VALUES[option] };
  const [before, after] = await Promise.all([outcomeOf(service), outcomeOf(given)]);
  expect(before.problems).toEqual([]);
  const refusals = after.problems.filter((each) => each.option === option && each.message.startsWith('is for '));
  expect(refusals).toHaveLength(verdict === 'is refused' ? 1 : 0);
  if (verdict === 'is refused' || isUnseen(option, service)) return;
  expect(after.problems).toEqual([]);
  expect(after.opened).not.toEqual(before.opened);
});

it('a refusal names the store that was configured', async () => {
  const workerIdAssigner = etcdWorkers({ endpoints: 'http://127.0.0.1:2379' });
  const { problems } = await outcomeOf({ ...BITS, workerIdAssigner, stateFile: '/state' });
  expect(problems.map(({ message }) => message)).toEqual([
    `is for assigners without a record of issued IDs, unlike 'database', stores and 'disposable'; ` +
      'this one leases worker ids from etcd',
  ]);
});

it('tries every option', () => {
  expect(Object.keys(serviceOptions).sort()).toEqual(Object.keys(VALUES).sort());
});

it('an option of several groups has the same readers in each', () => {
  const groups = [generatorOptions, leaseOptions, segmentOptions, snowflakeOptions, segmentModuleOptions];
  for (const group of groups) {
    for (const [name, { readBy }] of Object.entries<OptionFacts>(group)) {
      expect([name, readBy]).toEqual([name, serviceOptions[name]?.readBy]);
    }
  }
});
