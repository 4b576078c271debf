import { MAX_ID } from '../codec/id-codec.js';
import { SegmentExhaustedError } from './segment-errors.js';
import { composeShardedId, MAX_INDEX } from './sharded/sharded-id.js';

/** Numbers that were reserved: from `first` to `last`, both included. */
export interface Segment {
  readonly first: bigint;
  readonly last: bigint;
}

/** The segment that a reservation has got. */
export interface ReservedSegment extends Segment {
  /** The row's own step: how many numbers a request without `count` takes. */
  readonly step: number;
}

/** A request says how many numbers to reserve, and above which one. */
export interface SegmentRequest {
  /** How many numbers; default the row's own step. The answer has fewer when the row's limit is near. */
  readonly count?: number;
  /**
   * The highest number that this process ever got from the source; only numbers above it are reserved. So a store that
   * lost committed writes repeats nothing to this process.
   */
  readonly above: bigint;
}

/** Reserves the segments of one key, from a code's row or the row of an app's shard. */
export interface SegmentSource {
  /**
   * Reserves the next numbers in one step, outside any transaction of the application, and settles only when that is
   * durable. A rejection leaves open whether numbers were reserved; if they were, they are never reserved again.
   *
   * @throws SegmentExhaustedError at the row's limit; UnknownCodeError; SegmentStoreUnavailableError
   */
  reserve(request: SegmentRequest): Promise<ReservedSegment>;

  /**
   * Gives unused numbers back, provided that nothing was reserved after them. The caller calls it once at most for a
   * segment, and uses none of these numbers afterwards.
   *
   * @returns whether they went back
   */
  giveBack(unused: Segment): Promise<boolean>;
}

/** Keeps the segments of codes, or those of another key. */
export interface SegmentStore<Key extends readonly unknown[] = [code: string]> {
  /** Creates the table where it is missing; any number of processes may do so at once. */
  prepare(): Promise<void>;
  /** Tells where the segments of a key come from. A code is 1 to 128 characters; case and accents tell codes apart. */
  source(...key: Key): SegmentSource;
  /** Which of the database's settings can lose a committed reservation, for the log. */
  durabilityWarnings(): Promise<readonly string[]>;
  /** Safe to call more than once. Never rejects. */
  close(): Promise<void>;
}

/** An application whose public numbers are spread over shards. */
export interface App {
  /** 0 to 255: the lowest 8 bits of its numbers. */
  readonly id: number;
  readonly name: string;
  readonly description: string;
}

/** Keeps the indexes of apps and their shards. */
export interface AppSegmentStore extends SegmentStore<[app: number, shard: number]> {
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
}

/** Which numbers the row of one key has. `max_limit_id` is 0 where the row sets no limit. */
export interface SegmentBounds {
  /** The highest number under this `max_limit_id`. */
  ceiling(maxLimitId: bigint): bigint;
  /** A reservation throws this when all numbers up to the ceiling are taken. */
  exhausted(maxLimitId: bigint): SegmentExhaustedError;
}

/** A code's numbers go from 1 to `max_limit_id`, or to 2^63 - 1. */
export function boundsOfCode(code: string): SegmentBounds {
  return boundsOf(code, MAX_ID, (maxLimitId) => maxLimitId);
}

/**
 * The indexes of a shard go from 1 on, as long as the whole ID is within `max_limit_id`.
 * @throws InvalidAppError, InvalidShardedIdPartError when there can be no such row
 */
export function boundsOfShard(app: number, shard: number): SegmentBounds {
  const lowest = composeShardedId({ index: 0n, shard, app });
  const distance = composeShardedId({ index: 1n, shard, app }) - lowest;
  return boundsOf(`app ${app}, shard ${shard}`, MAX_INDEX, (maxLimitId) => (maxLimitId - lowest) / distance);
}

function boundsOf(name: string, highest: bigint, numberAt: (maxLimitId: bigint) => bigint): SegmentBounds {
  return {
    ceiling: (maxLimitId) => (maxLimitId === 0n ? highest : numberAt(maxLimitId)),
    exhausted: (maxLimitId) => new SegmentExhaustedError(name, maxLimitId === 0n ? MAX_ID : maxLimitId),
  };
}
