import type { LoggerService } from '@nestjs/common';
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
import { readLogger } from './options/logger-option.js';
import { refuseMisplaced } from './options/misplaced-options.js';
import { refuseNonObject } from './options/options-object.js';
import {
  DATABASE_CONFIG_RULE,
  databaseOptionsOf,
  type DatabaseConfig,
  type DatabaseOptions,
} from './typeorm/database-config.js';
import { DEFAULT_WORKER_TABLE, isTableName, TABLE_NAME_RULE } from './typeorm/worker-store/table-name.js';

/** Everything `RaindropModule.forRoot` takes, besides `name`, `isGlobal` and `dataSource`. */
export interface RaindropModuleOptions extends Partial<LayoutOptions>, GeneratorOptions, LeaseOptions {
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
  /** The worker table, `name` or `schema.name`. Default `soc_raindrop_worker`. */
  tableName?: string;
  /** Create tables that are missing. Default true. */
  autoCreateTable?: boolean;
  /** Store a hash in place of address and hardware address. Default false. */
  hashCode?: boolean;
  /** The zone in which the original's programs write their times on MySQL, such as `+08:00`. Default `+00:00`. */
  foreignTimeZone?: string;
  /** The lease's own database, as TypeORM options or a URL. Default: that of the application's DataSource. */
  dbConfig?: DatabaseConfig | undefined;
  /** Accept an in-memory database, whose workers only this process knows. Default false. */
  allowVolatile?: boolean;
  /** Read the clock once in a turn of the event loop, or at every call. Default `turn`. */
  clock?: 'turn' | 'exact';
  /** Warn when nobody listens to SIGTERM or SIGINT 10 s after the start: the worker id would not be given back. Default true. */
  checkShutdownHooks?: boolean;
  /**
   * What is done about `@GeneratedSnowflake()` columns that cannot work with their driver, layout or services: refuse to
   * start, log a warning, or nothing. Default `error`.
   */
  lint?: 'error' | 'warn' | 'off';
  /** Where to log. Default Nest's `Logger`. */
  logger?: LoggerService;
}

/** What is said where the module is imported, apart from the options themselves. */
export interface RaindropModuleExtras {
  /** Makes the service injectable everywhere. Default true. */
  isGlobal?: boolean;
  /** Names the service, to have several; see `InjectIdService`. */
  name?: string;
  /**
   * The names of the TypeORM DataSources whose entities get their IDs here; the lease uses the first one's database.
   * Default: the DataSource that has no name.
   */
  dataSource?: string | readonly string[];
}

/** The options, checked and complete. Nothing downstream reads raw options. */
export interface ResolvedRaindropOptions {
  readonly layout: ResolvedLayout;
  readonly generator: ResolvedGeneratorOptions;
  readonly lease: ResolvedLeaseOptions;
  /** Set for a worker id given by hand. */
  readonly staticWorkerId: number | undefined;
  readonly servicePort: number;
  readonly tableName: string;
  readonly autoCreateTable: boolean;
  readonly hashCode: boolean;
  readonly foreignTimeZone: string;
  readonly dbConfig: DatabaseOptions | undefined;
  readonly allowVolatile: boolean;
  readonly clock: 'turn' | 'exact';
  readonly checkShutdownHooks: boolean;
  readonly lint: 'error' | 'warn' | 'off';
  readonly logger: LoggerService | undefined;
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
export function resolveRaindropOptions(options: RaindropModuleOptions, nowMs: number): ResolvedRaindropOptions {
  refuseNonObject('options', options, 'must be an object with the options');
  const reader = new OptionReader(options);
  readMode(reader);
  const layout = readAnyLayout(reader, nowMs);
  const unitMs = layout?.layout.unitMs ?? 1_000;
  const generator = readGeneratorOptions(reader, unitMs);
  const lease = readLeaseOptions(reader);
  const staticWorkerId = readStaticWorker(reader, layout);
  const resolved = {
    generator,
    lease,
    staticWorkerId,
    servicePort: reader.integer('servicePort', { min: 0, max: 65_535, default: 0 }),
    tableName: readTableName(reader),
    autoCreateTable: reader.boolean('autoCreateTable', true),
    hashCode: reader.boolean('hashCode', false),
    foreignTimeZone: reader.string('foreignTimeZone', {
      fallback: '+00:00',
      pattern: /^[+-](0\d|1[0-4]):[0-5]\d$/,
      legal: `an offset such as '+08:00'`,
    }),
    dbConfig: readDbConfig(reader),
    allowVolatile: reader.boolean('allowVolatile', false),
    clock: reader.oneOf('clock', ['turn', 'exact'], 'turn'),
    checkShutdownHooks: reader.boolean('checkShutdownHooks', true),
    lint: reader.oneOf('lint', ['error', 'warn', 'off'], 'error'),
    logger: readLogger(reader),
  } as const;
  reader.finish();
  return Object.freeze({ layout: layout!, ...resolved });
}

function readMode(reader: OptionReader): void {
  const given = reader.value('idMode');
  if (typeof given === 'string' && given.toLowerCase() === 'numbersection') {
    reader.problem('idMode', given, `is not part of this version: must be 'snowflake'`);
  } else reader.oneOf('idMode', ['snowflake'], 'snowflake');
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
  refuseMisplaced(reader, assigner);
  const given = reader.value('workerId');
  if (assigner === 'database') {
    if (given !== undefined) reader.problem('workerId', given, `is for workerIdAssigner: 'static' only`);
    return undefined;
  }
  const { min, max } = layout?.workers ?? { min: 0, max: MAX_DEFAULT_WORKERS };
  return reader.integer('workerId', { min, max, hint: 'the range of this service' });
}

function readTableName(reader: OptionReader): string {
  const given = reader.value('tableName');
  if (given === undefined) return DEFAULT_WORKER_TABLE;
  if (typeof given === 'string' && isTableName(given)) return given;
  reader.problem('tableName', given, `must be ${TABLE_NAME_RULE}`);
  return DEFAULT_WORKER_TABLE;
}

function readDbConfig(reader: OptionReader): DatabaseOptions | undefined {
  const given = reader.value('dbConfig');
  if (given === undefined) return undefined;
  const database = databaseOptionsOf(given);
  // A URL may hold a password, which belongs into no message.
  if (database === undefined)
    reader.problem('dbConfig', typeof given === 'string' ? '(hidden)' : given, `must be ${DATABASE_CONFIG_RULE}`);
  return database;
}
