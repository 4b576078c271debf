/** What issues the IDs of a process: the library, or, as a control, the original's protocol. */
export interface IdSource {
  nextId(code?: string): bigint;
  nextIdAsync(code?: string): Promise<bigint>;
  fill(target: BigInt64Array, code?: string): BigInt64Array;
  forCode(code: string): { nextId(): bigint };
}

/** What happens to a source, for the counts. */
export interface IdSourceEvents {
  /** A worker id was acquired. */
  onTenure(): void;
  /** The worker table could not be reached, or answered too late. */
  onStoreTrouble(): void;
}
