import { MessageChannel } from 'node:worker_threads';
import { ConfigurationError, type Clock, type MonotonicClock, type Timer, type Timers } from '@raindrop/core';
import { OptionReader } from '@raindrop/core/internal';
import { momentOf } from './moment-of.js';

/** The clock of a testbed. It stands still until it is moved. */
export interface TestClock {
  /** Unix ms. */
  now(): number;
  /**
   * Puts the clock to a moment, at once and in either direction, as an administrator would: no time passes. Calls that
   * wait look again.
   * @param moment a Date, Unix ms, `2026-01-01` or a time with its zone, `2026-01-01T12:00:00Z`
   * @throws ConfigurationError when it is no moment
   */
  set(moment: Date | string | number): void;
  /**
   * Lets time pass. What waits for it happens in its order, and what follows from that has happened when the promise
   * resolves: await it. Several at once pass one after the other.
   * @param ms an integer, 0 or more
   * @throws ConfigurationError (at once) when it is not
   */
  advance(ms: number): Promise<void>;
}

interface Pending {
  readonly at: number;
  readonly callback: () => void;
}

/** Wall clock, monotonic clock and timers that move only when told to. */
export class ManualClock implements TestClock, Clock, Timers {
  readonly monotonic: MonotonicClock = { now: () => this.elapsedMs };
  private readonly pending = new Set<Pending>();
  private elapsedMs = 0;
  /** The wall clock minus what has elapsed. */
  private offsetMs: number;
  private lastAdvance = Promise.resolve();

  /** @param onSet called after the wall clock was put elsewhere */
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
    this.onSet();
  }

  advance(ms: number): Promise<void> {
    if (!Number.isInteger(ms) || ms < 0) {
      const reader = new OptionReader({});
      reader.problem('clock.advance', ms, 'must be milliseconds, an integer of 0 or more; clock.set() goes back');
      throw new ConfigurationError(reader.problems);
    }
    this.lastAdvance = this.lastAdvance.then(() => this.pass(ms));
    return this.lastAdvance;
  }

  /** Without a delay the event loop is given its turn, and nobody has to move the clock. */
  setTimer(callback: () => void, delayMs: number): Timer {
    const timer: Pending = { at: this.elapsedMs + delayMs, callback };
    this.pending.add(timer);
    if (delayMs <= 0) void turn().then(() => this.fire(timer));
    return { cancel: () => void this.pending.delete(timer) };
  }

  private async pass(ms: number): Promise<void> {
    const end = this.elapsedMs + ms;
    // Whoever was called just before gets as far as to its timer.
    await turn();
    for (let next = this.next(end); next !== undefined; next = this.next(end)) {
      this.elapsedMs = Math.max(this.elapsedMs, next.at);
      this.fire(next);
      await turn();
    }
    this.elapsedMs = end;
    await turn();
  }

  /** The first timer that is due at `end`; of those of one moment the oldest. */
  private next(end: number): Pending | undefined {
    let first: Pending | undefined;
    for (const each of this.pending) {
      if (each.at <= end && (first === undefined || each.at < first.at)) first = each;
    }
    return first;
  }

  private fire(timer: Pending): void {
    if (this.pending.delete(timer)) timer.callback();
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
