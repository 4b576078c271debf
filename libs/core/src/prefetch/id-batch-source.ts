/** Whoever issues the IDs: another process, near or far. */
export interface IdBatchSource {
  /** For errors and the log: `the cluster's primary`, `the ID service at ids.internal`. */
  readonly name: string;

  /**
   * Takes IDs that nobody else gets, and that no other call of this or any other client was or will be answered with. A
   * rejection, or an answer that comes too late, leaves open whether some were issued: those are gaps.
   *
   * @param count how many, at least 1; fewer may be answered, at least one
   * @param code undefined for IDs without one
   * @throws RaindropError whose `retryable` says whether to try again; anything else is tried again
   */
  take(count: number, code?: string): Promise<readonly bigint[]>;
}
