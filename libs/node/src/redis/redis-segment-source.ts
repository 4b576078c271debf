import {
  type MonotonicClock,
  RaindropError,
  type Randomness,
  type ReservedSegment,
  type Segment,
  type SegmentRequest,
  type SegmentSource,
  type Timers,
  UnknownAppError,
  UnknownCodeError,
  UnknownShardError,
} from '@raindrop/core';
import { backoffMs, pause } from '@raindrop/core/internal';
import { type RedisConnection, RedisUnavailableError } from './redis-connection.js';
import type { ResolvedRedisBufferOptions } from './redis-options.js';
import type { RedisKeys } from './redis-keys.js';
import { type RedisScriptName, redisScripts } from './redis-scripts.js';

/** Totals since the buffer was created. */
export interface RedisBufferCounters {
  /** Runs taken out of Redis: a round trip each. */
  runs: number;
  /** Times that this process reserved the next range. */
  refills: number;
  /** Reservations past Redis. */
  direct: number;
}

/** The state that all sources of one buffer share. */
export interface RedisBufferContext {
  readonly connection: RedisConnection;
  readonly options: ResolvedRedisBufferOptions;
  readonly timers: Timers;
  readonly monotonic: MonotonicClock;
  readonly randomness: Randomness;
  readonly counters: RedisBufferCounters;
  /** A new text at every call, in every process. */
  nextToken(): string;
  /** Lets work go on in the background. Only `close` of the buffer waits for it. */
  inBackground(work: Promise<void>): void;
  /** Remembers why a command, or work in the background, failed. */
  failed(error: unknown): void;
}

/** Other processes may take a whole range before the process that pushed it. Each further range may become a gap. */
const MOST_REFILLS = 3;

/** The last segment, and where it came from: only its end can go back. */
interface LastGrant {
  readonly last: bigint;
  /** Undefined for a segment that was reserved in the database. */
  readonly proof: RunProof | undefined;
}

/**
 * A segment source whose numbers several processes take out of one range in Redis, a run at a time.
 *
 * Redis is never the only memory: every range was reserved in the database, is pushed once at most, and is served only
 * by the server, and in the term, that it was pushed to. Whatever Redis forgets is a gap. Redis that does not answer
 * costs a reservation in the database.
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
        // Redis' answer is checked like any input: a run that is not above all earlier numbers is not used.
        return popped.run.first > above ? popped.run : undefined;
      }
      const left = giveUpAt - monotonic.now();
      if (popped.refilled ? ++refills === MOST_REFILLS : left <= 0) return undefined;
      if (!popped.refilled) await pause(timers, Math.min(pauseMs, left), 'background');
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

/** How often a failed reservation in the database is tried again. */
const RETRIES = 2;
const RETRY_MS = 50;

/** The largest range: no more numbers become a gap when Redis loses its memory. */
const MOST_NUMBERS = 1_000_000;

/** Reserves the next range in the database and pushes it, in the process that holds the lock. */
class RedisRefill {
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
      // A lock or a range that cannot be removed expires.
      await (isGone(error) ? this.ranges.drop() : this.ranges.release(lock)).catch(() => undefined);
      throw error;
    }
    this.rowStep = range.step;
    // Whether it was pushed, refused or not answered: this range is never pushed again.
    await this.ranges.push(range, lock);
  }

  /**
   * The row's step, or more where processes take so much that less than one run would be left at the low-water mark.
   */
  private sizeFor(count: number): number | undefined {
    const needed = Math.min(Math.ceil(count / Math.max(this.idle, 0.1)), MOST_NUMBERS);
    return needed > this.rowStep ? needed : undefined;
  }

  private async reserve(count: number | undefined, above: bigint): Promise<ReservedSegment> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.database.reserve(count === undefined ? { above } : { count, above });
      } catch (error) {
        // A reservation that failed may have been executed: its numbers are a gap.
        if (attempt === RETRIES || (error instanceof RaindropError && !error.retryable)) throw error;
        const { timers, randomness } = this.ports;
        await pause(timers, backoffMs(attempt, RETRY_MS, RETRIES * RETRY_MS, randomness), 'background');
      }
    }
  }
}

