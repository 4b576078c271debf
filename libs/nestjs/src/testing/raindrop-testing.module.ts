import { Module, type DynamicModule, type FactoryProvider } from '@nestjs/common';
import { refuseNonObject } from '@raindrop/node/internal';
import type { IdService } from '../id.service.js';
import type { RaindropModuleExtras } from '../raindrop.options.js';
import { createRaindropProviders } from '../module/raindrop.providers.js';
import { getIdServiceToken } from '../module/raindrop.tokens.js';
import { forOtherCopies } from '../module/services-of-copies.js';
import type { AppDataSource } from '../orm/app-data-source.js';
import { dataSourceToken } from '../orm/typeorm-bridge.js';
import { getTestbedToken, RaindropTestbed } from './raindrop-testbed.js';
import type { TestIdServiceOptions } from './testing.options.js';

/** The options of {@link RaindropTestingModule.forTest}. */
export interface RaindropTestingModuleOptions extends TestIdServiceOptions, RaindropModuleExtras {}

/** Replaces `RaindropModule` in tests: it needs no database and no timers, and gives the same IDs in every run. */
@Module({})
export class RaindropTestingModule {
  /**
   * Provides the `IdService` and its `RaindropTestbed`, named as in `RaindropModule`. The `@GeneratedSnowflake()`
   * columns of the test's DataSources are filled as by the real module.
   * @throws ConfigurationError naming every option that is wrong; some of them when the test's module is compiled
   */
  static forTest(options: RaindropTestingModuleOptions = {}): DynamicModule {
    refuseNonObject('forTest', options, 'must be called with an object, the options');
    const { isGlobal = true, dataSource, ...rest } = options;
    const { name } = rest;
    // Called for its checks; the providers are not used.
    createRaindropProviders({ name, dataSource });
    const testbed: FactoryProvider<RaindropTestbed> = {
      provide: getTestbedToken(name),
      inject: dataSourcesOf(dataSource),
      useFactory: (...found: (AppDataSource | undefined)[]) => {
        const bed = new RaindropTestbed(rest);
        for (const each of found) if (each !== undefined) bed.ids.attach(each);
        return bed;
      },
    };
    const service: FactoryProvider<IdService> = {
      provide: getIdServiceToken(name),
      inject: [testbed.provide],
      useFactory: ({ ids }: RaindropTestbed) => ids,
    };
    const providers = [testbed, service];
    const definition = { module: RaindropTestingModule, global: isGlobal, providers };
    return forOtherCopies({ ...definition, exports: providers.map((each) => each.provide) }, name);
  }
}

/** The DataSource without a name may be missing; a named one must be there. */
function dataSourcesOf(names: RaindropModuleExtras['dataSource']): NonNullable<FactoryProvider['inject']> {
  const tokens = [names].flat().flatMap((each) => dataSourceToken(each) ?? []);
  return tokens.map((token) => ({ token, optional: names === undefined }));
}
