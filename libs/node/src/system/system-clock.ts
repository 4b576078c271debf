import type { Clock, MonotonicClock } from '@raindrop/core';
import { wallClock } from '@raindrop/core/internal';
import { hostTimers } from './host-timers.js';

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
