import { OptionReader, readOptions, segmentOptions } from '@raindrop/core/internal';
import type { App, ResolvedSegmentOptions, SegmentOptions } from '@raindrop/core';
import {
  type CommonModuleOptions,
  readCodes,
  readCommonOptions,
  readTableName,
  refuseNonObject,
  type ResolvedCommonOptions,
} from './common-options.js';
import { refuseMisplaced } from './option-table.js';
import { APP_SEGMENT_TABLE, SEGMENT_TABLE } from '../segment-table/segment-tables.js';
import type { SegmentBuffer } from '../ports/worker.js';

/** Sharded IDs beside the numbers of codes. */
export interface ShardedOptions {
  /** Their table, `name` or `schema.name`; one of the original service, `id_alloc`, will do. Default `raindrop_app_segment`. */
  tableName?: string;
  /** Apps that are registered at the start. Default none. */
  apps?: readonly App[];
}

/** The options of a service of numbers from segments. `tableName` is by default `raindrop_segment`. */
export interface SegmentModuleOptions extends SegmentOptions, CommonModuleOptions {
  /**
   * Makes it a service of numbers from segments.
   * @range `numberSection`, in any case
   */
  idMode: 'numberSection';
  /**
   * Codes that have numbers at hand from the start; the first call of another one must be async.
   * @range texts of 1-128 characters
   * @defaultValue `defaultCode`
   */
  codes?: readonly string[];
  /**
   * Give an unknown code a row, or refuse it with `UnknownCodeError`.
   * @range true, false
   * @defaultValue true
   */
  autoCreateCode?: boolean;
  /**
   * The step of a new row: how many numbers are reserved at once, at first.
   * @range 1-100,000,000
   * @defaultValue 1,000
   */
  defaultStep?: number;
  /**
   * How many numbers a code skips after a failover of the database: more than can be reserved in the time whose commits
   * it may lose. 0 where it loses none.
   * @range 0-1,000,000,000,000
   * @defaultValue 10 × `maxStep`
   */
  skipAfterFailover?: number;
  /**
   * Sharded IDs, `ids.nextSharded({ app, gatePass })`; the table is `raindrop_app_segment` or an existing `id_alloc`, `apps`
   * are registered at the start.
   * @range true, false, `{ tableName, apps }`
   * @defaultValue false
   */
  sharded?: boolean | ShardedOptions;
  /**
   * A buffer that all processes take numbers from.
   * @range `redisBuffer({ connection, ... })` of `@raindrop/node/redis`
   * @defaultValue none
   */
  redis?: SegmentBuffer;
}

export interface ResolvedSegmentModuleOptions extends ResolvedCommonOptions {
  readonly idMode: 'numberSection';
  readonly segments: ResolvedSegmentOptions;
  readonly codes: readonly string[];
  readonly autoCreateCode: boolean;
  readonly defaultStep: number;
  readonly skipAfterFailover: number;
  readonly sharded: { readonly tableName: string; readonly apps: readonly App[] } | undefined;
  readonly redis: SegmentBuffer | undefined;
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
  reader.oneOf('idMode', ['numberSection'], 'numberSection');
  refuseMisplaced(reader, ['numberSection']);
  const segments = readOptions(reader, segmentOptions);
  const resolved = {
    idMode: 'numberSection',
    segments,
    codes: [...new Set(readCodes(reader) ?? [segments.defaultCode])],
    autoCreateCode: reader.boolean('autoCreateCode', true),
    defaultStep: reader.integer('defaultStep', { min: 1, max: 100_000_000, default: 1_000 }),
    skipAfterFailover: reader.integer('skipAfterFailover', { min: 0, max: 1e12, default: 10 * segments.maxStep }),
    sharded: readSharded(reader),
    redis: readRedis(reader),
    ...readCommonOptions(reader, SEGMENT_TABLE.defaultName),
    ...readMore(reader),
  } as const;
  reader.finish();
  return Object.freeze(resolved);
}

function readSharded(reader: OptionReader): ResolvedSegmentModuleOptions['sharded'] {
  const given = reader.value('sharded');
  if (given === undefined || given === false) return undefined;
  if (given !== true && (typeof given !== 'object' || given === null || Array.isArray(given))) {
    reader.problem('sharded', given, 'must be true, false or { tableName, apps }');
    return undefined;
  }
  return reader.nested('sharded', given === true ? {} : given, (inner) => ({
    tableName: readTableName(inner, 'tableName', APP_SEGMENT_TABLE.defaultName),
    apps: readApps(inner),
  }));
}

function readApps(reader: OptionReader): readonly App[] {
  const given = reader.value('apps') ?? [];
  const isApp = (each: Partial<App> | null): boolean =>
    Number.isInteger(each?.id) &&
    each!.id! >= 0 &&
    each!.id! <= 255 &&
    typeof each!.name === 'string' &&
    typeof each!.description === 'string';
  if (Array.isArray(given) && (given as Partial<App>[]).every(isApp)) return given as App[];
  reader.problem('apps', given, 'must be a list of { id: 0 to 255, name, description }');
  return [];
}

function readRedis(reader: OptionReader): SegmentBuffer | undefined {
  const given = reader.value('redis') as Partial<SegmentBuffer> | null | undefined;
  if (given === undefined || typeof given?.codes === 'function') return given as SegmentBuffer | undefined;
  // It may hold a password.
  reader.problem('redis', `(${typeof given})`, 'must be what redisBuffer() of @raindrop/node/redis returns');
  return undefined;
}
