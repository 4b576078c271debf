import type { ReservedSegment, Segment, SegmentRequest, SegmentSource } from '@raindrop/core';
import type { RedisBufferContext } from './redis-buffer-context.js';
import { RedisUnavailableError } from './redis-errors.js';
import type { RedisKeys } from './redis-keys.js';
import { RedisRanges, type PoppedRun, type RunProof } from './redis-ranges.js';
import { RedisRefill } from './redis-refill.js';
import { sleep } from './sleep.js';

/** Others may take a whole range before the one who pushed it; every further one may be a gap. */
const MOST_REFILLS = 3;

/** Where the last segment came from: only its end can go back. */
interface LastGrant {
  readonly last: bigint;
  /** Undefined when it was reserved in the database. */
  readonly proof: RunProof | undefined;
}

/**
 * A segment source whose numbers several processes take out of one range in Redis, a run at a time.
 *
 * Redis is never the only memory: every range was reserved in the database, is pushed once at most, and is served only by
 * the server, and in the term, that it was pushed to. Whatever Redis forgets is a gap. Redis that does not answer costs a
 * reservation in the database.
 */
export class RedisSegmentSource implements SegmentSource {
  private readonly ranges: RedisRanges;
  private readonly refill: RedisRefill;
  private lastGrant: LastGrant | undefined;

  constructor(
    keys: RedisKeys,
    private readonly database: SegmentSource,
    private readonly context: RedisBufferContext,
  ) {
    this.ranges = new RedisRanges(context.connection, keys);
    this.refill = new RedisRefill(this.ranges, database, context, context.options.idle);
  }

  /**
   * A run of `count` numbers, of `run` when left out; fewer at the end of a range.
   *
   * @throws what the database throws; RedisUnavailableError with `onRedisDown: 'throw'`
   */
  async reserve(request: SegmentRequest): Promise<ReservedSegment> {
    const { options, counters } = this.context;
    try {
      const run = await this.popOrRefill(request.count ?? options.run, request.above);
      if (run !== undefined) {
        counters.runs++;
        return this.granted(run, run.proof);
      }
    } catch (error) {
      if (!(error instanceof RedisUnavailableError)) throw error;
      this.context.failed(error);
      if (options.onRedisDown === 'throw') throw error;
    }
    counters.direct++;
    return this.granted(await this.database.reserve(request), undefined);
  }

  /**
   * Only the end of the last segment goes back: into the range in Redis when nothing was taken out of it since, or into
   * the database.
   */
  async giveBack(unused: Segment): Promise<boolean> {
    const grant = this.lastGrant;
    this.lastGrant = undefined;
    if (grant === undefined || grant.last !== unused.last) return false;
    if (grant.proof === undefined) return this.database.giveBack(unused);
    try {
      return await this.ranges.giveBack(grant.proof, unused);
    } catch (error) {
      this.context.failed(error);
      return false;
    }
  }

  /** Undefined when another process has been refilling for longer than `refillWaitMs`, or refills did not help. */
  private async popOrRefill(count: number, above: bigint): Promise<PoppedRun['run']> {
    const { timers, monotonic, options } = this.context;
    const giveUpAt = monotonic.now() + options.refillWaitMs;
    let refills = 0;
    for (let pauseMs = 2; ; pauseMs *= 2) {
      const popped = await this.pop(count, above);
      if (popped.run !== undefined) {
        // What the server served is checked like anything else from outside: numbers only go up.
        return popped.run.first > above ? popped.run : undefined;
      }
      const left = giveUpAt - monotonic.now();
      if (popped.refilled ? ++refills === MOST_REFILLS : left <= 0) return undefined;
      if (!popped.refilled) await sleep(timers, Math.min(pauseMs, left));
    }
  }

  /** Pops, and refills when it is this process's turn: in the background as long as there is something to answer. */
  private async pop(count: number, above: bigint): Promise<PoppedRun & { readonly refilled: boolean }> {
    const { options, counters } = this.context;
    const { idle, lockMs } = options;
    const popped = await this.ranges.pop({ count, above, idle, lockMs, token: this.context.nextToken() });
    const { lock, newest } = popped;
    if (lock === undefined) return { ...popped, refilled: false };
    counters.refills++;
    const refill = this.refill.run(lock, { count, above: newest > above ? newest : above });
    if (popped.run === undefined) await refill;
    else this.context.inBackground(refill);
    return { ...popped, refilled: true };
  }

  private granted({ first, last }: Segment, proof: RunProof | undefined): ReservedSegment {
    this.lastGrant = { last, proof };
    return { first, last, step: this.context.options.run };
  }
}
