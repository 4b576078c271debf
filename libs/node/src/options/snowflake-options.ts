import type {
  GeneratorOptions,
  Layout,
  LayoutOptions,
  LeaseOptions,
  ResolvedGeneratorOptions,
  ResolvedLayout,
  ResolvedLeaseOptions,
} from '@raindrop/core';
import {
  LASTING_LAYOUT,
  namesNoLayout,
  OptionReader,
  readAnyLayout,
  readGeneratorOptions,
  readLeaseOptions,
  reportOutsideLife,
} from '@raindrop/core/internal';
import {
  type CommonModuleOptions,
  readCommonOptions,
  refuseNonObject,
  type ResolvedCommonOptions,
} from './common-options.js';
import {
  type AssignerOptions,
  isReserving,
  needsNoRows,
  readAssignerOptions,
  type ResolvedAssignerOptions,
} from './assigner-options.js';
import { WORKER_NODE_TABLE } from '../worker-node-table/worker-node-table.js';
import type { IdSource } from '../ports/id-engine.js';
import { WORKER_TABLE } from '../worker-table/worker-table.js';

/** The options of a service of snowflakes. `tableName` is the worker table's, by default `soc_raindrop_worker`. */
export interface SnowflakeModuleOptions
  extends Partial<LayoutOptions>, GeneratorOptions, LeaseOptions, AssignerOptions, CommonModuleOptions {
  /**
   * A layout in place of the bit options: `number` for keys that are JavaScript numbers, with `startTimeStamp` and
   * `endBitsValue` beside it if so wanted; or a ready one.
   * @range `number`, or a `Layout`
   * @defaultValue without bit options the one that the worker table remembers; else 33 bits of seconds from 2026-01-01, 10
   *   worker bits, 1 end bit
   */
  layout?: Layout | 'number';
  /**
   * What kind of IDs: snowflakes, or numbers from segments, with the options of those.
   * @range `snowflake`, `numberSection`, in any case
   * @defaultValue `snowflake`
   */
  idMode?: 'snowflake';
  /**
   * Part of the worker's code.
   * @range 0-65,535
   * @defaultValue 0
   */
  servicePort?: number;
  /**
   * Store a hash in place of address and hardware address.
   * @range true, false
   * @defaultValue false
   */
  hashCode?: boolean;
  /**
   * The zone in which the original's programs write their times on MySQL and MariaDB (`loc` of their URL), for
   * `adoptForeign` and `sharedWithOriginal`. It has to be the server's own, and to have no summer time.
   * @range an offset such as `+08:00`
   * @defaultValue `+00:00`
   */
  foreignTimeZone?: string;
  /**
   * Read the clock once in a turn of the event loop (and every 256 calls), or at every call.
   * @range `turn`, `exact`
   * @defaultValue `turn`
   */
  clock?: 'turn' | 'exact';
  /**
   * Another process makes the IDs, in place of a worker id of its own (docs/threads.md, docs/service.md). The layout
   * is that process's.
   * @range `clusterPrimary({ ... })`, `remoteIds({ url })`
   * @defaultValue none
   */
  idSource?: IdSource;
}

/** The options, checked and complete. Nothing downstream reads raw options. */
export interface ResolvedSnowflakeOptions extends ResolvedCommonOptions {
  readonly idMode: 'snowflake';
  /** Of IDs that are made here; not set when `idSource` tells it. */
  readonly layout: ResolvedLayout;
  /**
   * Set when the options name no layout and the store of the worker ids knows which it is: the same options with that
   * one. Until then `layout` is a stand-in.
   * @throws ConfigurationError when other options do not go with it
   */
  readonly withLayout: ((layout: Layout) => ResolvedSnowflakeOptions) | undefined;
  readonly generator: ResolvedGeneratorOptions;
  readonly lease: ResolvedLeaseOptions;
  readonly assigner: ResolvedAssignerOptions;
  readonly servicePort: number;
  readonly hashCode: boolean;
  readonly foreignTimeZone: string;
  readonly clock: 'turn' | 'exact';
  /** Set when another process makes the IDs. */
  readonly idSource: IdSource | undefined;
  /** What its IDs have to have; undefined leaves it to the source. */
  readonly sourceLayout: Layout | undefined;
}

/** Most worker rows that are created for a layout that names no range. */
const MAX_DEFAULT_WORKERS = 1_023;

