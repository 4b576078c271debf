import type { ModulesContainer } from '@nestjs/core';
import { ConfigurationError } from '@raindrop/core';
import { getIdServiceToken, RAINDROP_OPTIONS } from './raindrop.tokens.js';

/**
 * Two global services of one name: whoever injects it would get either. Said before a worker id is taken.
 * @throws ConfigurationError
 */
export function refuseSecondImport(modules: ModulesContainer, name: string): void {
  const token = getIdServiceToken(name);
  const ours = [...modules.values()].filter(
    ({ isGlobal, providers }) => isGlobal && providers.has(RAINDROP_OPTIONS) && providers.has(token),
  );
  if (ours.length < 2) return;
  const message =
    `is taken: RaindropModule is registered ${ours.length} times under this name. Call forRoot or forRootAsync once for ` +
    `each service and give the others a name (name: 'orders'), or keep each to its importers with isGlobal: false`;
  throw new ConfigurationError([{ option: 'name', given: JSON.stringify(name), message }]);
}
