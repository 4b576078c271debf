import {
  AUDIENCES,
  boolean,
  generatorOptions,
  integer,
  layoutOptions,
  leaseOptions,
  type Numbers,
  oneOf,
  option,
  type OptionGroup,
  type OptionReader,
  type OptionsOf,
  type Origin,
  readyLayoutOptions,
  segmentOptions,
  switchable,
  text,
} from '@raindrop/core/internal';
import type { App, GeneratorOptions, LayoutOptions, LeaseOptions, SegmentOptions } from '@raindrop/core';
import type { IdSource } from '../ports/id-engine.js';
import type { SegmentBuffer } from '../ports/worker.js';
import { APP_SEGMENT_TABLE } from '../segment-table/segment-tables.js';
import { assignerOptions, type AssignerOptions } from './assigner-options.js';
import { type CommonModuleOptions, commonOptions, readCodes, readTableName } from './common-options.js';

/** The history of worker ids. */
export const workerHistoryOptions = {
  /** How many days a lease is kept after the next one began. @range 1-3,650 @defaultValue 90 */
  keepDays: integer({ min: 1, max: 3_650, default: 90 }),
};

/** The options that only a service of snowflakes has, besides those of its parts. */
export const snowflakeOptions = {
  /**
   * The kind of IDs: snowflakes, or numbers from segments. Each kind has options of its own.
   * @range `snowflake`, `numberSection`, in any case @defaultValue `snowflake`
   */
  idMode: option<'snowflake', 'snowflake'>(readIdMode, { readBy: 'everyService' }),
  /** The port in the code that a worker row stores. @range 0-65,535 @defaultValue 0 */
  servicePort: integer({ min: 0, max: 65_535, default: 0, readBy: 'rowsOfHosts' }),
  /** Store a hash instead of the host's IP and hardware address. @range true, false @defaultValue false */
  hashCode: boolean({ default: false, readBy: 'ownWorker' }),
  /**
   * The time zone in which programs of the Go original write times to MySQL and MariaDB (`loc` in their URL), for
   * `adoptForeign` and `sharedWithOriginal`. It must be the server's time zone, without daylight saving time.
   * @range an offset such as `+08:00` @defaultValue `+00:00`
   */
  foreignTimeZone: text({
    pattern: /^[+-](0\d|1[0-4]):[0-5]\d$/,
    legal: `an offset such as '+08:00'`,
    default: '+00:00',
    readBy: 'original',
  }),
  /**
   * Read the clock once in a turn of the event loop (and every 256 calls), or at every call.
   * @range `turn`, `exact` @defaultValue `turn`
   */
  clock: oneOf(['turn', 'exact'], { default: 'turn', readBy: 'ownWorker' }),
  /**
   * Record in a table which process held which worker id: `raindrop who <id>` then names the process that issued an ID.
   * Rows are deleted `keepDays` after the next lease of their worker id began: docs/operations.md.
   * @range true, false, `{ keepDays }` with 1-3,650 (default 90) @defaultValue false
   */
  workerHistory: switchable(workerHistoryOptions, { readBy: 'database' }),
  /**
   * Another process makes the IDs, and this one needs no worker id (docs/threads.md, docs/service.md). The layout is that
   * process's.
   * @range `remoteIds({ url })` @defaultValue none
   */
  idSource: option<IdSource, IdSource | undefined>(readIdSource, { isSecret: true, readBy: 'snowflakes' }),
};

/** The options of a service of snowflakes. `tableName` is the worker table's, by default `soc_raindrop_worker`. */
export interface SnowflakeModuleOptions
  extends
    Partial<LayoutOptions>,
    GeneratorOptions,
    LeaseOptions,
    AssignerOptions,
    CommonModuleOptions,
    OptionsOf<typeof readyLayoutOptions>,
    OptionsOf<typeof snowflakeOptions> {}

function readIdMode(reader: OptionReader, name: string): 'snowflake' {
  reader.oneOf(name, ['snowflake', 'numberSection'], 'snowflake');
  return 'snowflake';
}

function readIdSource(reader: OptionReader, name: string): IdSource | undefined {
  const given = reader.value(name) as Partial<IdSource> | null | undefined;
  if (given === undefined || typeof given?.open === 'function') return given as IdSource | undefined;
  // It may hold a password.
  reader.problem(name, `(${typeof given})`, 'must be the result of remoteIds()');
  return undefined;
}

/** Sharded IDs beside the numbers of codes. */
export const shardedOptions = {
  /**
   * Their table; one of the original service, `id_alloc`, will do.
   * @range `name` or `schema.name` @defaultValue `raindrop_app_segment`
   */
  tableName: option<string, string>((reader, name) =>
    readTableName(reader, name, { defaultTable: APP_SEGMENT_TABLE.defaultName }),
  ),
  /** Apps that are registered at the start. @range `{ id, name, description }`, ids 0-255 @defaultValue none */
  apps: option<readonly App[], readonly App[]>(readApps),
};

/** Sharded IDs beside the numbers of codes. */
export interface ShardedOptions extends OptionsOf<typeof shardedOptions> {}

