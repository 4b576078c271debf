import { Inject } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { DEFAULT_SERVICE } from '@raindrop/node/internal';
import { ConfigurationError } from '@raindrop/core';
import { IdService } from '../id.service.js';

/** What the module's options are injected by, inside the module. */
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
 * The class by itself is no service: beside one it does nothing, and without one nothing would fill a column.
 * @throws ConfigurationError when it is all that the application imports
 */
export function refuseBareImport(modules: ModulesContainer): void {
  if ([...modules.values()].some(({ providers }) => providers.has(RAINDROP_OPTIONS))) return;
  const message =
    'without forRoot() is no service: import RaindropModule.forRoot(), in one module, which serves all others too';
  throw new ConfigurationError([{ option: 'imports', given: 'RaindropModule', message }]);
}
