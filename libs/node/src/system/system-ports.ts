import { randomBytes } from 'node:crypto';
// eslint-disable-next-line no-restricted-imports -- the one place that takes them
import * as nodeTimers from 'node:timers';
// eslint-disable-next-line no-restricted-imports -- the one place that takes them
import * as promises from 'node:timers/promises';
import type { Clock, LeasePorts, MonotonicClock, Randomness, Timers } from '@raindrop/core';
import { wallClock } from '@raindrop/core/internal';

/** This process's timers; see {@link hostTimers}. */
export const systemTimers: Timers = {
  setTimer(callback, delayMs, kind) {
    // A turn of the event loop: setTimeout(0) would take a millisecond. Unref'd immediates may come late.
    if (delayMs <= 0 && kind === 'foreground') {
      const immediate = hostTimers.setImmediate(callback);
      return { cancel: () => hostTimers.clearImmediate(immediate) };
    }
    const timer = hostTimers.setTimeout(callback, delayMs);
    if (kind === 'background') timer.unref();
    return { cancel: () => hostTimers.clearTimeout(timer) };
  },
};

const randomness: Randomness = {
  fraction: Math.random,
  // Not randomUUID: it caches entropy, and two processes from one start-up snapshot drew the same tokens.
  token: () => randomBytes(16).toString('base64url'),
};

/** Clocks, timers and randomness of this process. */
export function systemPorts(clock: 'turn' | 'exact'): LeasePorts {
  return {
    clock: clock === 'turn' ? new TurnClock() : new ExactClock(),
    monotonic: monotonicClock,
    timers: systemTimers,
    randomness,
    processId: () => process.pid,
  };
}

/** Reads the real clock at every call. */
export class ExactClock implements Clock {
  now(): number {
    return wallClock.now();
  }

  refresh(): number {
    return wallClock.now();
  }
}

/** A value is read again after so many calls, so that a loop that never lets go sees time pass. */
const CALLS_PER_VALUE = 256;

/**
 * Lets whoever issues IDs read the real clock once in a turn of the event loop, and again every 256 calls.
 *
 * A stale value costs nothing but freshness: what may be issued is bounded by the reservation, not by the clock. The
 * value is dropped by a ref'd `setImmediate`: an unref'd one was seen to leave a tick stale for 260 ms. It is set only
 * by a read, so that it keeps no idle process alive.
 */
export class TurnClock implements Clock {
  private readonly sharers: (() => void)[] = [];
  private armed = false;

  /** @param read the real clock, Unix ms */
  constructor(private readonly read: () => number = () => wallClock.now()) {}

  now(): number {
    return this.refresh();
  }

  refresh(): number {
    if (!this.armed) {
      this.armed = true;
      hostTimers.setImmediate(this.drop);
    }
    return this.read();
  }

  share(stale: () => void): number {
    this.sharers.push(stale);
    return CALLS_PER_VALUE;
  }

  private readonly drop = (): void => {
    this.armed = false;
    for (const stale of this.sharers) stale();
  };
}

/** Of when this was loaded, as `wallClock` and `hostTimers` are. */
export const monotonicClock: MonotonicClock = { now: performance.now.bind(performance) };

/**
 * The timers of when this was loaded. Those of Jest, sinon and `node:test` that replace them later stand still: with them
 * no lease would be renewed, no limit would end a wait, and `app.close()` would hang.
 */
export const hostTimers = {
  setTimeout: nodeTimers.setTimeout,
  clearTimeout: nodeTimers.clearTimeout,
  setImmediate: nodeTimers.setImmediate,
  clearImmediate: nodeTimers.clearImmediate,
  /** A promise for a while, ms. */
  sleep: promises.setTimeout,
  /** A promise for a turn of the event loop. */
  turn: promises.setImmediate,
};