/** The options that only a service of numbers from segments has, besides {@link segmentOptions}. */
export const segmentModuleOptions = {
  /** Makes it a service of numbers from segments. @range `numberSection`, in any case */
  idMode: option<'numberSection', 'numberSection'>(
    (reader, name) => reader.oneOf(name, ['numberSection'], 'numberSection'),
    {
      isRequired: true,
      readBy: 'everyService',
    },
  ),
  /**
   * Codes whose numbers are fetched at the start. The first call of any other code must be async.
   * @range strings of 1-128 characters @defaultValue `defaultCode`
   */
  codes: option<readonly string[], readonly string[] | undefined>(readCodes, { readBy: 'numbers' }),
  /**
   * Create a row for an unknown code, or throw `UnknownCodeError`.
   * @range true, false @defaultValue true
   */
  autoCreateCode: boolean({ default: true, readBy: 'numbers' }),
  /**
   * The step of a new row: how many numbers a reservation takes at first.
   * @range 1-100,000,000 @defaultValue 1,000
   */
  defaultStep: integer({ min: 1, max: 100_000_000, default: 1_000, readBy: 'numbers' }),
  /**
   * How many numbers each code skips after a database failover. It must exceed what can be reserved in the time whose
   * commits the failover may lose. 0 if it loses none.
   * @range 0-1,000,000,000,000 @defaultValue 10 × `maxStep`
   */
  skipAfterFailover: integer({
    min: 0,
    max: 1e12,
    default: ({ maxStep }: Numbers<'maxStep'>) => 10 * maxStep,
    readBy: 'numbers',
  }),
  /**
   * Enable sharded IDs, `ids.nextSharded({ app, gatePass })`. The table is `raindrop_app_segment` or an existing
   * `id_alloc`. The start registers `apps`.
   * @range true, false, `{ tableName, apps }` @defaultValue false
   */
  sharded: switchable(shardedOptions, { readBy: 'numbers' }),
  /**
   * A buffer that all processes share.
   * @range `redisBuffer({ connection, ... })` of `@raindrop/node/redis` @defaultValue none
   */
  redis: option<SegmentBuffer, SegmentBuffer | undefined>(readRedis, { isSecret: true, readBy: 'numbers' }),
};

/** The options of a service of numbers from segments. `tableName` is by default `raindrop_segment`. */
export interface SegmentModuleOptions
  extends SegmentOptions, CommonModuleOptions, OptionsOf<typeof segmentModuleOptions> {}

function readApps(reader: OptionReader, name: string): readonly App[] {
  const given = reader.value(name) ?? [];
  const isApp = (each: Partial<App> | null): boolean =>
    Number.isInteger(each?.id) &&
    each!.id! >= 0 &&
    each!.id! <= 255 &&
    typeof each!.name === 'string' &&
    typeof each!.description === 'string';
  if (Array.isArray(given) && (given as Partial<App>[]).every(isApp)) return given as App[];
  reader.problem(name, given, 'must be a list of { id: 0 to 255, name, description }');
  return [];
}

function readRedis(reader: OptionReader, name: string): SegmentBuffer | undefined {
  const given = reader.value(name) as Partial<SegmentBuffer> | null | undefined;
  if (given === undefined || typeof given?.codes === 'function') return given as SegmentBuffer | undefined;
  // It may hold a password.
  reader.problem(name, `(${typeof given})`, 'must be the result of redisBuffer() of @raindrop/node/redis');
  return undefined;
}

/** The options of a service; `idMode` tells of which kind. */
export type ServiceOptions = SnowflakeModuleOptions | SegmentModuleOptions;

/** All options of services, of either kind. */
export const serviceOptions: OptionGroup = {
  ...commonOptions,
  ...layoutOptions,
  ...generatorOptions,
  ...leaseOptions,
  ...assignerOptions,
  ...readyLayoutOptions,
  ...snowflakeOptions,
  ...segmentOptions,
  ...segmentModuleOptions,
};

/** The reason why the service does not read an option. */
const INSTEAD: { readonly [Each in Origin]?: string } = {
  idSource: '; with idSource another process has the worker id',
  numberSection: `; this one has idMode: 'numberSection'`,
};

/**
 * Refuses options that a service does not read: they would be ignored, and their author believes otherwise.
 * @param origins where the IDs of the service come from
 * @param stores the names of the stores from which it leases worker ids
 */
export function refuseMisplaced(
  reader: OptionReader,
  origins: readonly Origin[],
  stores: readonly string[] = [],
): void {
  const leases = stores.map((name) => `; this one leases worker ids from ${name}`);
  const instead = [...origins.map((each) => INSTEAD[each] ?? ''), ...leases].join('');
  for (const [name, { readBy, isSecret }] of Object.entries(serviceOptions)) {
    const { purpose, origins: readers } = AUDIENCES[readBy!];
    if (readers.some((each) => origins.includes(each))) continue;
    refuse(reader, name, `is for ${purpose}${instead}`, isSecret);
  }
}

/** Refuses an option that is given. What an object holds may be a password, too. */
export function refuse(reader: OptionReader, option: string, message: string, isSecret = false): void {
  const given = reader.value(option);
  if (given === undefined) return;
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  reader.problem(option, isObject || isSecret ? '(hidden)' : given, message);
}
