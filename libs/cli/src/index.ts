export { runCli } from './run-cli.js';
export { EXIT_CODES, type ExitCode } from './input-error.js';
export type { CliStreams } from './io/cli-output.js';