/** Whether the table has no such row any more. Then the process that holds the lock clears the range from Redis. */
function isGone(error: unknown): boolean {
  return error instanceof UnknownAppError || error instanceof UnknownShardError || error instanceof UnknownCodeError;
}

/** The numbers taken from a range. */
export interface PoppedRun {
  /** Undefined when the ranges in Redis are used up. */
  readonly run: (Segment & { readonly proof: RunProof }) | undefined;
  /** The caller is to push the next range with this lock, or to release it. */
  readonly lock: RefillLock | undefined;
  /** The last number that was pushed in this term; 0 before the first. */
  readonly newest: bigint;
}

/** The right to push one range, in the term in which it was given. */
export interface RefillLock {
  readonly term: string;
  readonly token: string;
}

/** By what Redis recognizes a run whose end is given back. */
interface RunProof {
  readonly term: string;
  readonly rangeFirst: string;
  readonly version: string;
}

/**
 * A term changes when Redis fails over. One answer tells the new term; a Redis that has another one each time is of no
 * use.
 */
const MOST_TERMS = 3;

/** A range from which nothing is taken for a week expires: a gap, as after any loss of Redis' memory. */
const KEEP_MS = 7 * 86_400_000;

/** The ranges of one key in Redis: the scripts with types, and the term they run under. */
export class RedisRanges {
  private term = '';

  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: RedisKeys,
  ) {}

  /** @throws RedisUnavailableError; a run that was popped all the same is a gap */
  async pop(request: {
    readonly count: number;
    readonly above: bigint;
    readonly idle: number;
    readonly token: string;
    readonly lockMs: number;
  }): Promise<PoppedRun> {
    const { count, above, idle, token, lockMs } = request;
    const { term, answer } = await this.run('pop', [count, above, idle, token, lockMs, KEEP_MS].map(String));
    const [, rangeFirst, taken, size, version, locked, newest] = answer.map(String);
    const first = BigInt(rangeFirst!) + BigInt(taken!);
    const proof = { term, rangeFirst: rangeFirst!, version: version! };
    return {
      run: size === '0' ? undefined : { first, last: first + BigInt(size!) - 1n, proof },
      lock: locked === '1' ? { term, token } : undefined,
      newest: BigInt(newest!),
    };
  }

  /**
   * Appends a range, once at most and only under the term in which the lock was taken.
   *
   * @returns false when it was refused: then no process gets its numbers
   */
  async push({ first, last }: Segment, { term, token }: RefillLock): Promise<boolean> {
    const args = [token, first, last, last - first + 1n, KEEP_MS].map(String);
    return (await this.runUnder(term, 'push', args))[0] === 'pushed';
  }

  async release({ term, token }: RefillLock): Promise<void> {
    await this.runUnder(term, 'release', [token]);
  }

  /** @returns whether the numbers went back */
  async giveBack({ term, rangeFirst, version }: RunProof, unused: Segment): Promise<boolean> {
    const args = [rangeFirst, version, String(unused.last - unused.first + 1n)];
    return (await this.runUnder(term, 'giveBack', args))[0] === 'returned';
  }

  async drop(): Promise<void> {
    await this.run('drop', []);
  }

  /** Runs a script in the present term of the server. */
  private async run(name: RedisScriptName, args: readonly string[]): Promise<{ term: string; answer: unknown[] }> {
    for (let attempt = 0; attempt < MOST_TERMS; attempt++) {
      const { term } = this;
      const answer = await this.runUnder(term, name, args);
      if (answer[0] !== 'term') return { term, answer };
      this.term = String(answer[1]);
    }
    throw new RedisUnavailableError(name, 'its primary changes at every command');
  }

  private runUnder(term: string, name: RedisScriptName, args: readonly string[]): Promise<unknown[]> {
    return this.connection.run(name, redisScripts[name], this.keys.under(term), [term, ...args]);
  }
}
