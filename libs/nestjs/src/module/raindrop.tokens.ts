import { Inject } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { DEFAULT_SERVICE } from '@raindrop/node/internal';
import { ConfigurationError } from '@raindrop/core';
import { IdService } from '../id.service.js';

/** The token of the module's options, inside the module. */
export const RAINDROP_OPTIONS = Symbol.for('@raindrop/nestjs:options');

/** Returns the token of an `IdService`: the class itself for the default one, a string for a named one. */
export function getIdServiceToken(name: string = DEFAULT_SERVICE): typeof IdService | string {
  return name === DEFAULT_SERVICE ? IdService : `RaindropIdService:${name}`;
}

/** Injects the `IdService` of `RaindropModule.forRoot({ name, ... })`; without a name the default one. */
export function InjectIdService(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(getIdServiceToken(name));
}

/**
 * Refuses an application that imports the class `RaindropModule` alone: without `forRoot()` there is no service.
 * @throws ConfigurationError when no module of the application has called `forRoot()` or `forRootAsync()`
 */
export function refuseBareImport(modules: ModulesContainer): void {
  if ([...modules.values()].some(({ providers }) => providers.has(RAINDROP_OPTIONS))) return;
  const message =
    'without forRoot() provides no service: import RaindropModule.forRoot() in one module, for all others too';
  throw new ConfigurationError([{ option: 'imports', given: 'RaindropModule', message }]);
}
