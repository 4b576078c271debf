export { runCli } from './run-cli.js';
export { EXIT_CODES, type ExitCode } from './exit-codes.js';
export type { CliStreams } from './io/cli-streams.js';
