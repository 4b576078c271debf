import {
  type ConfigurableModuleAsyncOptions,
  ConfigurableModuleBuilder,
  type ConfigurableModuleCls,
  type DynamicModule,
  type FactoryProvider,
  type Provider,
} from '@nestjs/common';
import { ConfigurationError, RaindropError } from '@raindrop/core';
import { refuseNonObject } from '@raindrop/node/internal';
import type { RaindropModuleExtras, RaindropModuleOptions } from '../raindrop.options.js';
import { getIdServiceToken, RAINDROP_OPTIONS } from './raindrop.tokens.js';
import { createRaindropProviders } from './raindrop.providers.js';

const WAYS = ['useFactory', 'useClass', 'useExisting'] as const;

type Way = (typeof WAYS)[number];

type FactoryMethod = 'createRaindropOptions';

/** What `forRoot` takes. */
export type ForRootOptions = RaindropModuleOptions & Partial<RaindropModuleExtras>;

/** What `forRootAsync` takes. */
export type ForRootAsyncOptions = ConfigurableModuleAsyncOptions<RaindropModuleOptions, FactoryMethod> &
  Partial<RaindropModuleExtras>;

/** The factory of the options failed; `cause` is what it threw. */
export class OptionsFactoryError extends RaindropError {
  static override readonly name = 'OptionsFactoryError';
  readonly errorCode = 'OPTIONS_FACTORY';

  constructor(
    /** `useFactory`, `useClass` or `useExisting`. */
    readonly way: Way,
    cause: unknown,
  ) {
    const reason = cause instanceof Error ? cause.message : 'a value that is not an Error';
    super(`The options of RaindropModule could not be created: its ${way} threw: ${reason}`, {
      retryable: false,
      cause,
    });
  }
}

/**
 * Returns the way in which `forRootAsync` makes the options.
 * @throws ConfigurationError when none is named
 */
export function wayOf(options: ForRootAsyncOptions): Way {
  refuseNonObject('forRootAsync', options, `must be called with an object that has one of ${WAYS.join(', ')}`);
  const way = WAYS.find((each) => options[each] !== undefined);
  if (way !== undefined) return way;
  const message = `is required, or useClass, or useExisting: forRootAsync creates the options, forRoot uses them as they are`;
  throw new ConfigurationError([{ option: 'useFactory', given: 'undefined', message }]);
}

/** Wraps the provider of the options: an error that it throws names the options factory. */
export function withReadableFailures(definition: DynamicModule, way: Way): DynamicModule {
  const providers = definition.providers?.map((each) => (makesOptions(each) ? readable(each, way) : each)) ?? [];
  return { ...definition, providers };
}

function makesOptions(provider: Provider): provider is FactoryProvider {
  return 'useFactory' in provider && provider.provide === RAINDROP_OPTIONS;
}

function readable(provider: FactoryProvider, way: Way): FactoryProvider {
  return {
    ...provider,
    useFactory: async (...injected: unknown[]): Promise<unknown> => {
      if (way !== 'useFactory') refuseOtherObject(way, injected[0]);
      let made: unknown;
      try {
        made = await provider.useFactory(...injected);
      } catch (error) {
        throw error instanceof RaindropError ? error : new OptionsFactoryError(way, error);
      }
      refuseNonObject(way, made, 'must return the options object or a promise of it; is a return missing?');
      return made;
    },
  };
}

function refuseOtherObject(way: Way, factory: unknown): void {
  const { createRaindropOptions, constructor } = (factory ?? {}) as Record<string, unknown>;
  if (typeof createRaindropOptions === 'function') return;
  const given = typeof constructor === 'function' ? constructor.name : typeof factory;
  const message = 'must have a method createRaindropOptions() that returns the options: a RaindropOptionsFactory';
  throw new ConfigurationError([{ option: way, given, message }]);
}

/** Its type is written out: the compiler would write an import that TypeScript before 5.3 cannot read. */
export const ConfigurableModuleClass: ConfigurableModuleCls<
  RaindropModuleOptions,
  'forRoot',
  FactoryMethod,
  RaindropModuleExtras
> = new ConfigurableModuleBuilder<RaindropModuleOptions>({ optionsInjectionToken: RAINDROP_OPTIONS })
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
  .build().ConfigurableModuleClass;
