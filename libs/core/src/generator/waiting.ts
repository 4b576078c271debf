import type { RaindropError } from '../raindrop-error.js';
import type { Clock, MonotonicClock, Timer, Timers } from '../ports.js';
import {
  ClockMovedBackError,
  InvalidTimeoutError,
  SequenceExhaustedError,
  WaitTimeoutError,
} from './generator-errors.js';
import type { ResolvedGeneratorOptions } from './generator-options.js';

/** The part of an AbortSignal that is used, so that any implementation serves. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** Calls back when it is aborted. */
  addEventListener(type: 'abort', listener: () => void): void;
  /** Ends that. */
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** The options say how long an async call may take. */
export interface WaitOptions {
  /** Milliseconds until the call rejects with `WaitTimeoutError`; default `asyncTimeoutMs`. */
  timeoutMs?: number;
  /** Rejects the call with the signal's reason. */
  signal?: AbortSignalLike;
}

/** The clock may be set right, and a lease come back, at any moment: look again at least this often. */
const LOOK_AGAIN_MS = 100;

/** A wait's bounds, fixed when the call began. */
export interface WaitLimit {
  readonly timeoutMs: number;
  readonly giveUpAt: number;
  readonly signal: AbortSignalLike | undefined;
}

/**
 * How long somebody wants to wait, with the default in place.
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

  /** Wakes everybody who waits. */
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

  /** Gives the event loop a turn, in the middle of a large batch. */
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
      let timer: Timer | undefined = undefined;
      let isOver = false;
      const wake = (): void => {
        if (isOver) return;
        isOver = true;
        timer?.cancel();
        this.sleepers.delete(wake);
        endListening(signal, wake);
        resolve();
      };
      // First: what it throws rejects the call, and nothing is left behind.
      signal?.addEventListener('abort', wake);
      if (isOver) return;
      timer = this.ports.timers.setTimer(wake, ms, 'foreground');
      this.sleepers.add(wake);
    });
  }
}

/** One that throws is the application's. Called from a timer it would end the process, and the call would never settle. */
export function endListening(signal: AbortSignalLike | undefined, listener: () => void): void {
  try {
    signal?.removeEventListener('abort', listener);
  } catch {
    // The listener is called for nothing, at most.
  }
}
