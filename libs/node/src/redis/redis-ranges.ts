import type { Segment } from '@raindrop/core';
import type { RedisConnection } from './redis-connection.js';
import { RedisUnavailableError } from './redis-errors.js';
import type { RedisKeys } from './redis-keys.js';
import { redisScripts, type RedisScriptName } from './redis-scripts.js';

/** What was taken out of a range. */
export interface PoppedRun {
  /** Undefined when the ranges in Redis are used up. */
  readonly run: (Segment & { readonly proof: RunProof }) | undefined;
  /** The caller is to push the next range with this lock, or to release it. */
  readonly lock: RefillLock | undefined;
  /** The last number that was ever pushed under this term; 0 when there is none. */
  readonly newest: bigint;
}

/** The right to push one range, in the term in which it was given. */
export interface RefillLock {
  readonly term: string;
  readonly token: string;
}

/** What Redis knows a run by, for giving its end back. */
export interface RunProof {
  readonly term: string;
  readonly rangeFirst: string;
  readonly version: string;
}

/** Terms change when Redis fails over: one look tells the new one, so a second miss in a row is an oddity. */
const MOST_TERMS = 3;

/** What nobody takes anything out of for a week is forgotten by Redis: a gap, as after any loss of its memory. */
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
   * @returns false when it was refused: its numbers may be in Redis or not, and are nobody's otherwise
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

  /** Under whatever term the server is in. */
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
