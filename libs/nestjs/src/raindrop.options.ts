import {
  isSegmentMode,
  resolveSegmentModuleOptions,
  type ResolvedSegmentModuleOptions,
  type SegmentModuleOptions,
} from './segment/segment.options.js';
import {
  resolveSnowflakeOptions,
  type ResolvedSnowflakeOptions,
  type SnowflakeModuleOptions,
} from './snowflake.options.js';

/** Everything `RaindropModule.forRoot` takes, besides `name`, `isGlobal` and `dataSource`; `idMode` tells which. */
export type RaindropModuleOptions = SnowflakeModuleOptions | SegmentModuleOptions;

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
export type ResolvedRaindropOptions = ResolvedSnowflakeOptions | ResolvedSegmentModuleOptions;

/**
 * Checks all options at once.
 * @throws ConfigurationError naming every option that is wrong
 */
export function resolveRaindropOptions(options: RaindropModuleOptions, nowMs: number): ResolvedRaindropOptions {
  return isSegmentMode(options) ? resolveSegmentModuleOptions(options) : resolveSnowflakeOptions(options, nowMs);
}
