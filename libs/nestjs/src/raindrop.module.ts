import { Module, type DynamicModule } from '@nestjs/common';
import { wayOf, withReadableFailures } from './module/options-factory.js';
import { refuseNonObject, guardSqliteDriver } from '@raindrop/node/internal';
import {
  ConfigurableModuleClass,
  type ASYNC_OPTIONS_TYPE,
  type OPTIONS_TYPE,
} from './module/raindrop.module-definition.js';
import type { RaindropModuleOptions } from './raindrop.options.js';

// Before any DataSource of the application is opened.
guardSqliteDriver(process);

/** Makes the options: a provider that `forRootAsync({ useClass | useExisting })` names. */
export interface RaindropOptionsFactory {
  /** The options; called once, when the module is made. */
  createRaindropOptions(): RaindropModuleOptions | Promise<RaindropModuleOptions>;
}

/**
 * Brings distributed IDs into an application: import it once, inject `IdService`.
 *
 * The worker id is acquired while the module is made, so the service works in other providers' `onModuleInit`; when that
 * fails, the application does not start. It is given back when the application has shut down.
 */
@Module({})
export class RaindropModule extends ConfigurableModuleClass {
  /**
   * Registers a service with these options.
   * @throws ConfigurationError (when the application starts) naming every option that is wrong
   */
  static override forRoot(options: typeof OPTIONS_TYPE): DynamicModule {
    refuseNonObject('forRoot', options, 'must be called with an object, the options');
    return super.forRoot(options);
  }

  /**
   * As {@link forRoot}, with options from `useFactory` (and `inject`), `useClass` or `useExisting`.
   * @throws OptionsFactoryError (when the application starts) when that throws
   */
  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    const way = wayOf(options);
    return withReadableFailures(super.forRootAsync(options), way);
  }
}
