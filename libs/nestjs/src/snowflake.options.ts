import {
  Layout,
  OptionReader,
  readGeneratorOptions,
  readLayout,
  readLeaseOptions,
  readUsage,
  resolvedFor,
  type GeneratorOptions,
  type LayoutOptions,
  type LeaseOptions,
  type ResolvedGeneratorOptions,
  type ResolvedLayout,
  type ResolvedLeaseOptions,
} from '@raindrop/core';
import { readCommonOptions, type CommonModuleOptions, type ResolvedCommonOptions } from './options/common-options.js';
import { refuseLeaseOptions, refuseMisplaced } from './options/misplaced-options.js';
import { refuseNonObject } from './options/options-object.js';
import { DEFAULT_WORKER_TABLE } from './typeorm/worker-store/worker-table-name.js';

/** The options of a service of snowflakes. `tableName` is the worker table's, by default `soc_raindrop_worker`. */
export interface SnowflakeModuleOptions
  extends Partial<LayoutOptions>, GeneratorOptions, LeaseOptions, CommonModuleOptions {
  /** A ready layout in place of the bit options. */
  layout?: Layout;
  /** What kind of IDs: `snowflake`, in any case. Default `snowflake`. */
  idMode?: 'snowflake';
  /** Where worker ids come from: leased from the `database`, or given by hand and without any promise. Default `database`. */
  workerIdAssigner?: 'database' | 'static';
  /** The worker id of the `static` assigner. */
  workerId?: number;
  /** Part of the worker's code, 0-65535. Default 0. */
  servicePort?: number;
  /** Store a hash in place of address and hardware address. Default false. */
  hashCode?: boolean;
  /** The zone in which the original's programs write their times on MySQL, such as `+08:00`. Default `+00:00`. */
  foreignTimeZone?: string;
  /** Read the clock once in a turn of the event loop, or at every call. Default `turn`. */
  clock?: 'turn' | 'exact';
}

/** The options, checked and complete. Nothing downstream reads raw options. */
export interface ResolvedSnowflakeOptions extends ResolvedCommonOptions {
  readonly idMode: 'snowflake';
  readonly layout: ResolvedLayout;
  readonly generator: ResolvedGeneratorOptions;
  readonly lease: ResolvedLeaseOptions;
  /** Set for a worker id given by hand. */
  readonly staticWorkerId: number | undefined;
  readonly servicePort: number;
  readonly hashCode: boolean;
  readonly foreignTimeZone: string;
  readonly clock: 'turn' | 'exact';
}

const DECIDED_BY_LAYOUT = [
  'timeUnit',
  'startTimeStamp',
  'timeStampLength',
  'workIdLength',
  'endBitsLength',
  'endBitsValue',
] as const;

/** Most worker rows that are created for a layout that names no range. */
const MAX_DEFAULT_WORKERS = 1_023;

/**
 * Checks all options at once.
 * @throws ConfigurationError naming every option that is wrong
 */
export function resolveSnowflakeOptions(options: SnowflakeModuleOptions, nowMs: number): ResolvedSnowflakeOptions {
  refuseNonObject('options', options, 'must be an object with the options');
  const reader = new OptionReader(options);
  reader.oneOf('idMode', ['snowflake', 'numberSection'], 'snowflake');
  refuseMisplaced(reader, 'snowflake');
  const layout = readAnyLayout(reader, nowMs);
  const unitMs = layout?.layout.unitMs ?? 1_000;
  const generator = readGeneratorOptions(reader, unitMs);
  const lease = readLeaseOptions(reader);
  const staticWorkerId = readStaticWorker(reader, layout);
  const resolved = {
    idMode: 'snowflake',
    generator,
    lease,
    staticWorkerId,
    servicePort: reader.integer('servicePort', { min: 0, max: 65_535, default: 0 }),
    hashCode: reader.boolean('hashCode', false),
    foreignTimeZone: reader.string('foreignTimeZone', {
      fallback: '+00:00',
      pattern: /^[+-](0\d|1[0-4]):[0-5]\d$/,
      legal: `an offset such as '+08:00'`,
    }),
    clock: reader.oneOf('clock', ['turn', 'exact'], 'turn'),
    ...readCommonOptions(reader, DEFAULT_WORKER_TABLE),
  } as const;
  reader.finish();
  return Object.freeze({ layout: layout!, ...resolved });
}

/** The bit options, or a ready layout in their place. */
function readAnyLayout(reader: OptionReader, nowMs: number): ResolvedLayout | undefined {
  const given = reader.value('layout');
  if (given === undefined) return readLayout(reader, nowMs);
  for (const option of DECIDED_BY_LAYOUT) {
    const value = reader.value(option);
    if (value !== undefined) reader.problem(option, value, 'cannot be given together with layout, which decides it');
  }
  if (!(given instanceof Layout)) {
    reader.problem('layout', given, 'must be a Layout, as createLayout() returns it');
    return undefined;
  }
  const usage = readUsage(reader, given.maxWorkerId, Math.min(given.maxWorkerId, MAX_DEFAULT_WORKERS));
  return resolvedFor(given, usage, nowMs);
}

function readStaticWorker(reader: OptionReader, layout: ResolvedLayout | undefined): number | undefined {
  const assigner = reader.oneOf('workerIdAssigner', ['database', 'static'], 'database');
  if (assigner === 'static') refuseLeaseOptions(reader);
  const given = reader.value('workerId');
  if (assigner === 'database') {
    if (given !== undefined) reader.problem('workerId', given, `is for workerIdAssigner: 'static' only`);
    return undefined;
  }
  const { min, max } = layout?.workers ?? { min: 0, max: MAX_DEFAULT_WORKERS };
  return reader.integer('workerId', { min, max, hint: 'the range of this service' });
}
