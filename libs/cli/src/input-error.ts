import { RaindropError } from '@raindrop/core';

export { InputError } from '@raindrop/node/nest-project';

/** The work failed, and other flags would not help. Exit code 1. */
export class CommandFailedError extends RaindropError {
  static override readonly name = 'CommandFailedError';
  readonly errorCode = 'CLI_COMMAND_FAILED';

  constructor(message: string) {
    super(message, { retryable: false });
  }
}

/** The exit codes of the command. */
export const EXIT_CODES = {
  done: 0,
  /** The work failed, or `doctor` found something that fails. */
  failed: 1,
  /** A flag, an option, a file or an ID is wrong. */
  input: 2,
  /** `doctor` found something to look at, but nothing that fails. */
  warnings: 3,
  /** SIGINT ended the command; a worker id that it held was given back. */
  interrupted: 130,
  /** SIGTERM ended it, likewise. */
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];
