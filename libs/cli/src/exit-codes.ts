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
