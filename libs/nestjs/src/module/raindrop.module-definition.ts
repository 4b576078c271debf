import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { RaindropModuleExtras, RaindropModuleOptions } from '../raindrop.options.js';
import { createRaindropProviders } from './raindrop.providers.js';
import { getIdServiceToken, RAINDROP_OPTIONS } from './raindrop.tokens.js';

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
