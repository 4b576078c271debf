import { Inject, Module, Optional, type DynamicModule } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import {
  ConfigurableModuleClass,
  type ForRootAsyncOptions,
  type ForRootOptions,
  wayOf,
  withReadableFailures,
} from './module/options-factory.js';
import { refuseNonObject, guardSqliteDriver } from '@raindrop/node/internal';
import { RAINDROP_OPTIONS, refuseBareImport } from './module/raindrop.tokens.js';
import { forOtherCopies } from './module/services-of-copies.js';
import type { RaindropModuleOptions } from './raindrop.options.js';

// This must run before the application opens a DataSource.
guardSqliteDriver(process);

/** Makes the options of the module: the class that `forRootAsync({ useClass })` or `({ useExisting })` names. */
export interface RaindropOptionsFactory {
  /** Returns the options; called once, when the module is made. */
  createRaindropOptions(): RaindropModuleOptions | Promise<RaindropModuleOptions>;
}

/**
 * Brings distributed IDs into an application: import it once, inject `IdService`.
 *
 * The worker id is acquired while the module is made, so the service works in `onModuleInit` of other providers. When
 * the acquire fails, the application does not start. The worker id is given back when the application has shut down.
 */
@Module({})
export class RaindropModule extends ConfigurableModuleClass {
  /** Called by Nest. @throws ConfigurationError when the class is imported without {@link forRoot} */
  constructor(@Optional() @Inject(RAINDROP_OPTIONS) options: unknown, modules: ModulesContainer) {
    super();
    if (options === undefined) refuseBareImport(modules);
  }

  /**
   * Registers a service with these options. Called without any, it takes its worker ids from the application's
   * DataSource, and the layout that the worker table remembers. An argument `undefined` is refused, because options
   * were meant to be passed.
   * @throws ConfigurationError (when the application starts) naming every option that is wrong
   */
  static override forRoot(...given: [options?: ForRootOptions]): DynamicModule {
    const options = given.length === 0 ? {} : given[0]!;
    refuseNonObject('forRoot', options, 'must be called with an object, the options');
    return forOtherCopies(super.forRoot(options), options.name);
  }

  /**
   * As {@link forRoot}, with options from `useFactory` (and `inject`), `useClass` or `useExisting`.
   * @throws OptionsFactoryError (when the application starts) when the factory throws
   */
  static override forRootAsync(options: ForRootAsyncOptions): DynamicModule {
    const way = wayOf(options);
    return forOtherCopies(withReadableFailures(super.forRootAsync(options), way), options.name);
  }
}
