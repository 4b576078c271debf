import type { Clock, MonotonicClock } from '@raindrop/core';

/** Reads the real clock at every call. */
export class ExactClock implements Clock {
  now(): number {
    return Date.now();
  }

  refresh(): number {
    return Date.now();
  }
}

/** A value is read again after so many calls, so that a loop that never lets go sees time pass. */
const READS_PER_VALUE = 256;

/**
 * Reads the real clock once in a turn of the event loop, and again every 256 calls.
 *
 * A stale value costs nothing but freshness: what may be issued is bounded by the reservation, not by the clock. The
 * value is dropped by a ref'd `setImmediate`: an unref'd one was seen to leave a tick stale for 260 ms. It is set only
 * by a read, so that it keeps no idle process alive.
 */
export class TurnClock implements Clock {
  private value = 0;
  private readsLeft = 0;
  private armed = false;

  now(): number {
    return --this.readsLeft >= 0 ? this.value : this.refresh();
  }

  refresh(): number {
    this.value = Date.now();
    this.readsLeft = READS_PER_VALUE;
    if (!this.armed) {
      this.armed = true;
      setImmediate(this.drop);
    }
    return this.value;
  }

  private readonly drop = (): void => {
    this.armed = false;
    this.readsLeft = 0;
  };
}

export const monotonicClock: MonotonicClock = { now: () => performance.now() };
