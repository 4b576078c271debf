import { RaindropError, type Randomness, type ReservedSegment, type SegmentSource, type Timers } from '@raindrop/core';
import { UnknownAppError, UnknownCodeError, UnknownShardError } from '@raindrop/core/internal';
import type { RedisRanges, RefillLock } from './redis-ranges.js';
import { sleep } from './sleep.js';

/** A reservation in the database that fails is tried so many times more. */
const RETRIES = 2;
const RETRY_MS = 50;

/** As the allocator's own cap: no more numbers than these are at stake when Redis loses its memory. */
const MOST_NUMBERS = 1_000_000;

/** The turn of whoever holds the lock: reserves the next range in the database and pushes it. */
export class RedisRefill {
  /** The row's own step, as of the last reservation. */
  private rowStep = MOST_NUMBERS;

  constructor(
    private readonly ranges: RedisRanges,
    private readonly database: SegmentSource,
    private readonly ports: { readonly timers: Timers; readonly randomness: Randomness },
    private readonly idle: number,
  ) {}

  /**
   * @param request how many numbers a process asks for at once, and above which
   * @throws what the database throws, after the lock was released
   */
  async run(lock: RefillLock, request: { readonly count: number; readonly above: bigint }): Promise<void> {
    let range: ReservedSegment;
    try {
      range = await this.reserve(this.sizeFor(request.count), request.above);
    } catch (error) {
      // What cannot be released or dropped ends by itself.
      await (isGone(error) ? this.ranges.drop() : this.ranges.release(lock)).catch(() => undefined);
      throw error;
    }
    this.rowStep = range.step;
    // Refused or not, and whether an answer comes at all: this range is never offered again.
    await this.ranges.push(range, lock);
  }

  /** The row's step, or more where processes take so much that less than one run would be left at the low-water mark. */
  private sizeFor(count: number): number | undefined {
    const needed = Math.min(Math.ceil(count / Math.max(this.idle, 0.1)), MOST_NUMBERS);
    return needed > this.rowStep ? needed : undefined;
  }

  private async reserve(count: number | undefined, above: bigint): Promise<ReservedSegment> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.database.reserve(count === undefined ? { above } : { count, above });
      } catch (error) {
        // A reservation that failed without a word may have happened: its numbers are a gap.
        if (attempt === RETRIES || (error instanceof RaindropError && !error.retryable)) throw error;
        await sleep(this.ports.timers, RETRY_MS * (attempt + this.ports.randomness.fraction()));
      }
    }
  }
}

/** Whether the table has no such row any more: whoever holds the lock clears the rest of it from Redis. */
function isGone(error: unknown): boolean {
  return error instanceof UnknownAppError || error instanceof UnknownShardError || error instanceof UnknownCodeError;
}
