import { BIT_OPTIONS, type OptionReader } from '@raindrop/core/internal';

/**
 * Where the IDs of a service come from, as far as its options depend on that.
 *
 * `assigned` is an assigner that may give a worker id again without knowing how far it was used, `static` among them;
 * `stateFile` is one with a file that knows it, and `fresh` one of your own that never gives a worker id twice.
 */
export type Origin = 'database' | 'redisWorkers' | 'disposable' | 'fresh' | Assigned | 'idSource' | 'numberSection';
type Assigned = 'assigned' | 'static' | 'stateFile';

/** Options that the same services read. */
interface OptionGroup {
  /** What the options are for, in a refusal and in the documents. */
  readonly purpose: string;
  /** With one of these the options have an effect; with all others they are refused. */
  readonly readBy: readonly Origin[];
  readonly options: readonly string[];
}

const USAGE_OPTIONS = [
  ...(['serviceMinWorkId', 'serviceMaxWorkId', 'timeBackBitValue', 'expectedNodes', 'expectedIdsPerSecond'] as const),
] as const;

/** All of core's `LayoutOptions`. */
export const LAYOUT_OPTIONS = [...BIT_OPTIONS, ...USAGE_OPTIONS, 'minLifetimeDays'] as const;

const LEASED = ['database', 'redisWorkers'] as const;
const OWN = [...LEASED, 'disposable', 'fresh', 'assigned'] as const;
const ROWS = [...LEASED, 'stateFile'] as const;

/**
 * Which options are for which services. There is no other list; ranges and defaults stand in the checks that read the
 * options, and in their doc comments.
 */
export const OPTION_TABLE: readonly OptionGroup[] = [
  group('every service', [...OWN, 'idSource', 'numberSection'], 'idMode logger maxCodes maxBatch asyncTimeoutMs'),
  group(`idMode: 'snowflake'`, [...OWN, 'idSource'], `layout ${BIT_OPTIONS.join(' ')} idSource`),
  group(
    'a service with a worker id of its own',
    OWN,
    `workerIdAssigner ${USAGE_OPTIONS.join(' ')} hashCode clock onClockBack onExhausted maxHoldMs maxAheadMs sequenceStart`,
  ),
  group(`a service with a worker id of its own, and idMode: 'numberSection'`, [...OWN, 'numberSection'], 'opTimeoutMs'),
  group(
    `workerIdAssigner: 'database' and 'disposable' only, and idMode: 'numberSection'`,
    ['database', 'disposable', 'numberSection'],
    'dbConfig tableName autoCreateTable allowVolatile',
  ),
  group(
    `leased worker ids only, of 'database' and redisWorkers()`,
    LEASED,
    `heartbeatIntervalMs leaseMs horizonMs graceMs maxClockSkewMs commitLossWindowMs
     priorityEqualCodeWorkId adoptForeign`,
  ),
  group('leased worker ids and those with a stateFile', ROWS, 'waitForWorkerMs minLifetimeDays'),
  group(
    `worker ids of 'database', redisWorkers() and 'disposable' and those with a stateFile, beside which it is written`,
    [...ROWS, 'disposable'],
    'servicePort',
  ),
  group(
    `workerIdAssigner: 'database' only, whose table programs of the original may use`,
    ['database'],
    'sharedWithOriginal foreignTimeZone',
  ),
  group(`workerIdAssigner: 'static' only`, ['static'], 'workerId'),
  group(
    `assigners that do not know how far a worker id was used; 'database', redisWorkers() and 'disposable' do`,
    ['assigned'],
    'stateFile restartWaitMs',
  ),
  group(
    `idMode: 'numberSection'`,
    ['numberSection'],
    `codes defaultCode autoCreateCode defaultStep skipAfterFailover maxStep prefetchBelow chain retryBaseMs retryMaxMs sharded redis`,
  ),
];

function group(purpose: string, readBy: readonly Origin[], options: string): OptionGroup {
  return { purpose, readBy, options: options.split(/\s+/) };
}

/** What the service has in place of what reads an option. */
const INSTEAD: { readonly [Each in Origin]?: string } = {
  idSource: '; with idSource another process has the worker id',
  numberSection: `; this one has idMode: 'numberSection'`,
};

/** Refuses options that nothing reads here: they would be ignored, and whoever wrote them believes otherwise. */
export function refuseMisplaced(reader: OptionReader, origins: readonly Origin[]): void {
  const instead = origins.map((each) => INSTEAD[each] ?? '').join('');
  for (const { options, readBy, purpose } of OPTION_TABLE) {
    if (readBy.some((each) => origins.includes(each))) continue;
    for (const option of options) refuse(reader, option, `is for ${purpose}${instead}`);
  }
}

/** A URL may hold a password, and so may what a buffer or a source is made of. */
const HIDDEN = ['dbConfig', 'redis', 'idSource'];

/** Refuses an option that is given. */
export function refuse(reader: OptionReader, option: string, message: string): void {
  const given = reader.value(option);
  if (given === undefined) return;
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  reader.problem(option, isObject || HIDDEN.includes(option) ? '(hidden)' : given, message);
}
