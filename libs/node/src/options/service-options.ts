import type { OptionReader } from '@raindrop/core/internal';
import {
  isSegmentMode,
  resolveSegmentModuleOptions,
  type ResolvedSegmentModuleOptions,
  type SegmentModuleOptions,
} from './segment-mode-options.js';
import {
  resolveSnowflakeOptions,
  type ResolvedSnowflakeOptions,
  type SnowflakeModuleOptions,
} from './snowflake-options.js';

/** The options of a service; `idMode` tells of which kind. */
export type ServiceOptions = SnowflakeModuleOptions | SegmentModuleOptions;

/** The options, checked and complete. Nothing downstream reads raw options. */
export type ResolvedServiceOptions = ResolvedSnowflakeOptions | ResolvedSegmentModuleOptions;

/**
 * Checks all options at once.
 * @param readMore reads options that are somebody's own, with the same reader
 * @throws ConfigurationError naming every option that is wrong
 */
export function resolveServiceOptions<More extends object>(
  options: ServiceOptions,
  nowMs: number,
  readMore?: (reader: OptionReader) => More,
): ResolvedServiceOptions & More {
  return isSegmentMode(options)
    ? resolveSegmentModuleOptions(options, readMore)
    : resolveSnowflakeOptions(options, nowMs, readMore);
}
