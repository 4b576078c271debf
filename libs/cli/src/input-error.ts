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

/** Says how the command ends. */
export const EXIT_CODES = {
  done: 0,
  /** The work failed, or `doctor` found something that will fail. */
  failed: 1,
  /** What was asked for cannot be done as it was asked: a wrong flag, option, file or ID. */
  input: 2,
  /** `doctor` found something to look at, and nothing that fails. */
  warnings: 3,
  /** Ended by SIGINT or SIGTERM, with everything given back. */
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];
