import { createRequire } from 'node:module';
import type { ClientTCP } from '@nestjs/microservices';
import { ConfigurationError } from '@raindrop/core';
import { isMissingPackage, loadPackage } from '@raindrop/node/internal';

type Options = ConstructorParameters<typeof ClientTCP>[0];

/**
 * Makes clients of Nest's TCP transport, from a package that only those need who use it. They write nothing to the log:
 * what goes wrong is told to who waits for an answer.
 * @throws ConfigurationError when it is not installed
 */
export async function loadClientTcp(): Promise<(options: Options) => ClientTCP> {
  const { ClientTCP } = await load();
  class QuietClientTcp extends ClientTCP {
    override handleError(): void {}
  }
  return (options) => new QuietClientTcp(options);
}

async function load(): Promise<Pick<typeof import('@nestjs/microservices'), 'ClientTCP'>> {
  try {
    const name = '@nestjs/microservices';
    return await loadPackage(
      () => createRequire(__filename)(name) as typeof import('@nestjs/microservices'),
      () => import('@nestjs/microservices'),
    );
  } catch (error) {
    if (!isMissingPackage(error, '@nestjs/microservices')) throw error;
    const problem = 'needs the package @nestjs/microservices: npm install @nestjs/microservices, or use remoteIds()';
    throw new ConfigurationError([{ option: 'idSource', given: 'remoteIdsTcp()', message: problem }]);
  }
}
