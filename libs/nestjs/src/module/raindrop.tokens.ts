import { Inject } from '@nestjs/common';
import { DEFAULT_SERVICE } from '@raindrop/node/internal';
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
