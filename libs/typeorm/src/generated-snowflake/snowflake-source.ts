import type { Layout } from '@raindrop/core';

/** Where the IDs of the columns come from: the part of an `IdService` that they need. */
export interface SnowflakeSource {
  /** The service's name, `default` when it has none: it serves the columns that name this service. */
  readonly name: string;
  /** Undefined for numbers from segments. */
  readonly layout: Layout | undefined;
  /**
   * The next ID, at once.
   * @throws RaindropError; when it is `retryable`, {@link nextIdAsync} is asked instead
   */
  nextId(code?: string): bigint;
  /** The same as decimal text, where that is quicker than to make it of the bigint. */
  nextString?(code?: string): string;
  /** The next ID, waiting for it where waiting helps. */
  nextIdAsync(code?: string): Promise<bigint>;
  /** Gives back what it holds, when the application does not start after all. */
  close?(): Promise<void>;
}
