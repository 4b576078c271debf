import type { ModulesContainer } from '@nestjs/core';
import { ConfigurationError } from '@raindrop/core';
import { RAINDROP_OPTIONS } from './raindrop.tokens.js';
import { tellNestCopies, tokensOf } from './services-of-copies.js';

/**
 * Two global services of one name: whoever injects it would get either. Said before a worker id is taken.
 * @throws ConfigurationError
 */
export function refuseSecondImport(modules: ModulesContainer, name: string): void {
  const tokens = tokensOf(name);
  const ours = [...modules.values()].filter(
    ({ isGlobal, providers }) =>
      isGlobal && providers.has(RAINDROP_OPTIONS) && tokens.some((token) => providers.has(token)),
  );
  if (ours.length < 2) return;
  const message =
    `is taken: RaindropModule is registered ${ours.length} times under this name. Call forRoot or forRootAsync once for ` +
    `each service and give the others a name (name: 'orders'), or keep each to its importers with isGlobal: false`;
  const copies = tellNestCopies();
  throw new ConfigurationError([
    {
      option: 'name',
      given: JSON.stringify(name),
      message: copies === undefined ? message : `${message}. There are two copies: ${copies}`,
    },
  ]);
}
