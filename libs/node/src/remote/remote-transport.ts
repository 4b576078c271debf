/** What a service answered, not looked at yet. */
export interface RemoteAnswer {
  /** To be a list of IDs as decimal text. */
  readonly ids: unknown;
  /** To be the fingerprint of their layout. */
  readonly layout: unknown;
}

/** A way to an ID service. */
export interface RemoteTransport {
  /** For errors and the log: `the ID service at http://ids:3000`. */
  readonly name: string;

  /**
   * Asks once. What it answers with was made for this very question: no cache, no other question's answer.
   * @param signal gives the attempt up; nothing of it is left then
   * @throws RaindropError; any other Error when the service cannot be reached
   */
  take(count: number, code: string | undefined, signal: AbortSignal): Promise<RemoteAnswer>;

  /** Lets go of its connections. */
  close(): void;
}
