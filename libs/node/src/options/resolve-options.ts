import type {
  Layout,
  ResolvedGeneratorOptions,
  ResolvedLayout,
  ResolvedLeaseOptions,
  ResolvedSegmentOptions,
} from '@raindrop/core';
import {
  LASTING_LAYOUT,
  namesNoLayout,
  OptionReader,
  readAnyLayout,
  readGeneratorOptions,
  readLeaseOptions,
  readOptions,
  type ReadOptions,
  reportOutsideLife,
  segmentOptions,
} from '@raindrop/core/internal';
import { SEGMENT_TABLE } from '../segment-table/segment-tables.js';
import { WORKER_NODE_TABLE } from '../worker-node-table/worker-node-table.js';
import { WORKER_TABLE } from '../worker-table/worker-table.js';
import { isReserving, needsNoRows, readAssignerOptions, type ResolvedAssignerOptions } from './assigner-options.js';
import { commonOptions, refuseNonObject, type ResolvedCommonOptions } from './common-options.js';
import {
  refuseMisplaced,
  segmentModuleOptions,
  type SegmentModuleOptions,
  type ServiceOptions,
  snowflakeOptions,
  type SnowflakeModuleOptions,
} from './service-options.js';

/** The options, checked and complete. Nothing downstream reads raw options. */
export type ResolvedServiceOptions = ResolvedSnowflakeOptions | ResolvedSegmentModuleOptions;

/**
 * Checks all options at once.
 * @param readMore reads the caller's own options with the same reader, so that all problems are reported together
 * @throws ConfigurationError naming every option that is wrong
 */
export function resolveServiceOptions<More extends object>(
  options: ServiceOptions,
  nowMs: number,
  readMore?: (reader: OptionReader) => More,
): ResolvedServiceOptions & More {
  refuseNonObject('options', options, 'must be an object with the options');
  return isSegmentMode(options)
    ? resolveSegmentModuleOptions(options, readMore)
    : resolveSnowflakeOptions(options, nowMs, readMore);
}

/** The options of a service of snowflakes, checked and complete. */
export interface ResolvedSnowflakeOptions extends ResolvedCommonOptions, ReadOptions<typeof snowflakeOptions> {
  /** The layout of IDs that this process issues; not set when `idSource` decides it. */
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
  /** The layout that its IDs must have; undefined leaves it to the source. */
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
  const own = readOptions(reader, snowflakeOptions);
  const { idSource } = own;
  // A worker table gets a row for each worker id: without a named range a ready layout uses at most so many ids. With an
  // assigner that creates no rows it uses all.
  const most = needsNoRows(reader.value('workerIdAssigner')) ? undefined : MAX_DEFAULT_WORKERS;
  const isUnnamed = namesNoLayout(reader);
  const layout = isUnnamed && idSource !== undefined ? undefined : readAnyLayout(reader, nowMs, most, LASTING_LAYOUT);
  refuseDeadLayout(reader, layout, nowMs);
  const unitMs = layout?.layout.unitMs ?? 1_000;
  const generator = readGeneratorOptions(reader, unitMs);
  const lease = readLeaseOptions(reader);
  const assigner = readAssignerOptions(reader, layout, generator, (origins, stores) =>
    idSource === undefined ? refuseMisplaced(reader, origins, stores) : refuseMisplaced(reader, ['idSource']),
  );
  const resolved = {
    ...own,
    generator,
    lease: withDefaultWait(reader, lease, assigner),
    assigner,
    sourceLayout: layout?.layout,
    ...readOptions(reader, commonOptions, { defaultTable: defaultTableOf(assigner) }),
    ...readMore(reader),
  } as const;
  reader.finish();
  const isRemembered = isUnnamed && idSource === undefined && remembersLayouts(assigner);
  const withLayout = isRemembered
    ? (found: Layout) => resolveSnowflakeOptions({ ...options, layout: found }, nowMs, readMore)
    : undefined;
  return Object.freeze({ layout: layout!, withLayout, ...resolved });
}

/** A layout that has ended, or has not begun, can read IDs but issues none: a service with it would refuse every ID. */
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
  if (reader.value('waitForWorkerMs') !== undefined || typeof use !== 'object' || !isReserving(use)) return lease;
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

/** The options of a service of numbers, checked and complete. */
export interface ResolvedSegmentModuleOptions
  extends ResolvedCommonOptions, Omit<ReadOptions<typeof segmentModuleOptions>, 'codes'> {
  readonly segments: ResolvedSegmentOptions;
  readonly codes: readonly string[];
}

/** Whether these options are for numbers from segments. */
export function isSegmentMode(options: { readonly idMode?: unknown }): options is SegmentModuleOptions {
  return typeof options.idMode === 'string' && options.idMode.toLowerCase() === 'numbersection';
}

/**
 * Checks all options at once.
 * @throws ConfigurationError naming every option that is wrong
 */
export function resolveSegmentModuleOptions<More extends object>(
  options: SegmentModuleOptions,
  readMore: (reader: OptionReader) => More = () => ({}) as More,
): ResolvedSegmentModuleOptions & More {
  refuseNonObject('options', options, 'must be an object with the options');
  const reader = new OptionReader(options);
  refuseMisplaced(reader, ['numberSection']);
  const segments = readOptions(reader, segmentOptions);
  const { codes = [segments.defaultCode], ...own } = readOptions(reader, segmentModuleOptions, segments);
  const resolved = {
    ...own,
    segments,
    codes: [...new Set(codes)],
    ...readOptions(reader, commonOptions, { defaultTable: SEGMENT_TABLE.defaultName }),
    ...readMore(reader),
  } as const;
  reader.finish();
  return Object.freeze(resolved);
}
