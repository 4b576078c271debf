import { randomBytes } from 'node:crypto';
// eslint-disable-next-line no-restricted-imports -- the one place that takes them
import * as nodeTimers from 'node:timers';
// eslint-disable-next-line no-restricted-imports -- the one place that takes them
import * as promises from 'node:timers/promises';
import type { Clock, LeasePorts, MonotonicClock, Randomness, Timers } from '@raindrop/core';
import { wallClock } from '@raindrop/core/internal';

/** Taken when this file was loaded, like `wallClock` and `hostTimers`. */
export const monotonicClock: MonotonicClock = { now: performance.now.bind(performance) };

/**
 * The timers of Node, taken when this file was loaded. A test may replace the global ones by fake timers of Jest, sinon
 * or `node:test`, which stand still: then no lease would be renewed, no wait would time out, and `app.close()` would
 * hang.
 */
export const hostTimers = {
  setTimeout: nodeTimers.setTimeout,
  clearTimeout: nodeTimers.clearTimeout,
  setImmediate: nodeTimers.setImmediate,
  clearImmediate: nodeTimers.clearImmediate,
  /** Resolves after a number of ms. */
  sleep: promises.setTimeout,
  /** Resolves after a turn of the event loop. */
  turn: promises.setImmediate,
};

/** This process's timers; see {@link hostTimers}. */
export const systemTimers: Timers = {
  setTimer(callback, delayMs, kind) {
    // An immediate takes a turn of the event loop, and setTimeout(0) a millisecond. Unref'd immediates may come late.
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
  // randomUUID caches entropy: two processes that were started from one start-up snapshot drew the same tokens.
  token: () => randomBytes(16).toString('base64url'),
};

/** Reads the real clock at every call. */
export class ExactClock implements Clock {
  now(): number {
    return wallClock.now();
  }

  refresh(): number {
    return wallClock.now();
  }
}

/**
 * A loop that does not let the event loop go on sees time pass, because the value is read again after so many calls.
 */
const CALLS_PER_VALUE = 256;

/**
 * A clock that generators read once a turn of the event loop, and again every 256 calls.
 *
 * A stale value makes no ID repeat: the reservation bounds what may be issued, not the clock. The value is dropped by a
 * ref'd `setImmediate`, because an unref'd one was seen to leave a tick stale for 260 ms. Only a read sets that
 * immediate, so it keeps no idle process alive.
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

/**
 * Returns the clocks, timers and randomness of this process.
 * @param clock `turn` reads the wall clock once a turn of the event loop, `exact` at every call
 */
export function systemPorts(clock: 'turn' | 'exact'): LeasePorts {
  return {
    clock: clock === 'turn' ? new TurnClock() : new ExactClock(),
    monotonic: monotonicClock,
    timers: systemTimers,
    randomness,
    processId: () => process.pid,
  };
}
