import { ConsoleLogger } from '@nestjs/common';

/** Warnings and errors only, and not the one that ends the start-up: `main` says that one in a line of its own. */
export class DemoLogger extends ConsoleLogger {
  constructor() {
    super({ logLevels: ['warn', 'error', 'fatal'] });
  }

  override error(message: unknown, ...rest: unknown[]): void {
    if (rest.at(-1) !== 'ExceptionHandler') super.error(message, ...rest);
  }
}
