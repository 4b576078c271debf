import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { RaindropModuleOptions } from './raindrop.options.js';
import { createRaindropProviders } from './raindrop.providers.js';
import { getIdServiceToken, RAINDROP_OPTIONS } from './raindrop.tokens.js';

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

export const { ConfigurableModuleClass, OPTIONS_TYPE, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<RaindropModuleOptions>({ optionsInjectionToken: RAINDROP_OPTIONS })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createRaindropOptions')
    .setExtras<RaindropModuleExtras>(
      { isGlobal: true, name: undefined, dataSource: undefined },
      (definition, { isGlobal, ...extras }) => ({
        ...definition,
        global: isGlobal,
        providers: [...(definition.providers ?? []), ...createRaindropProviders(extras)],
        exports: [getIdServiceToken(extras.name)],
      }),
    )
    .build();
