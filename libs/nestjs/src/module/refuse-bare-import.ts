import type { ModulesContainer } from '@nestjs/core';
import { ConfigurationError } from '@raindrop/core';
import { RAINDROP_OPTIONS } from './raindrop.tokens.js';

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
