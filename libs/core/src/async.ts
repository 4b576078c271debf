import type { Randomness, Timer, Timers } from './ports.js';

/** A call had no answer in time. Whether it was executed is unknown. */
export class DeadlineError extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/** The deadline of one call. */
export class Deadline {
  /** The time is over: an answer that comes now is late. */
  isOver = false;
  private readonly timer: Timer;
  private readonly expired: Promise<never>;
  private reject!: (error: DeadlineError) => void;

  /**
   * @param onExpire is called at the end of the time, after the call was rejected: what the call itself rejects with
   * because of `onExpire` comes too late to be taken for its answer
   * @param kind whether the timer keeps the process alive
   */
  constructor(
    private readonly ms: number,
    timers: Timers,
    private readonly onExpire: () => void = () => {},
    kind: 'background' | 'foreground' = 'background',
  ) {
    this.expired = new Promise<never>((_, reject) => (this.reject = reject));
    this.timer = timers.setTimer(() => this.expire(), ms, kind);
  }

  /** Settles as the call does. @throws DeadlineError at the end of the time */
  async run<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await Promise.race([call(), this.expired]);
    } finally {
      this.timer.cancel();
    }
  }

  /** Ends the time now. */
  expire(): void {
    this.isOver = true;
    this.reject(new DeadlineError(this.ms));
    this.onExpire();
  }
}

/** Settles as the call does. @throws DeadlineError after `ms`; see {@link Deadline} */
export function withDeadline<T>(call: () => Promise<T>, ms: number, timers: Timers, onExpire?: () => void): Promise<T> {
  return new Deadline(ms, timers, onExpire).run(call);
}

/** Settles after `ms`. @param kind whether the pause keeps the process alive: a caller is waiting for its end */
export function pause(timers: Timers, ms: number, kind: 'background' | 'foreground'): Promise<void> {
  return new Promise((resolve) => void timers.setTimer(resolve, ms, kind));
}

/**
 * The pause before a call is made again, ms: it doubles with each failure up to a longest pause, and is shortened by up
 * to a half at random, so that many processes do not come back together.
 *
 * Example: with 50 and 5,000 ms, 25-50 ms after the first failure, 50-100 after the second, 2,500-5,000 from the eighth
 * on.
 *
 * @param failures how many calls failed before this failure, in a row
 */
export function backoffMs(failures: number, baseMs: number, maxMs: number, randomness: Randomness): number {
  return Math.min(maxMs, baseMs * 2 ** failures) * (1 - randomness.fraction() / 2);
}

/** The part of an AbortSignal that is used, so that any implementation serves. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** Calls back when the signal is aborted. */
  addEventListener(type: 'abort', listener: () => void): void;
  /** Does not call back any more. */
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** The longest delay that every platform's timers take, about 25 days. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The wait of one caller, on a timer and a signal. The timer keeps the process alive. */
export class Wait {
  /** {@link end} was called: neither the timer nor the signal calls back any more. */
  isOver = false;
  private timer: Timer | undefined;
  private readonly abort = (): void => {
    if (!this.isOver) this.onAbort();
  };

  constructor(
    private readonly timers: Timers,
    private readonly signal: AbortSignalLike | undefined,
    private readonly onTime: () => void,
    private readonly onAbort: () => void,
  ) {}

  /** @throws what the signal throws; no timer is left behind then */
  begin(ms: number): void {
    this.signal?.addEventListener('abort', this.abort);
    // A signal that was aborted meanwhile may have called back already.
    if (!this.isOver) this.setTimer(ms);
  }

  /** Sets the timer. It may fire early, and does so with a delay of more than 25 days. */
  setTimer(ms: number): void {
    this.timer = this.timers.setTimer(this.onTime, Math.min(ms, MAX_DELAY_MS), 'foreground');
  }

  end(): void {
    this.isOver = true;
    this.timer?.cancel();
    try {
      this.signal?.removeEventListener('abort', this.abort);
    } catch {
      // A signal that throws here is the application's. From a timer the error would end the process, and the caller
      // would wait for ever. At worst the signal calls a listener that does nothing any more.
    }
  }
}
