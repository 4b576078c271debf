import type { RaindropError } from '../raindrop-error.js';
import type { Timer } from '../time/timers.js';
import type { ResolvedSupplyOptions } from './supply-options.js';
import type { SupplyPorts } from './supply-ports.js';

/** Knows what answers are worth, and is told how calls end. */
export interface FetchListener<Answer> {
  /** Looks at an answer when it comes. @throws what makes it unusable: its call has failed then */
  check(answer: Answer): void;
  /** The answer of the call under way. */
  landed(answer: Answer): void;
  /** The answer of a call that had been given up. */
  late(answer: Answer): void;
  /** An answer that must not be used: a copy of this process has it, too. */
  lost(answer: Answer): void;
  /** The call under way has failed, and a pause begins. */
  failed(error: RaindropError): void;
  /** The pause is over. */
  recovered(): void;
  /** Makes one of our errors of what a call threw. */
  typed(reason: unknown): RaindropError;
  /** Whether to try again by itself after this error. */
  isRetried(error: RaindropError): boolean;
}

/** A call under way; its answer counts while the epoch lasts. */
interface Call {
  readonly epoch: number;
}

/**
 * Makes one call at a time, each with a time limit, and pauses after failures: with jitter, so that many clients do not
 * come back together. A call that takes too long has failed, and the next one may begin.
 */
export class Fetcher<Answer> {
  /** Why the last call failed; undefined since one succeeded. */
  lastError: RaindropError | undefined;
  private current: Call | undefined;
  private epoch = 0;
  private isStopped = false;
  private failuresInARow = 0;
  private pauseUntil = Number.NEGATIVE_INFINITY;
  private pause: Timer | undefined;
  private whenIdle: () => void = () => {};

  constructor(
    private readonly options: ResolvedSupplyOptions,
    private readonly ports: SupplyPorts,
    private readonly listener: FetchListener<Answer>,
  ) {}

  get isFetching(): boolean {
    return this.current !== undefined;
  }

  /** Whether {@link begin} would begin a call now. */
  get isReady(): boolean {
    return !this.isFetching && !this.isStopped && this.ports.monotonic.now() >= this.pauseUntil;
  }

  /** Begins a call unless one is under way, or it is too early. */
  begin(fetch: () => Promise<Answer>): void {
    if (!this.isReady) return;
    this.current = { epoch: this.epoch };
    void this.run(this.current, fetch);
  }

  /** The answers of all calls under way are lost. */
  forget(): void {
    this.epoch++;
    this.end();
  }

  /** Begins no further call; settles when the one under way has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.pause?.cancel();
    if (this.isFetching) await new Promise<void>((resolve) => (this.whenIdle = resolve));
  }

  private async run(call: Call, fetch: () => Promise<Answer>): Promise<void> {
    const { opTimeoutMs } = this.options;
    const giveUp = (): void => this.fail(call, new Error(`no answer within ${opTimeoutMs} ms`));
    const timer = this.ports.timers.setTimer(giveUp, opTimeoutMs, 'background');
    let answer: Answer;
    try {
      answer = await fetch();
      // In one stretch with landing: another answer may change what is right.
      this.listener.check(answer);
    } catch (error) {
      return this.fail(call, error);
    } finally {
      timer.cancel();
    }
    this.land(call, answer);
  }

  private land(call: Call, answer: Answer): void {
    if (call.epoch !== this.epoch) return this.listener.lost(answer);
    if (call !== this.current) return this.listener.late(answer);
    this.lastError = undefined;
    this.failuresInARow = 0;
    this.end();
    this.listener.landed(answer);
  }

  private fail(call: Call, reason: unknown): void {
    if (call !== this.current) return;
    const error = this.listener.typed(reason);
    this.lastError = error;
    this.beginPause(error);
    this.end();
    this.listener.failed(error);
  }

  /** Doubles only for what may pass by itself; for the rest it is the longest. */
  private beginPause(error: RaindropError): void {
    const { retryBaseMs, retryMaxMs } = this.options;
    const { monotonic, timers, randomness } = this.ports;
    const longest = error.retryable ? Math.min(retryMaxMs, retryBaseMs * 2 ** this.failuresInARow++) : retryMaxMs;
    const ms = longest * (1 - randomness.fraction() / 2);
    this.pauseUntil = monotonic.now() + ms;
    this.pause?.cancel();
    if (this.isStopped || !this.listener.isRetried(error)) return;
    this.pause = timers.setTimer(() => this.recover(), ms, 'background');
  }

  /** Timers may be a little early. */
  private recover(): void {
    this.pauseUntil = Number.NEGATIVE_INFINITY;
    this.listener.recovered();
  }

  private end(): void {
    this.current = undefined;
    this.whenIdle();
  }
}
