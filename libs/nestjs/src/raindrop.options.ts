import {
  boolean,
  oneOf,
  type OptionReader,
  type OptionsOf,
  type ReadOptions,
  readOptions,
} from '@raindrop/core/internal';
import type { SegmentModuleOptions, ServiceOptions, SnowflakeModuleOptions } from '@raindrop/node';
import { refuse, resolveServiceOptions, type ResolvedServiceOptions } from '@raindrop/node/internal';

/** The options that only an application has. */
export const applicationOptions = {
  /**
   * Warn, 10 s after the start, when the process has no listener for SIGTERM or SIGINT: the worker id would not be given
   * back.
   * False where something else calls `app.close()`. Refused with `idSource`, which leaves nothing to give back.
   * @range true, false @defaultValue true
   */
  checkShutdownHooks: boolean({ default: true }),
  /**
   * Entities that cannot work with their driver, layout or services: do not start, log it, do not look.
   * @range `error`, `warn`, `off` @defaultValue `error`
   */
  lint: oneOf(['error', 'warn', 'off'], { default: 'error' }),
};

/** The options that only an application has. */
export interface ApplicationOptions extends OptionsOf<typeof applicationOptions> {}

/** Everything `RaindropModule.forRoot` takes, besides `name`, `isGlobal` and `dataSource`; `idMode` tells which. */
export type RaindropModuleOptions = (SnowflakeModuleOptions | SegmentModuleOptions) & ApplicationOptions;

/** The options that are given where the module is imported, apart from those of the service. */
export interface RaindropModuleExtras {
  /**
   * Injectable everywhere, or only where this import is.
   * @range true, false @defaultValue true
   */
  isGlobal?: boolean;
  /**
   * For several services: `@InjectIdService(name)`. Two global services of one name are refused.
   * @range 1-128 characters @defaultValue none
   */
  name?: string;
  /**
   * The TypeORM DataSources whose entities get IDs; the lease uses the first one's database.
   * @range a name or names @defaultValue the DataSource without a name
   */
  dataSource?: string | readonly string[];
}

/** The options, checked and complete. Nothing downstream reads raw options. */
export type ResolvedRaindropOptions = ResolvedServiceOptions & ReadOptions<typeof applicationOptions>;

/**
 * Checks all options at once.
 * @throws ConfigurationError naming every option that is wrong
 */
export function resolveRaindropOptions(options: RaindropModuleOptions, nowMs: number): ResolvedRaindropOptions {
  return resolveServiceOptions(options as ServiceOptions, nowMs, readApplicationOptions);
}

/** Reads them with the reader of all options. */
export function readApplicationOptions(reader: OptionReader): ReadOptions<typeof applicationOptions> {
  for (const option of ['name', 'isGlobal', 'dataSource']) {
    const place = `forRootAsync({ ${option}: ..., useFactory })`;
    refuse(reader, option, `belongs beside useFactory, not into what it returns: ${place}`);
  }
  if (reader.value('idSource') !== undefined) {
    refuse(reader, 'checkShutdownHooks', 'is for services that have something to give back; with idSource none has');
  }
  return readOptions(reader, applicationOptions);
}