/**
 * Checks all options at once.
 * @throws ConfigurationError naming every option that is wrong
 */
export function resolveSnowflakeOptions<More extends object>(
  options: SnowflakeModuleOptions,
  nowMs: number,
  readMore: (reader: OptionReader) => More = () => ({}) as More,
): ResolvedSnowflakeOptions & More {
  refuseNonObject('options', options, 'must be an object with the options');
  const reader = new OptionReader(options);
  reader.oneOf('idMode', ['snowflake', 'numberSection'], 'snowflake');
  const idSource = readIdSource(reader);
  // Of a ready layout a row for each worker id would be created; who creates none has them all.
  const most = needsNoRows(reader.value('workerIdAssigner')) ? undefined : MAX_DEFAULT_WORKERS;
  const isUnnamed = namesNoLayout(reader);
  const layout = isUnnamed && idSource !== undefined ? undefined : readAnyLayout(reader, nowMs, most, LASTING_LAYOUT);
  refuseDeadLayout(reader, layout, nowMs);
  const unitMs = layout?.layout.unitMs ?? 1_000;
  const generator = readGeneratorOptions(reader, unitMs);
  const lease = readLeaseOptions(reader);
  const assigner = readAssignerOptions(reader, layout, generator, idSource !== undefined);
  const resolved = {
    idMode: 'snowflake',
    generator,
    lease: withDefaultWait(reader, lease, assigner),
    assigner,
    servicePort: reader.integer('servicePort', { min: 0, max: 65_535, default: 0 }),
    hashCode: reader.boolean('hashCode', false),
    foreignTimeZone: reader.string('foreignTimeZone', {
      fallback: '+00:00',
      pattern: /^[+-](0\d|1[0-4]):[0-5]\d$/,
      legal: `an offset such as '+08:00'`,
    }),
    clock: reader.oneOf('clock', ['turn', 'exact'], 'turn'),
    idSource,
    sourceLayout: layout?.layout,
    ...readCommonOptions(reader, defaultTableOf(assigner)),
    ...readMore(reader),
  } as const;
  reader.finish();
  const isRemembered = isUnnamed && idSource === undefined && remembersLayouts(assigner);
  const withLayout = isRemembered
    ? (found: Layout) => resolveSnowflakeOptions({ ...options, layout: found }, nowMs, readMore)
    : undefined;
  return Object.freeze({ layout: layout!, withLayout, ...resolved });
}

function readIdSource(reader: OptionReader): IdSource | undefined {
  const given = reader.value('idSource') as Partial<IdSource> | null | undefined;
  if (given === undefined || typeof given?.open === 'function') return given as IdSource | undefined;
  // It may hold a password.
  const legal = 'must be what clusterPrimary() or remoteIds() returns';
  reader.problem('idSource', `(${typeof given})`, legal);
  return undefined;
}

/** One that can only read would refuse every ID. */
function refuseDeadLayout(reader: OptionReader, resolved: ResolvedLayout | undefined, nowMs: number): void {
  const option = reader.value('layout') === undefined ? 'startTimeStamp' : 'layout';
  if (resolved !== undefined && !reader.refused(option)) reportOutsideLife(reader, option, resolved.layout, nowMs);
}

/** A store that may have to wait before it can give a worker id says for how long. */
function withDefaultWait(
  reader: OptionReader,
  lease: ResolvedLeaseOptions,
  { parts }: ResolvedAssignerOptions,
): ResolvedLeaseOptions {
  const use = parts.at(-1)?.use;
  if (reader.value('waitForWorkerMs') !== undefined || typeof use !== 'object' || !('openStore' in use)) return lease;
  return Object.freeze({ ...lease, waitForWorkerMs: use.defaultWaitMs?.(lease) ?? lease.waitForWorkerMs });
}

/**
 * Whether all worker ids come from one store that knows which layouts it has served. Of several assigners processes may
 * take different ones, and a state file is known to one host alone.
 */
function remembersLayouts({ parts }: ResolvedAssignerOptions): boolean {
  return parts.length === 1 && isReserving(parts[0]!.use);
}

function defaultTableOf({ parts }: ResolvedAssignerOptions): string {
  return parts.at(-1)?.use === 'disposable' ? WORKER_NODE_TABLE.defaultName : WORKER_TABLE.defaultName;
}
