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
  /**
   * Injectable everywhere, or only where this import is.
   * @range true, false
   * @defaultValue true
   */
  isGlobal?: boolean;
  /**
   * For several services: `@InjectIdService(name)`. Two global services of one name are refused.
   * @range 1-128 characters
   * @defaultValue none
   */
  name?: string;
  /**
   * The TypeORM DataSources whose entities get IDs; the lease uses the first one's database.
   * @range a name or names
   * @defaultValue the DataSource without a name
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
