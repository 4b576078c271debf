import { RaindropError } from '@raindrop/core';

/** A flag, an option, a file or an ID is wrong. Exit code 2. */
export class InputError extends RaindropError {
  static override readonly name = 'InputError';
  readonly errorCode = 'CLI_INPUT';

  constructor(
    message: string,
    /** All problems, a line each; empty when the message says it all. */
    readonly problems: readonly string[] = [],
  ) {
    super([message, ...problems.map((each) => `  - ${each}`)].join('\n'), { retryable: false });
  }
}
