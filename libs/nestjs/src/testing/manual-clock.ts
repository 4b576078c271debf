import { MessageChannel } from 'node:worker_threads';
import { type Clock, ConfigurationError, type MonotonicClock, type Timer, type Timers } from '@raindrop/core';
import { OptionReader } from '@raindrop/core/internal';
import { hostTimers } from '@raindrop/node/internal';

/** After a call has waited for this real time, the clock moves on by itself, ms. */
const IDLE_MS = 1_000;

/**
 * So far it moves then, ms: a call that waits for a tick of a second is answered, and one that waits for a lease times
 * out.
 */
const MOVE_ON_MS = 10_000;

/** A date, or a time with its zone: a time without a zone would be another moment on another machine. */
const ISO = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/i;

/** The last moment that a Date can hold, Unix ms. */
const MAX_DATE_MS = 8.64e15;

/** The clock of a testbed. It stands still until it is moved, or until a call has waited for a second of real time. */
export interface TestClock {
  /** Unix ms. */
  now(): number;
  /**
   * Sets the clock to a moment, at once and in either direction, as an administrator would: no time passes. Calls that
   * wait look at the clock again.
   * @param moment a Date, Unix ms, `2026-01-01` or a time with its zone, `2026-01-01T12:00:00Z`
   * @throws ConfigurationError when it is no moment
   */
  set(moment: Date | string | number): void;
  /**
   * Lets time pass: timers fire in their order. Await the promise: when it resolves, the consequences of the timers
   * have happened as well. Several calls at once pass one after the other.
   * @param ms an integer, 0 or more
   * @throws ConfigurationError (at once) when it is not
   */
  advance(ms: number): Promise<void>;
}

interface Pending {
  readonly at: number;
  readonly callback: () => void;
}

/**
 * Wall clock, monotonic clock and timers that a test moves. A call may wait for the next tick while the test only
 * awaits that call: after a second of real time the clock moves on by itself, from timer to timer.
 */
export class ManualClock implements TestClock, Clock, Timers {
  readonly monotonic: MonotonicClock = { now: () => this.elapsedMs };
  private readonly pending = new Set<Pending>();
  private elapsedMs = 0;
  /** The wall clock minus the elapsed time. */
  private offsetMs: number;
  private lastAdvance = Promise.resolve();
  /** Set while a call waits. */
  private idleTimer: NodeJS.Timeout | undefined;

  /** @param onSet called after the wall clock was set */
  constructor(
    wallMs: number,
    private readonly onSet: () => void,
  ) {
    this.offsetMs = wallMs;
  }

  now(): number {
    return Math.floor(this.offsetMs + this.elapsedMs);
  }

  refresh(): number {
    return this.now();
  }

  set(moment: Date | string | number): void {
    this.offsetMs = momentOf('clock.set', moment) - this.elapsedMs;
    this.restartIdleTimer();
    this.onSet();
  }

  advance(ms: number): Promise<void> {
    if (!Number.isInteger(ms) || ms < 0) {
      const reader = new OptionReader({});
      reader.problem('clock.advance', ms, 'must be milliseconds, an integer of 0 or more; clock.set() goes back');
      throw new ConfigurationError(reader.problems);
    }
    return this.queue(() => this.pass(ms));
  }

  /** A timer without a delay fires after a turn of the event loop: the test need not move the clock. */
  setTimer(callback: () => void, delayMs: number): Timer {
    const timer: Pending = { at: this.elapsedMs + delayMs, callback };
    this.pending.add(timer);
    if (delayMs <= 0) void turn().then(() => this.fire(timer));
    else if (this.idleTimer === undefined) this.restartIdleTimer();
    return { cancel: () => void this.end(timer) };
  }

  private queue(pass: () => Promise<void>): Promise<void> {
    this.restartIdleTimer();
    this.lastAdvance = this.lastAdvance.then(pass).then(() => this.restartIdleTimer());
    return this.lastAdvance;
  }

  /** Called when the clock was moved: a call that still waits gets another second. */
  private restartIdleTimer(): void {
    hostTimers.clearTimeout(this.idleTimer);
    this.idleTimer = undefined;
    if (this.pending.size > 0) {
      this.idleTimer = hostTimers.setTimeout(
        () => void this.queue(() => this.fireUntil(this.elapsedMs + MOVE_ON_MS)),
        IDLE_MS,
      );
    }
  }

  private async fireUntil(end: number): Promise<void> {
    for (let next = this.next(end); next !== undefined; next = this.next(end)) {
      this.elapsedMs = Math.max(this.elapsedMs, next.at);
      this.fire(next);
      await turn();
    }
  }

  private async pass(ms: number): Promise<void> {
    const end = this.elapsedMs + ms;
    // A call that was made just before sets its timer first.
    await turn();
    await this.fireUntil(end);
    this.elapsedMs = end;
    await turn();
  }

  /** The first timer that is due at `end`; of several at one moment the oldest. */
  private next(end: number): Pending | undefined {
    let first: Pending | undefined;
    for (const each of this.pending) {
      if (each.at <= end && (first === undefined || each.at < first.at)) first = each;
    }
    return first;
  }

  private fire(timer: Pending): void {
    if (this.end(timer)) timer.callback();
  }

  private end(timer: Pending): boolean {
    const wasPending = this.pending.delete(timer);
    if (this.pending.size === 0) this.restartIdleTimer();
    return wasPending;
  }
}

/** A turn of the real event loop. Test runners fake timers, `setImmediate` and `nextTick`, but no message channels. */
function turn(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port2.once('message', () => {
      port2.close();
      resolve();
    });
    port1.postMessage(undefined);
  });
}

/**
 * Reads a moment as users write it, into Unix ms.
 * @param option its name in the error
 * @throws ConfigurationError when it is no moment
 */
export function momentOf(option: string, given: Date | string | number): number {
  const ms = unixMsOf(given);
  if (Number.isInteger(ms) && Math.abs(ms) <= MAX_DATE_MS) return ms;
  const reader = new OptionReader({});
  reader.problem(option, given, `must be a Date, Unix ms, '2026-01-01', or '2026-01-01T12:00:00Z' with its zone`);
  throw new ConfigurationError(reader.problems);
}

function unixMsOf(given: Date | string | number): number {
  if (typeof given === 'number') return given;
  if (given instanceof Date) return given.getTime();
  return ISO.test(given) ? Date.parse(given) : Number.NaN;
}
