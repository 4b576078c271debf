import { type AbortSignalLike, Wait } from '../async.js';
import type { Clock, MonotonicClock, Timers } from '../ports.js';
import type { RaindropError } from '../raindrop-error.js';
import {
  ClockMovedBackError,
  InvalidTimeoutError,
  SequenceExhaustedError,
  WaitTimeoutError,
} from './generator-errors.js';
import type { ResolvedGeneratorOptions } from './generator-options.js';

/** The options say how long an async call may take. */
export interface WaitOptions {
  /** Milliseconds until the call rejects with `WaitTimeoutError`; default `asyncTimeoutMs`. */
  timeoutMs?: number;
  /** Rejects the call with the signal's reason. */
  signal?: AbortSignalLike;
}

/**
 * A waiting call tries again at least this often: the clock may be set right, or the lease come back, at any moment.
 */
const LOOK_AGAIN_MS = 100;

/** The bounds of a wait, fixed when the call began. */
export interface WaitLimit {
  readonly timeoutMs: number;
  /** Monotonic ms. */
  readonly giveUpAt: number;
  readonly signal: AbortSignalLike | undefined;
}

/**
 * Checks how long a call may wait, and fills in the default.
 * @throws InvalidTimeoutError when `timeoutMs` is not a number of milliseconds
 */
export function checkedWait(wait: WaitOptions = {}, asyncTimeoutMs: number): Pick<WaitLimit, 'timeoutMs' | 'signal'> {
  const { timeoutMs = asyncTimeoutMs, signal } = wait;
  if (!(typeof timeoutMs === 'number' && timeoutMs >= 0)) throw new InvalidTimeoutError(timeoutMs);
  return { timeoutMs, signal };
}

/** Lets async calls wait until a refusal may be over: a tick begins, the clock catches up, the tenure changes. */
export class Waiting {
  private readonly sleepers = new Set<() => void>();

  constructor(
    private readonly ports: { readonly clock: Clock; readonly monotonic: MonotonicClock; readonly timers: Timers },
    private readonly options: ResolvedGeneratorOptions,
  ) {}

  /** Lets every waiting call try again now. */
  wake(): void {
    for (const wake of [...this.sleepers]) wake();
  }

  /** @throws InvalidTimeoutError when `timeoutMs` is not a number of milliseconds */
  limit(wait?: WaitOptions): WaitLimit {
    const { timeoutMs, signal } = checkedWait(wait, this.options.asyncTimeoutMs);
    return { timeoutMs, giveUpAt: this.ports.monotonic.now() + timeoutMs, signal };
  }

  /**
   * Calls `attempt` until it stops refusing.
   * @throws the refusal itself when waiting cannot help or is not wanted; WaitTimeoutError; the signal's reason
   */
  async until(limit: WaitLimit, attempt: () => RaindropError | undefined): Promise<void> {
    for (;;) {
      if (limit.signal?.aborted) throw limit.signal.reason;
      const refusal = attempt();
      if (refusal === undefined) return;
      if (!this.isWorthWaiting(refusal)) throw refusal;
      const left = limit.giveUpAt - this.ports.monotonic.now();
      if (left <= 0) throw new WaitTimeoutError(limit.timeoutMs, refusal);
      await this.sleep(Math.min(left, this.pauseFor(refusal)), limit.signal);
    }
  }

  /** Gives the event loop a turn in the middle of a large batch. */
  yieldToEventLoop(): Promise<void> {
    return this.sleep(0);
  }

  private isWorthWaiting(refusal: RaindropError): boolean {
    if (refusal instanceof SequenceExhaustedError) return this.options.onExhausted !== 'throw';
    if (refusal instanceof ClockMovedBackError) return this.options.onClockBack === 'wait';
    return refusal.retryable;
  }

  private pauseFor(refusal: RaindropError): number {
    let pause = LOOK_AGAIN_MS;
    if (refusal instanceof ClockMovedBackError) pause = refusal.behindMs;
    if (refusal instanceof SequenceExhaustedError) pause = refusal.availableAt.getTime() - this.ports.clock.now();
    return Math.min(Math.max(pause, 1), LOOK_AGAIN_MS);
  }

  private sleep(ms: number, signal?: AbortSignalLike): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.sleepers.delete(wake);
        wait.end();
        resolve();
      };
      const wait = new Wait(this.ports.timers, signal, wake, wake);
      wait.begin(ms);
      if (!wait.isOver) this.sleepers.add(wake);
    });
  }
}
