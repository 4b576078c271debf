import { randomBytes } from 'node:crypto';
import type { LeasePorts, Randomness, Timers } from '@raindrop/core';
import { ExactClock, monotonicClock, TurnClock } from './system-clock.js';
import { hostTimers } from './host-timers.js';

const timers: Timers = {
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
    timers,
    randomness,
    processId: () => process.pid,
  };
}
