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
   * Warn 10 s after the start if the process has no listener for SIGTERM or SIGINT, because a shutdown would not return
   * the worker id. Set false if something else calls `app.close()`. Refused with `idSource`, which has no worker id.
   * @range true, false @defaultValue true
   */
  checkShutdownHooks: boolean({ default: true }),
  /**
   * What to do about entities that cannot work with their driver, layout or services: refuse to start, warn, or skip the
   * check.
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
   * Injectable in every module, or only in the importing one.
   * @range true, false @defaultValue true
   */
  isGlobal?: boolean;
  /**
   * Names one of several services: `@InjectIdService(name)`. Two global services with the same name are refused.
   * @range 1-128 characters @defaultValue none
   */
  name?: string;
  /**
   * The TypeORM DataSources whose entities get IDs. The lease uses the database of the first.
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
    refuse(reader, option, `belongs next to useFactory, not in its result: ${place}`);
  }
  if (reader.value('idSource') !== undefined) {
    refuse(
      reader,
      'checkShutdownHooks',
      'is for services that release something at shutdown; with idSource there is nothing to release',
    );
  }
  return readOptions(reader, applicationOptions);
}
