import type { RaindropError } from '../raindrop-error.js';
import type { PrefetchPorts } from './prefetch-ports.js';

export interface RetryOptions {
  /** After so long an attempt has failed, ms. */
  readonly opTimeoutMs: number;
  /** The pause after a first failure, ms; it doubles with every further one. */
  readonly retryBaseMs: number;
  /** The longest pause, ms. */
  readonly retryMaxMs: number;
}

/** When an attempt began. */
export interface AskedAt {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** Is told how attempts end. */
export interface RetriedCallListener<Answer> {
  landed(answer: Answer, askedAt: AskedAt): void;
  /** An answer that must not be used: its attempt had been given up. */
  late(answer: Answer): void;
  /** An attempt failed, and a pause begins. */
  failed(error: RaindropError): void;
  /** The pause after a failure that may pass by itself is over. */
  recovered(): void;
  /** Makes one of our errors of what an attempt threw. */
  typed(reason: unknown): RaindropError;
}

/** One attempt; its answer counts while it is the current one. */
interface Attempt {
  readonly askedAt: AskedAt;
}

/**
 * Makes one attempt at a time, each with a time limit, and pauses after failures: with jitter, so that many clients do not
 * come back together.
 *
 * An attempt that takes too long has failed, and the next one may begin. Its answer is not used even if it still comes: it
 * would be older than what has come since. After a failure that cannot pass by itself nothing is tried by itself.
 */
export class RetriedCall<Answer> {
  /** Why the last attempt failed; undefined since one succeeded. */
  lastError: RaindropError | undefined;
  private current: Attempt | undefined;
  private isStopped = false;
  private failuresInARow = 0;
  private pauseUntil = Number.NEGATIVE_INFINITY;
  private cancelPause: () => void = () => {};

  constructor(
    private readonly options: RetryOptions,
    private readonly ports: PrefetchPorts,
    private readonly listener: RetriedCallListener<Answer>,
  ) {}

  get isUnderWay(): boolean {
    return this.current !== undefined;
  }

  /** Begins an attempt unless one is under way, or it is too early. */
  begin(call: () => Promise<Answer>): void {
    if (this.isUnderWay || this.isStopped) return;
    const { monotonic, clock } = this.ports;
    const askedAt = { monotonicMs: monotonic.now(), wallMs: clock.refresh() };
    if (askedAt.monotonicMs < this.pauseUntil) return;
    this.current = { askedAt };
    void this.run(this.current, call);
  }

  /** The answer of the attempt under way is not used. */
  forget(): void {
    this.current = undefined;
  }

  /** No further attempt. */
  stop(): void {
    this.isStopped = true;
    this.cancelPause();
    this.forget();
  }

  private async run(attempt: Attempt, call: () => Promise<Answer>): Promise<void> {
    const { opTimeoutMs } = this.options;
    const giveUp = (): void => this.fail(attempt, new Error(`no answer within ${opTimeoutMs} ms`));
    const timer = this.ports.timers.setTimer(giveUp, opTimeoutMs, 'background');
    let answer: Answer;
    try {
      answer = await call();
    } catch (error) {
      this.fail(attempt, error);
      return;
    } finally {
      timer.cancel();
    }
    if (attempt !== this.current) return this.listener.late(answer);
    this.current = undefined;
    this.lastError = undefined;
    this.failuresInARow = 0;
    this.listener.landed(answer, attempt.askedAt);
  }

  private fail(attempt: Attempt, reason: unknown): void {
    if (attempt !== this.current) return;
    this.current = undefined;
    const error = this.listener.typed(reason);
    this.lastError = error;
    this.pause(error.retryable);
    this.listener.failed(error);
  }

  private pause(mayPass: boolean): void {
    const { retryBaseMs, retryMaxMs } = this.options;
    const { monotonic, timers, randomness } = this.ports;
    const longest = mayPass ? Math.min(retryMaxMs, retryBaseMs * 2 ** this.failuresInARow++) : retryMaxMs;
    const ms = longest * (1 - randomness.fraction() / 2);
    this.pauseUntil = monotonic.now() + ms;
    this.cancelPause();
    if (!mayPass) return;
    const timer = timers.setTimer(() => this.recover(), ms, 'background');
    this.cancelPause = () => timer.cancel();
  }

  /** Timers may be a little early. */
  private recover(): void {
    this.pauseUntil = Number.NEGATIVE_INFINITY;
    this.listener.recovered();
  }
}
