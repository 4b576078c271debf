import { RaindropError } from '@raindrop/core';

/** What was asked of the command cannot be done as it was asked. Exit code 2. */
export class InputError extends RaindropError {
  readonly errorCode = 'CLI_INPUT';

  constructor(
    message: string,
    /** Everything that is wrong, a line each; empty when the message says it all. */
    readonly problems: readonly string[] = [],
  ) {
    super([message, ...problems.map((each) => `  - ${each}`)].join('\n'), { retryable: false });
  }
}

/** The work cannot be done, and no other flag would help. Exit code 1. */
export class CommandFailedError extends RaindropError {
  readonly errorCode = 'CLI_COMMAND_FAILED';

  constructor(message: string) {
    super(message, { retryable: false });
  }
}
