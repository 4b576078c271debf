import type { SegmentSource } from './segment-store.js';

/** An application whose public numbers are spread over shards. */
export interface App {
  /** 0 to 255: the lowest 8 bits of its numbers. */
  readonly id: number;
  readonly name: string;
  readonly description: string;
}

/** Keeps the indexes of apps and their shards. */
export interface AppSegmentStore {
  /** Creates the table where it is missing; any number of processes may do so at once. */
  prepare(): Promise<void>;

  /**
   * Makes an app's 64 rows where they are missing; any number of processes may do so at once. Rows that are there keep
   * their numbers, and get the name and the description.
   */
  registerApp(appId: number, name: string, description: string): Promise<void>;

  /** The apps that have rows, by id. */
  apps(): Promise<App[]>;

  /**
   * Tells where the indexes of one shard of an app come from: 1 to 2^49 - 1, and as long as the whole ID
   * (`index * 16384 + shard * 256 + app`) is within the row's `max_limit_id`.
   *
   * Its `reserve` throws UnknownAppError when the app has no rows, and UnknownShardError when only this one is missing.
   */
  source(app: number, shard: number): SegmentSource;

  /** What of the database's settings can lose a committed reservation, for the log. */
  durabilityWarnings(): Promise<readonly string[]>;
  /** Safe to call more than once. Never rejects. */
  close(): Promise<void>;
}
