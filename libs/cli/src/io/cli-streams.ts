/** What a command reads and writes: a process's own streams, or a test's. */
export interface CliStreams {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** Where `decode` reads IDs from when it is given none; without it there are none. */
  readonly stdin?: NodeJS.ReadableStream;
}
