import type { RaindropError } from '../raindrop-error.js';
import type { SupplyPorts, Timer, Timers } from '../ports.js';
import type { ResolvedSupplyOptions } from './supply.js';

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

/** What is used up faster than this was too small, ms; what lasts more than twice as long was too large. */
const FAST_MS = 15 * 60_000;

/**
 * How many IDs the next fetch takes: twice as many when those of the last one were used up fast, half when they lasted
 * long, never fewer than the source's own step and never more than `maxStep`, unless the source's step is larger.
 *
 * The rule and its times, a quarter and half of an hour, are those of Leaf's segment mode.
 */
export class AdaptiveStep {
  /** 0 until the source's own step is known. */
  current = 0;
  private ownStep = 0;
  private begunAt = Number.NaN;

  constructor(
    private readonly maxStep: number,
    private readonly fastMs = FAST_MS,
  ) {}

  /** The source's own step is known. */
  learn(ownStep: number): void {
    this.ownStep = ownStep;
    this.current = Math.max(this.current, ownStep);
  }

  /** What another fetch has brought has come into use. @param at monotonic ms */
  began(at: number): void {
    const lasted = at - this.begunAt;
    if (lasted < this.fastMs) this.current = Math.max(this.ownStep, Math.min(this.current * 2, this.maxStep));
    else if (lasted > 2 * this.fastMs) this.current = Math.max(this.ownStep, Math.floor(this.current / 2));
    this.begunAt = at;
  }

  /** What comes into use next is the first again: it says nothing about how long those before it lasted. */
  restart(): void {
    this.begunAt = Number.NaN;
  }
}

/** Settles as the call does, but rejects after `ms`: whether it was executed is unknown then. */
export async function withDeadline<T>(call: () => Promise<T>, ms: number, timers: Timers): Promise<T> {
  let expire!: (error: Error) => void;
  const deadline = new Promise<never>((_, reject) => (expire = reject));
  const timer = timers.setTimer(() => expire(new Error(`no answer within ${ms} ms`)), ms, 'background');
  try {
    return await Promise.race([call(), deadline]);
  } finally {
    timer.cancel();
  }
}
