import type { ClientTCP } from '@nestjs/microservices';
import { ConfigurationError } from '@raindrop/core';

/**
 * Nest's TCP client, from a package that only those need who use it.
 * @throws ConfigurationError when it is not installed
 */
export async function loadClientTcp(): Promise<typeof ClientTCP> {
  try {
    return (await import('@nestjs/microservices')).ClientTCP;
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string };
    const isMissing = /^(ERR_)?MODULE_NOT_FOUND$/.test(String(code)) && message?.includes('@nestjs/microservices');
    if (isMissing !== true) throw error;
    const problem = 'needs the package @nestjs/microservices: npm install @nestjs/microservices, or use remoteIds()';
    throw new ConfigurationError([{ option: 'idSource', given: 'remoteIdsTcp()', message: problem }]);
  }
}
