import { ConsoleLogger } from '@nestjs/common';
import type { ServiceConfig } from './service-config.js';

/** Warnings and errors only, and not the one that ends the start-up: `main` says that one in a line of its own. */
export class ServiceLogger extends ConsoleLogger {
  constructor(format: ServiceConfig['logFormat']) {
    super({ logLevels: ['warn', 'error', 'fatal'], json: format === 'json' });
  }

  override error(message: unknown, ...rest: unknown[]): void {
    if (rest.at(-1) !== 'ExceptionHandler') super.error(message, ...rest);
  }
}
