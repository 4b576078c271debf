/** What a command writes to: a process's own streams, or a test's. */
export interface CliStreams {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}
